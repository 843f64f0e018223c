package response

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

func TestTail(t *testing.T) {
	for _, text := range []string{"a😀é漢", "", "\xf0\x9f", "\xffa\x80", "é\xe6", "\x80\x80\x80\x80\x80"} {
		for cut := range len(text) + 1 {
			var tail PartialRune
			first := tail.Join(text[:cut])
			second := tail.Join(text[cut:])
			if got := first + second + tail.Flush(); got != text || tail.Flush() != "" {
				t.Errorf("%q cut at %d: %q", text, cut, got)
			}
		}
	}
	var tail PartialRune
	for i, want := range []string{"a", "", "", "", "😀"} {
		if got := tail.Join("a😀"[i : i+1]); got != want {
			t.Errorf("byte %d: %q, want %q", i, got, want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { tail.Join("some text, Größe") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestMembers(t *testing.T) {
	x := func(f content.Format, json string) *content.Extra { return &content.Extra{Format: f, JSON: json} }
	var m Members
	for _, tt := range []struct {
		x       *content.Extra
		foreign bool
	}{
		{nil, false}, {x("f", `{"a":1,"b":null}`), false}, {x("g", `{"c":1}`), true},
		{x("f", `{"d":[ 1 ],"a":2}`), false}, {x("f", `{"e"`), false}, {x("f", `[1]`), false},
	} {
		if got := m.Add(tt.x, "f"); got != tt.foreign {
			t.Errorf("Add(%v) = %v", tt.x, got)
		}
	}
	if diff := cmp.Diff(x("f", `{"a":2,"b":null,"d":[ 1 ]}`), m.Extra("f")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if m.Get("b") != "null" || m.Take("b") != "" || m.Get("b") != "" || m.Take("d") != "[ 1 ]" || m.Take("z") != "" {
		t.Errorf("left: %v", m)
	}
	if m.Take("a") != "2" || m.Extra("f") != nil {
		t.Errorf("left: %v", m)
	}
}

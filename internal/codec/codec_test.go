package codec

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

func TestChunk(t *testing.T) {
	var c Chunk[int]
	c.Seed(make([]int, 2))
	seen := map[*int]bool{}
	for range 1000 {
		p := c.New(3)
		if *p != 0 || seen[p] {
			t.Fatal("New gave a value out twice")
		}
		*p, seen[p] = 1, true
	}
	a, b := c.List(3, 1), c.List(3, 1)
	a = append(a, 1, 2, 3, 4)
	b = append(b, 7)
	if a[3] != 4 || b[0] != 7 || cap(c.List(0, 1)) != 0 {
		t.Errorf("Take: neighbours reach each other: %v %v", a, b)
	}
	if got := c.List(5000, 1); len(got) != 0 || cap(got) < 5000 {
		t.Errorf("Take(5000): %d of %d", len(got), cap(got))
	}
	if n := testing.AllocsPerRun(10, func() {
		var c Chunk[[4]int]
		for range 1000 {
			c.New(8)
		}
	}); n > 13 {
		t.Errorf("1000 values take %v allocations", n)
	}
}

func TestPath(t *testing.T) {
	for _, tt := range []struct {
		style       Style
		whole, deep string
	}{
		{Dotted, "", "0.contents.2.parts.10.key.x.y"},
		{Bracketed, "", "[0].contents[2].parts[10][key].x.y"},
	} {
		p := Path{Style: tt.style}
		if got := p.At(); got != tt.whole {
			t.Errorf("At = %q, want %q", got, tt.whole)
		}
		if got := p.At("a", "b"); got != "a.b" {
			t.Errorf("At = %q, want a.b", got)
		}
		p.PushIndex(0)
		depth := p.Depth()
		p.Push("contents")
		p.PushIndex(2)
		p.Push("parts")
		p.PushIndex(10)
		p.PushKey("key")
		p.Push("gone")
		p.Pop()
		if got := p.At("x", "y"); got != tt.deep {
			t.Errorf("At = %q, want %q", got, tt.deep)
		}
		for i := range 20 { // more than fit in
			p.PushIndex(i)
		}
		p.Truncate(depth)
		if p.Depth() != 1 {
			t.Errorf("Depth = %d", p.Depth())
		}
	}
}

func TestClip(t *testing.T) {
	if got := Clip("short"); got != "short" {
		t.Errorf("Clip = %q", got)
	}
	if got := Clip(strings.Repeat("ö", 100)); got != strings.Repeat("ö", 32)+"…" {
		t.Errorf("Clip = %q", got)
	}
	for text, want := range map[string]string{
		"a/b?c=d":                          "a/b?c=d",
		"ftp://u:hunter2@h.example/a":      "ftp://h.example/a",
		"gs://b/o?sig=hunter2":             "gs://b/o",
		"see https://h.example/a#hunter2!": "see https://h.example/a",
		"//" + strings.Repeat("u", 100) + ":hunter2@h.example/": "//h.example/",
	} {
		if got := Clip(text); got != want {
			t.Errorf("Clip(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestExtras(t *testing.T) {
	var x Extras
	b := AppendMember(x.Begin(), "a\n", `[1]`)
	b = AppendMember(b, "b", `null`)
	if got := x.End(b); got != `{"a\n":[1],"b":null}` {
		t.Errorf("End = %s", got)
	}
	if got := x.End(x.Begin()); got != "" {
		t.Errorf("End of nothing = %q", got)
	}
	if diff := cmp.Diff(&content.Extra{Format: "f", JSON: "{}"}, x.New("f", "{}")); diff != "" {
		t.Error(diff)
	}
}

func TestAppend(t *testing.T) {
	var w jsonwire.Writer
	w.BeginArray()
	long := strings.Repeat("x", 10_000)
	w.String(long)
	w.EndArray()
	got, err := Append([]byte("head "), &w)
	if err != nil || string(got) != `head ["`+long+`"]` {
		t.Errorf("Append: %v, %d bytes", err, len(got))
	}
}

func TestViolationsError(t *testing.T) {
	if err := violationsError(nil, 0); err != nil {
		t.Error(err)
	}
	list := slices.Repeat([]*content.Violation{{Code: content.CodeType, Path: "p", Text: "t"}}, content.MaxViolations)
	got, more := content.Violations(violationsError(list, 7))
	if diff := cmp.Diff(list, got); diff != "" || more != 7 {
		t.Errorf("more %d (-want +got):\n%s", more, diff)
	}
}

package envelope

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

func TestSeal(t *testing.T) {
	for _, data := range []string{"", "EqQBCk.QYBB+/=", "line\nbreak", strings.Repeat("x", 70_000), "日本", "pw1.a.b.c"} {
		for _, k := range []Kind{Own, Next, Last, NextCall, LastCall, Alone, Thoughts} {
			want := Envelope{"messages", k, data}
			text, ok := Seal("messages", k, data)
			if !ok || !Sealed(text) {
				t.Fatalf("Seal(%.20q): %.40q %v", data, text, ok)
			}
			if got, ok := Open(text); !ok || got != want {
				t.Errorf("opened %.60q: %v %v", text, got, ok)
			}
			b64, _ := SealBase64("messages", k, data)
			if _, err := base64.StdEncoding.DecodeString(b64); err != nil || !SealedBase64(b64) {
				t.Errorf("%.40q is not what Go clients take: %v", b64, err)
			}
			url := strings.NewReplacer("+", "-", "/", "_", "=", "").Replace(b64)
			for _, form := range []string{b64, strings.TrimRight(b64, "="), url} {
				if got, ok := OpenBase64(form); !ok || got != want {
					t.Errorf("opened %.60q: %v %v", form, got, ok)
				}
			}
		}
	}
}

func TestSealRefuses(t *testing.T) {
	for _, f := range []content.Format{"", "a.b", "a b"} {
		if text, ok := Seal(f, Own, "x"); ok {
			t.Errorf("the format %q was sealed as %q", f, text)
		}
	}
	if _, ok := SealBase64("messages", Own, strings.Repeat("x", MaxSize+1)); ok {
		t.Error("there is no limit")
	}
}

// TestOpenDamaged checks that an envelope with any one byte changed is none.
func TestOpenDamaged(t *testing.T) {
	text, _ := Seal("messages", Own, "signature")
	for i := range text {
		b := []byte(text)
		b[i] ^= 1
		if e, ok := Open(string(b)); ok {
			t.Errorf("byte %d changed: %q opened as %v", i, b, e)
		}
		if e, ok := Open(text[:i]); ok {
			t.Errorf("%q opened as %v", text[:i], e)
		}
	}
	for _, s := range []string{"", "pw1.", "pw1..", "pw1...", "EqQB", "cHcxLg==", "cHcxL"} {
		if e, ok := Open(s); ok {
			t.Errorf("%q opened as %v", s, e)
		}
		if e, ok := OpenBase64(s); ok {
			t.Errorf("%q opened as %v", s, e)
		}
	}
}

func TestThoughts(t *testing.T) {
	const f = content.Format("messages")
	want := []Thought{
		{&content.Thinking{Text: "first \"quoted\"\n", Signature: content.Signature{Format: f, Data: "c2ln"}}, 12, 3, true, false},
		{&content.Thinking{Redacted: content.Signature{Format: f, Data: "b3BhcXVl"}}, 0, 0, false, false},
		{&content.Thinking{Signature: content.Signature{Format: f, Data: "{}"}}, 7, 0, false, true},
		{&content.Thinking{Signature: content.Signature{Format: f, Data: "x"},
			Extra: &content.Extra{Format: f, JSON: `{"z":1,"a":[2]}`}}, 0, 1, false, false},
	}
	got, ok := Split(f, Join(want))
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("%v (-want +got):\n%s", ok, diff)
	}
	for _, s := range []string{"", "{}", "[]", "[1]", "sig", `[{"text":"a"}`} {
		if got, ok := Split(f, s); ok {
			t.Errorf("%q became %v", s, got)
		}
	}
}

func FuzzOpen(f *testing.F) {
	for _, k := range []Kind{Own, Thoughts} {
		s, _ := Seal("messages", k, `[{"text":"a","signature":"b"}]`)
		b, _ := SealBase64("messages", k, "x")
		f.Add(s)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if e, ok := Open(s); ok {
			if again, ok := Seal(e.Format, e.Kind, e.Data); !ok || again != s {
				t.Errorf("%q opened as %v, which is sealed as %q", s, e, again)
			}
			Split(e.Format, e.Data)
		}
		OpenBase64(s)
	})
}

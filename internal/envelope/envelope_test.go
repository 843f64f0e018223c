package envelope

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
)

func TestEncode(t *testing.T) {
	for _, data := range []string{"", "EqQBCk.QYBB+/=", "line\nbreak", strings.Repeat("x", 70_000), "日本", "pw1.a.b.c"} {
		for _, k := range []Kind{KindPart, KindThinking, KindCall} {
			want := Envelope{"messages", k, data}
			text, ok := Encode("messages", k, data)
			if !ok || !IsEnvelope(text) {
				t.Fatalf("Encode(%.20q): %.40q %v", data, text, ok)
			}
			if got, ok := Decode(text); !ok || got != want {
				t.Errorf("Decode(%.60q): %v %v", text, got, ok)
			}
			b64, _ := EncodeBase64("messages", k, data)
			if _, err := base64.StdEncoding.DecodeString(b64); err != nil || !IsEnvelopeBase64(b64) {
				t.Errorf("%.40q: %v", b64, err)
			}
			url := strings.NewReplacer("+", "-", "/", "_", "=", "").Replace(b64)
			for _, form := range []string{b64, strings.TrimRight(b64, "="), url} {
				if got, ok := DecodeBase64(form); !ok || got != want {
					t.Errorf("DecodeBase64(%.60q): %v %v", form, got, ok)
				}
			}
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	for _, f := range []content.Format{"", "a.b", "a b"} {
		if text, ok := Encode(f, KindPart, "x"); ok {
			t.Errorf("the format %q was encoded as %q", f, text)
		}
	}
	if _, ok := EncodeBase64("messages", KindPart, strings.Repeat("x", MaxSize+1)); ok {
		t.Error("data beyond MaxSize was encoded")
	}
}

// TestDecodeDamaged checks that Decode refuses an envelope with any byte changed.
func TestDecodeDamaged(t *testing.T) {
	text, _ := Encode("messages", KindPart, "signature")
	for i := range text {
		b := []byte(text)
		b[i] ^= 1
		if e, ok := Decode(string(b)); ok {
			t.Errorf("byte %d changed: %q decoded as %v", i, b, e)
		}
		if e, ok := Decode(text[:i]); ok {
			t.Errorf("%q decoded as %v", text[:i], e)
		}
	}
	for _, s := range []string{"", "pw1.", "pw1..", "pw1...", "EqQB", "cHcxLg==", "cHcxL"} {
		if e, ok := Decode(s); ok {
			t.Errorf("%q decoded as %v", s, e)
		}
		if e, ok := DecodeBase64(s); ok {
			t.Errorf("%q decoded as %v", s, e)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, k := range []Kind{KindPart, KindThinking} {
		s, _ := Encode("messages", k, `[{"text":"a","signature":"b"}]`)
		b, _ := EncodeBase64("messages", k, "x")
		f.Add(s)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if e, ok := Decode(s); ok {
			if again, ok := Encode(e.Format, e.Kind, e.Data); !ok || again != s {
				t.Errorf("%q decoded as %v, which was encoded as %q", s, e, again)
			}
			DecodeThinking(e.Format, e.Data)
		}
		DecodeBase64(s)
	})
}

package partfield

import (
	"reflect"
	"testing"

	"github.com/polywire/polywire/content"
)

// parts and sources have one value of each kind. Files and results have other values
// too, so that a copy that lacks a field differs.
var (
	parts = []content.Part{&content.Text{Text: "a"}, &content.Image{}, &content.Document{Title: "a"}, &content.Media{}, &content.Thinking{Text: "a"},
		&content.ToolUse{ID: "a"}, &content.ToolResult{ID: "a"}, &content.SearchResult{Title: "a"}, &content.ServerToolUse{ID: "a"},
		&content.ServerToolResult{ID: "a"}, &content.Unknown{Raw: "a"}}
	sources = []content.Source{&content.Base64{Data: "a"}, &content.URL{URL: "a"}, &content.File{ID: "a"}, &content.PlainText{Text: "a"}, &content.Parts{}}
)

// An unknownPart and an unknownSource are of kinds that this package does not know.
type (
	unknownPart   struct{ content.Part }
	unknownSource struct{ content.Source }
)

// TestOf checks that Of and OfSource point to every field that has the name and the type.
func TestOf(t *testing.T) {
	check := func(kind, got any) {
		from, to := reflect.ValueOf(kind).Elem(), reflect.ValueOf(got)
		for i := range to.NumField() {
			name, pointer := to.Type().Field(i).Name, to.Field(i)
			field := from.FieldByName(name)
			switch has := field.IsValid() && field.Addr().Type() == pointer.Type(); {
			case !has && !pointer.IsNil():
				t.Errorf("%T has no %s", kind, name)
			case has && pointer.Pointer() != field.Addr().Pointer():
				t.Errorf("%T: %s is another field", kind, name)
			}
		}
	}
	for _, p := range parts {
		check(p, Of(p))
	}
	for _, s := range sources {
		check(s, OfSource(s))
	}
}

func TestCopy(t *testing.T) {
	for _, p := range parts {
		if c := Copy(p); c == p || !reflect.DeepEqual(c, p) {
			t.Errorf("Copy of a %T returned %v", p, c)
		}
	}
	for _, s := range sources {
		if c := CopySource(s); c == s || !reflect.DeepEqual(c, s) {
			t.Errorf("CopySource of a %T returned %v", s, c)
		}
	}
}

func TestWithoutFields(t *testing.T) {
	for _, p := range []content.Part{nil, (*content.Text)(nil), (*content.Unknown)(nil), unknownPart{}, &content.Unknown{}} {
		if Of(p) != (Part{}) || SourceOf(p) != nil || SignatureOf(p) != (content.Signature{}) || CacheOf(p) != nil || ExtraOf(p) != nil {
			t.Errorf("%T has fields", p)
		}
		if WithSignature(p, content.Signature{Data: "a"}) != p {
			t.Errorf("WithSignature copied a %T", p)
		}
	}
	for _, s := range []content.Source{nil, (*content.URL)(nil), (*content.Parts)(nil), unknownSource{}} {
		if OfSource(s) != (Source{}) || MediaTypeOf(s) != "" || SourceExtra(s) != nil || CopySource(s) != s {
			t.Errorf("%T has fields", s)
		}
	}
}

func TestWith(t *testing.T) {
	sig, link := content.Signature{Format: "messages", Data: "a"}, &content.URL{URL: "a"}
	p := &content.Image{}
	if got := SignatureOf(WithSignature(p, sig)); got != sig {
		t.Errorf("WithSignature set %v", got)
	}
	if got := SourceOf(WithSource(p, link)); got != link {
		t.Errorf("WithSource set %v", got)
	}
	if *p != (content.Image{}) {
		t.Errorf("the part was changed to %v", p)
	}
}

func TestAllocs(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		for _, p := range parts {
			_, _, _, _ = SourceOf(p), SignatureOf(p), CacheOf(p), ExtraOf(p)
		}
		for _, s := range sources {
			_, _ = MediaTypeOf(s), SourceExtra(s)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

package partfield_test

import (
	"reflect"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/internal/test/formattest"
)

// An unknownPart and an unknownSource are of kinds that this package does not know.
type (
	unknownPart   struct{ content.Part }
	unknownSource struct{ content.Source }
)

// TestFields checks that Of and OfSource point to each field of each kind once, and that the
// kinds differ.
func TestFields(t *testing.T) {
	kinds := map[uint64]any{uint64(partfield.Nil): nil, uint64(partfield.Other): nil}
	check := func(kind, got any) {
		at := map[any]bool{}
		from, to := reflect.ValueOf(kind).Elem(), reflect.ValueOf(got)
		for i := range to.NumField() {
			switch x := to.Field(i).Interface().(type) {
			case partfield.Kind:
				if other, again := kinds[uint64(x)]; again {
					t.Errorf("%T has the kind of %T", kind, other)
				}
				kinds[uint64(x)] = kind
			case [5]partfield.String:
				for i, s := range x {
					if s.At == nil {
						continue
					}
					at[s.At] = true
					if i > 0 && (x[i-1].At == nil || s.Role == partfield.Written || s.Role == partfield.Argument) {
						t.Errorf("%T: String %d is in the wrong place", kind, i)
					}
				}
			default:
				if !to.Field(i).IsNil() {
					at[x] = true
				}
			}
		}
		for i := range from.NumField() {
			field := from.Field(i).Addr()
			if field.Elem().Kind() == reflect.String {
				field = field.Convert(reflect.TypeFor[*string]())
			}
			if !at[field.Interface()] {
				t.Errorf("%T: %s is not visited", kind, from.Type().Field(i).Name)
			}
		}
		if len(at) != from.NumField() {
			t.Errorf("%T has %d fields, want %d", kind, len(at), from.NumField())
		}
	}
	for _, p := range formattest.PartKinds {
		check(p, partfield.Of(p))
	}
	for _, s := range formattest.SourceKinds {
		check(s, partfield.OfSource(s))
	}
}

// TestNames checks that each kind has its own name, and a name for each of its fields that needs one.
func TestNames(t *testing.T) {
	parts, sources := map[string]bool{}, map[string]bool{}
	for i, n := range partfield.PartNames {
		if n.Kind == "" {
			continue
		}
		f := partfield.Of(n.Zero)
		if f.Kind != partfield.Kind(i) || parts[n.Kind] {
			t.Errorf("%s is not the name of one kind", n.Kind)
		}
		parts[n.Kind] = true
		for i, s := range f.Strings {
			if (s.At != nil) != (n.Strings[i] != "") {
				t.Errorf("%s: String %d has the name %q", n.Kind, i, n.Strings[i])
			}
		}
		if (f.On != nil) != (n.On != "") {
			t.Errorf("%s: the switch has the name %q", n.Kind, n.On)
		}
	}
	for i, n := range partfield.SourceNames {
		if n.Kind == "" {
			continue
		}
		f := partfield.OfSource(n.Zero)
		if f.Kind != partfield.Kind(i) || sources[n.Kind] || (f.Data != nil) != (n.Strings[0] != "") {
			t.Errorf("%s is not the name of one kind, with a name of its data", n.Kind)
		}
		sources[n.Kind] = true
	}
}

func TestCopy(t *testing.T) {
	for _, p := range formattest.PartKinds {
		if x := partfield.ExtraOf(p); x != nil {
			t.Fatal(x)
		}
		c, f := partfield.Copy(p)
		if !reflect.DeepEqual(c, p) || f != partfield.Of(c) || f == partfield.Of(p) {
			t.Errorf("Copy of a %T returned %v", p, c)
		}
	}
	for _, s := range formattest.SourceKinds {
		c, f := partfield.CopySource(s)
		if !reflect.DeepEqual(c, s) || f != partfield.OfSource(c) || f == partfield.OfSource(s) {
			t.Errorf("CopySource of a %T returned %v", s, c)
		}
	}
}

func TestWithoutFields(t *testing.T) {
	for _, p := range []content.Part{nil, (*content.Text)(nil), (*content.Unknown)(nil), unknownPart{}, &content.Unknown{}} {
		f := partfield.Of(p)
		f.Kind, f.Strings = partfield.Nil, [5]partfield.String{}
		if f != (partfield.Part{}) || partfield.SourceOf(p) != nil || partfield.SignatureOf(p) != (content.Signature{}) || partfield.CacheOf(p) != nil || partfield.ExtraOf(p) != nil {
			t.Errorf("%T has fields", p)
		}
		if partfield.WithSignature(p, content.Signature{Data: "a"}) != p {
			t.Errorf("WithSignature copied a %T", p)
		}
	}
	for _, s := range []content.Source{nil, (*content.URL)(nil), (*content.Parts)(nil), unknownSource{}} {
		f := partfield.OfSource(s)
		f.Kind = partfield.Nil
		if c, _ := partfield.CopySource(s); f != (partfield.Source{}) || partfield.MediaTypeOf(s) != "" || partfield.SourceExtra(s) != nil || c != s {
			t.Errorf("%T has fields", s)
		}
	}
}

func TestKindOfNil(t *testing.T) {
	for _, p := range formattest.PartKinds {
		p := reflect.Zero(reflect.TypeOf(p)).Interface().(content.Part)
		if partfield.Of(p) != (partfield.Part{}) || !content.IsNil(p) {
			t.Errorf("a nil %T is not nil", p)
		}
	}
	for _, s := range formattest.SourceKinds {
		s := reflect.Zero(reflect.TypeOf(s)).Interface().(content.Source)
		if partfield.OfSource(s) != (partfield.Source{}) {
			t.Errorf("a nil %T is not nil", s)
		}
	}
	if partfield.Of(unknownPart{}).Kind != partfield.Other || partfield.OfSource(unknownSource{}).Kind != partfield.Other {
		t.Error("unknown kinds are not of the kind Other")
	}
}

func TestWith(t *testing.T) {
	sig, link := content.Signature{Format: "messages", Data: "a"}, &content.URL{URL: "a"}
	p := &content.Image{}
	if got := partfield.SignatureOf(partfield.WithSignature(p, sig)); got != sig {
		t.Errorf("WithSignature set %v", got)
	}
	if got := partfield.SourceOf(partfield.WithSource(p, link)); got != link {
		t.Errorf("WithSource set %v", got)
	}
	if *p != (content.Image{}) {
		t.Errorf("the part was changed to %v", p)
	}
}

func TestAllocs(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		for _, p := range formattest.PartKinds {
			f := partfield.Of(p)
			_, _, _, _ = partfield.SignatureOf(p), f.Written(), f.Argument(), partfield.ExtraOf(p)
		}
		for _, s := range formattest.SourceKinds {
			_, _ = partfield.MediaTypeOf(s), partfield.SourceExtra(s)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// TestMap checks that lists are copied only if an element changes, and that nil parts stay.
func TestMap(t *testing.T) {
	a, b, c := &content.Text{Text: "a"}, &content.Text{Text: "b"}, &content.Text{Text: "c"}
	list := []content.Part{a, nil, b}
	same := func(_ int, p content.Part) content.Part { return p }
	if to, changed := partfield.Map(list, same); changed || &to[0] != &list[0] {
		t.Errorf("got %v, %v for a function that changes nothing", to, changed)
	}
	change := func(i int, p content.Part) content.Part {
		switch i {
		case 0:
			return nil
		case 2:
			return c
		}
		return p
	}
	to, changed := partfield.Map(list, change)
	if !changed || !reflect.DeepEqual(to, []content.Part{nil, c}) || list[0] != a || list[2] != b {
		t.Errorf("got %v, %v; the list is now %v", to, changed, list)
	}
	turns := []content.Turn{{Parts: list[2:]}, {Parts: list}}
	changedTurns, changed := partfield.MapTurns(turns, func(i int, parts []content.Part) ([]content.Part, bool) {
		if i == 0 {
			return partfield.Map(parts, same)
		}
		return partfield.Map(parts, change)
	})
	if !changed || len(turns[1].Parts) != 3 || len(changedTurns[1].Parts) != 2 || &changedTurns[0].Parts[0] != &list[2] {
		t.Errorf("got %v, %v", changedTurns, changed)
	}
	if to, changed := partfield.MapTurns(turns[:1], func(_ int, parts []content.Part) ([]content.Part, bool) { return partfield.Map(parts, same) }); changed || &to[0] != &turns[0] {
		t.Errorf("got %v, %v for turns without a change", to, changed)
	}
}

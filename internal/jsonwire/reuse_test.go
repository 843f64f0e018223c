package jsonwire

import (
	"testing"

	"github.com/polywire/polywire/internal/test/race"
)

func TestReuse(t *testing.T) {
	var d Doc
	defer d.Close()
	var texts []string
	for _, src := range []string{`{"a":"x\n1"}`, `[`, `{"a":"x\n2","b":[1,2,3]}`, `"\ud800"`, `{"a":"x\n3"}`} {
		err := d.Parse(src, Limits{})
		want := Valid(src, Limits{})
		if (err == nil) != (want == nil) || err != nil && err.Error() != want.Error() {
			t.Errorf("Parse(%q): %v, want %v", src, err, want)
		}
		if err != nil && d.Root().Exists() {
			t.Errorf("Parse(%q): the Doc is not closed", src)
		}
		if err == nil {
			texts = append(texts, d.Root().Get("a").Str())
		}
	}
	if len(texts) != 3 || texts[0] != "x\n1" || texts[1] != "x\n2" || texts[2] != "x\n3" {
		t.Errorf("texts: %q", texts)
	}
	if err := d.Parse(`"\ud800"`, Limits{AllowInvalidUTF8: true}); err != nil || d.Replacements() != 1 {
		t.Errorf("lenient: %v, %d replaced", err, d.Replacements())
	}
	if err := d.Parse(`1`, Limits{AllowInvalidUTF8: true}); err != nil || d.Replacements() != 0 {
		t.Errorf("%d replaced are left over (%v)", d.Replacements(), err)
	}
	if race.Enabled {
		return // pools drop things at random under the race detector
	}
	if n := allocs(func() {
		if err := d.Parse(`{"type":"delta","text":"one"}`, Limits{}); err != nil || !d.Root().Get("text").Is("one") {
			t.Error(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

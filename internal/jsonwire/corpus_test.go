package jsonwire

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/outside"
)

// stricter lists documents that the grammar accepts and this package refuses.
var stricter = map[string]Reason{
	"y_object_duplicated_key.json":           DuplicateName,
	"y_object_duplicated_key_and_value.json": DuplicateName,
}

// decisions lists documents that the grammar leaves open; 0 means accepted. Numbers
// of any size are accepted, since they stay text.
var decisions = map[string]Reason{
	"i_number_double_huge_neg_exp.json":                   0,
	"i_number_huge_exp.json":                              0,
	"i_number_neg_int_huge_exp.json":                      0,
	"i_number_pos_double_huge_exp.json":                   0,
	"i_number_real_neg_overflow.json":                     0,
	"i_number_real_pos_overflow.json":                     0,
	"i_number_real_underflow.json":                        0,
	"i_number_too_big_neg_int.json":                       0,
	"i_number_too_big_pos_int.json":                       0,
	"i_number_very_big_negative_int.json":                 0,
	"i_object_key_lone_2nd_surrogate.json":                LoneSurrogate,
	"i_string_1st_surrogate_but_2nd_missing.json":         LoneSurrogate,
	"i_string_1st_valid_surrogate_2nd_invalid.json":       LoneSurrogate,
	"i_string_UTF-16LE_with_BOM.json":                     ByteOrderMark,
	"i_string_UTF-8_invalid_sequence.json":                InvalidUTF8,
	"i_string_UTF8_surrogate_U+D800.json":                 InvalidUTF8,
	"i_string_incomplete_surrogate_and_escape_valid.json": LoneSurrogate,
	"i_string_incomplete_surrogate_pair.json":             LoneSurrogate,
	"i_string_incomplete_surrogates_escape_valid.json":    LoneSurrogate,
	"i_string_invalid_lonely_surrogate.json":              LoneSurrogate,
	"i_string_invalid_surrogate.json":                     LoneSurrogate,
	"i_string_invalid_utf-8.json":                         InvalidUTF8,
	"i_string_inverted_surrogates_U+1D11E.json":           LoneSurrogate,
	"i_string_iso_latin_1.json":                           InvalidUTF8,
	"i_string_lone_second_surrogate.json":                 LoneSurrogate,
	"i_string_lone_utf8_continuation_byte.json":           InvalidUTF8,
	"i_string_not_in_unicode_range.json":                  InvalidUTF8,
	"i_string_overlong_sequence_2_bytes.json":             InvalidUTF8,
	"i_string_overlong_sequence_6_bytes.json":             InvalidUTF8,
	"i_string_overlong_sequence_6_bytes_null.json":        InvalidUTF8,
	"i_string_truncated-utf-8.json":                       InvalidUTF8,
	"i_string_utf16BE_no_BOM.json":                        Syntax,
	"i_string_utf16LE_no_BOM.json":                        Syntax,
	"i_structure_500_nested_arrays.json":                  TooDeep,
	"i_structure_UTF-8_BOM_empty_object.json":             ByteOrderMark,
}

// corpusFiles returns the documents in a folder of JSONTestSuite, by file name.
func corpusFiles(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	for _, p := range outside.Files(t, outside.JSONTestSuite, folder+"/*.json") {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(p)] = string(b)
	}
	return files
}

func TestCorpus(t *testing.T) {
	for name, doc := range corpusFiles(t, "test_parsing") {
		want, fixed := decisions[name]
		switch name[0] {
		case 'y':
			want, fixed = stricter[name], true
		case 'i':
			if !fixed {
				t.Errorf("%s: nothing is decided about it", name)
			}
		}
		embedded := `{"x":` + doc + `}`
		for _, src := range []string{doc, embedded} {
			e := refusal(t, src, Limits{})
			var got Reason
			if e != nil {
				got = e.Reason
			}
			switch {
			case name[0] == 'n' && e == nil:
				t.Errorf("%s: accepted %.80q", name, src)
			case name[0] == 'n':
			case src == embedded && want == ByteOrderMark:
				if e == nil {
					t.Errorf("%s: accepted %.80q", name, src)
				}
			case got != want:
				t.Errorf("%s: %v for %.80q, want %v", name, e, src, want)
			}
			if e == nil {
				if !json.Valid([]byte(src)) {
					t.Errorf("%s: encoding/json refuses %.80q", name, src)
				}
				sameAsStandard(t, src, src, Limits{})
			}
			// AllowInvalidUTF8 accepts nothing else.
			d, err := Parse(src, Limits{AllowInvalidUTF8: true})
			if err == nil {
				if got != 0 && got != InvalidUTF8 && got != LoneSurrogate || (d.Replacements() > 0) != (got != 0) {
					t.Errorf("%s: lenient reader: %d replaced in %.80q", name, d.Replacements(), src)
				}
				d.Close()
				sameAsStandard(t, src, src, Limits{AllowInvalidUTF8: true})
			} else if got == 0 || strings.HasPrefix(name, "y") && stricter[name] == 0 {
				t.Errorf("%s: lenient reader: %v for %.80q", name, err, src)
			}
		}
	}
}

func TestCorpusTransform(t *testing.T) {
	for name, doc := range corpusFiles(t, "test_transform") {
		e := refusal(t, doc, Limits{})
		var want Reason
		switch {
		case strings.HasPrefix(name, "object_same_key"):
			want = DuplicateName
		case strings.Contains(name, "invalid_codepoint"):
			want = LoneSurrogate
			if !strings.Contains(name, "escaped") {
				want = InvalidUTF8
			}
		}
		switch {
		case want == 0 && e == nil:
			sameAsStandard(t, doc, doc, Limits{})
		case want == 0 || e == nil || e.Reason != want:
			t.Errorf("%s: %v, want %v", name, e, want)
		}
	}
}

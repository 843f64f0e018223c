package recorded

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// minContent is the minimum length, in bytes, of a string that is treated as
// content of the user rather than part of the format.
const minContent = 13

// nothingSilent checks that each string of the user's content in a request is
// in its translation, or that a loss is reported at its path or above it.
func nothingSilent(source any, got *translation) error {
	reported := got.reported()
	for _, l := range got.losses {
		if slices.Contains(slices.Collect(l.Places()), "choice.names") {
			reported = append(reported, ".tools") // the others are left out
		}
	}
	sent := newHaystack(parseJSON(got.body))
	var missing []string
	walkStrings(source, "", func(path, s string) {
		if len(s) >= minContent && !formatWords[plainName(path[strings.LastIndexByte(path, '.')+1:])] &&
			!sent.has(s) && !covered(reported, path) {
			missing = append(missing, fmt.Sprintf("%s %q", path, clip(s, 60)))
		}
	})
	if missing == nil {
		return nil
	}
	return fmt.Errorf("neither sent nor reported: %s\nlosses: %v", strings.Join(missing[:min(5, len(missing))], "; "), got.losses)
}

// formatWords are members, in plain names, whose strings belong to the format
// or are replaced on purpose: the model, and ids that pair results with calls,
// which check 5 compares.
var formatWords = map[string]bool{
	"model": true, "tooluseid": true, "mimetype": true, "mediatype": true, "responsemimetype": true, "servicetier": true,
}

// walkStrings calls f for every string of a document with its path: .name and [0].
func walkStrings(v any, path string, f func(path, s string)) {
	switch v := v.(type) {
	case string:
		f(path, v)
	case object:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			walkStrings(v[name], path+"."+name, f)
		}
	case []any:
		for i, x := range v {
			walkStrings(x, path+"["+strconv.Itoa(i)+"]", f)
		}
	}
}

// A haystack holds all strings of a document, names of members included, and
// those of the JSON documents that are strings in it.
type haystack struct{ text, base64 string }

func newHaystack(v any) *haystack {
	var b strings.Builder
	var add func(v any)
	add = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v)
			b.WriteByte(0)
			if strings.HasPrefix(v, "{") || strings.HasPrefix(v, "[") {
				if inner, err := decodeJSON(v); err == nil {
					add(inner)
				}
			} else if text, err := base64.StdEncoding.DecodeString(v); err == nil && utf8.Valid(text) {
				b.Write(text)
				b.WriteByte(0)
			}
		case object:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				b.WriteString(name)
				b.WriteByte(0)
				add(v[name])
			}
		case []any:
			for _, x := range v {
				add(x)
			}
		}
	}
	add(v)
	return &haystack{b.String(), plainBase64.Replace(b.String())}
}

// plainBase64 writes base64 of both alphabets in one way.
var plainBase64 = strings.NewReplacer("-", "+", "_", "/", "=", "")

// has reports whether a string is in the document: as it is, without blanks
// around it, in base64 of another alphabet, or decoded, if it is the base64 of a text.
func (h *haystack) has(s string) bool {
	if strings.Contains(h.text, strings.TrimSpace(s)) {
		return true
	}
	plain := plainBase64.Replace(s)
	if decoded, err := base64.RawStdEncoding.DecodeString(plain); err == nil {
		return strings.Contains(h.base64, plain) ||
			utf8.Valid(decoded) && strings.Contains(h.text, strings.TrimSpace(string(decoded)))
	}
	return false
}

// plainPath writes a path of either format in one way: messages[0].content[1].
func plainPath(path string) string {
	var b strings.Builder
	for _, step := range pathStep.FindAllString(path, -1) {
		if _, err := strconv.Atoi(step); err == nil {
			b.WriteString("[" + step + "]")
		} else {
			b.WriteString("." + plainName(step))
		}
	}
	return b.String()
}

// covered reports whether a loss was reported at a path or above it.
func covered(reported []string, path string) bool {
	path = plainPath(path)
	for _, r := range reported {
		if rest, ok := strings.CutPrefix(path, r); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

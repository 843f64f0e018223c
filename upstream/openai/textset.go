package openai

import "slices"

// fewTexts are compared one by one faster than a map finds them.
const fewTexts = 16

// A textSet is a set of texts, which may be many and long.
type textSet struct {
	list []string
	set  map[string]struct{} // of the list, made when a long one is searched
}

func (t *textSet) add(s string) {
	t.list = append(t.list, s)
	if t.set != nil {
		t.set[s] = struct{}{}
	}
}

func (t *textSet) has(s string) bool {
	if len(t.list) <= fewTexts {
		return slices.Contains(t.list, s)
	}
	if t.set == nil {
		t.set = make(map[string]struct{}, len(t.list))
		for _, known := range t.list {
			t.set[known] = struct{}{}
		}
	}
	_, ok := t.set[s]
	return ok
}

func (t *textSet) reset() { t.list, t.set = t.list[:0], nil }

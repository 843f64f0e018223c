package adapter

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// OutputLimits maps models to their maximum output tokens; 0 means no limit. A key
// is a model name in lower case, or a prefix of names that ends before a "-", ".",
// ":" or "@".
type OutputLimits map[string]int64

// NewOutputLimits returns a copy of a host's table in lower case, and the problems
// in it.
func NewOutputLimits(table map[string]int64) (OutputLimits, []string) {
	limits := make(OutputLimits, len(table))
	var problems []string
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if table[name] < 0 {
			problems = append(problems, fmt.Sprintf("OutputLimits[%q]: is negative", name))
		}
		limits[strings.ToLower(name)] = table[name]
	}
	return limits, problems
}

// Lookup returns the limit of the longest key that matches model, with or without
// the part up to the last slash. ok is false if none matches.
func (l OutputLimits) Lookup(model string) (tokens int64, ok bool) {
	model = strings.ToLower(model)
	last := model[strings.LastIndexByte(model, '/')+1:]
	longest := -1
	for name, n := range l {
		if len(name) > longest && (hasModelPrefix(model, name) || hasModelPrefix(last, name)) {
			longest, tokens = len(name), n
		}
	}
	return tokens, longest >= 0
}

func hasModelPrefix(model, name string) bool {
	rest, ok := strings.CutPrefix(model, name)
	return ok && (rest == "" || strings.IndexByte("-.:@", rest[0]) >= 0)
}

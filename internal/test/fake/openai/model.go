package openai

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A family describes what a model accepts, openai.md §2.2. An unknown name
// accepts everything.
type family struct {
	name, variant string
	version       float64 // of gpt; 0 for other models
	o             bool    // one of the o series
}

var gptName = regexp.MustCompile(`^gpt-(\d(?:\.\d)?)(o?)(?:-(.*))?$`)

func parseFamily(name string) family {
	f := family{name: name}
	if m := gptName.FindStringSubmatch(name); m != nil {
		f.version, _ = strconv.ParseFloat(m[1], 64)
		f.variant = m[3]
		if strings.HasSuffix(name, "-chat-latest") {
			f.version = 4
		}
		return f
	}
	f.o = regexp.MustCompile(`^o[134](-|$)`).MatchString(name)
	return f
}

func (f family) known() bool { return f.version > 0 || f.o }

// reasons reports whether the model is a reasoning model.
func (f family) reasons() bool { return f.o || f.version >= 5 }

func (f family) is(version float64, variants ...string) bool {
	return f.version == version && (len(variants) == 0 || slices.Contains(variants, f.variant))
}

// efforts returns the efforts that the model accepts, nil for any; the first is
// the default.
func (f family) efforts(chat bool) []string {
	none := []string{"none", "low", "medium", "high"}
	high := []string{"medium", "low", "high", "xhigh"}
	switch {
	case !f.known():
		return nil
	case f.o:
		return []string{"medium", "low", "high"}
	case f.version < 5:
		return []string{""}
	case f.is(5, "pro"):
		return []string{"high"}
	case f.is(5):
		return []string{"medium", "minimal", "low", "high"}
	case f.is(5.1):
		return none
	case f.version < 5.6:
		return append(none, "xhigh")
	case f.is(5.6):
		return []string{"medium", "none", "low", "high", "xhigh", "max"}
	case f.is(6, "astra"), f.is(6.1, "sol"), f.is(6.2):
		if !chat || f.is(6, "astra") {
			high = append(high, "max")
		}
		return high
	}
	return append([]string{"medium", "none"}, "low", "high", "xhigh", "max")
}

// chatTools returns the effort with which Chat accepts tools: "" any, "none"
// only none or a missing one, "explicit" only an explicit none, "never".
func (f family) chatTools() string {
	switch {
	case f.is(6, "astra"), f.is(6.1, "sol"), f.is(6.2):
		return "never"
	case f.is(5.4), f.is(5.5):
		return "none"
	case f.version >= 5.6:
		return "explicit"
	}
	return ""
}

// responsesOnly reports whether the model is available in Responses only.
func (f family) responsesOnly() bool {
	return f.variant == "pro" || strings.HasPrefix(f.variant, "codex") || f.o && strings.HasSuffix(f.name, "-pro") || strings.Contains(f.name, "deep-research")
}

// acceptsSampling reports whether the model accepts sampling settings with the
// effort.
func (f family) acceptsSampling(effort string) bool {
	switch {
	case !f.reasons():
		return true
	case f.o, f.is(5), f.is(6.2):
		return false
	case effort == "":
		return f.efforts(true)[0] == "none"
	}
	return effort == "none"
}

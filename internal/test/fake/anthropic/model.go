package anthropic

import (
	"regexp"
	"strconv"
)

// A model describes what a model accepts, messages.md §1.2, §2.1, §2.4 to §2.6.
// An unknown name accepts everything.
type model struct {
	name, line string
	version    int // 45 is 4.5; 0 is unknown
}

var modelName = regexp.MustCompile(`^claude-(opus|sonnet|haiku|fable|mythos)-(\d)(?:-(\d))?(?:-\d{8})?$`)

func parseModel(name string) model {
	m := modelName.FindStringSubmatch(name)
	if m == nil {
		return model{name: name}
	}
	major, _ := strconv.Atoi(m[2])
	minor, _ := strconv.Atoi(m[3])
	return model{name: name, line: m[1], version: major*10 + minor}
}

func (m model) known() bool { return m.version > 0 }

func (m model) is(line string, version int) bool { return m.line == line && m.version == version }

// alwaysThinks reports whether the model belongs to the lines that always think.
func (m model) alwaysThinks() bool { return m.line == "fable" || m.line == "mythos" }

func (m model) noSampling() bool { return m.version > 46 }

func (m model) oneSampler() bool { return m.version >= 45 }

func (m model) noPrefill() bool { return m.version >= 46 }

func (m model) systemTurns() bool {
	return !m.known() || m.alwaysThinks() || m.is("opus", 48) || m.is("opus", 50) || m.is("opus", 55)
}

func (m model) forcesTools() bool {
	return !m.is("opus", 55) && !m.is("sonnet", 55) && !(m.alwaysThinks() && m.version >= 51)
}

// thinks returns the vendor's error text for a thinking mode, "" if the model
// accepts it.
func (m model) thinks(mode string) string {
	unsupported := `"thinking.type.` + mode + `" is not supported for this model.`
	useAdaptive := unsupported + ` Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`
	switch {
	case !m.known():
		return ""
	case mode == "adaptive" && m.version < 46:
		return "adaptive thinking is not supported on this model"
	case mode == "enabled" && m.version > 46:
		return useAdaptive
	case mode == "between_tools" && !m.is("sonnet", 55):
		return unsupported
	case mode == "disabled" && m.is("sonnet", 55):
		return unsupported + ` Use "thinking.type.between_tools".`
	case mode == "disabled" && (m.alwaysThinks() || m.is("opus", 55)):
		return useAdaptive
	}
	return ""
}

package e2e

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
)

// A maker makes random Messages documents with content that both formats can
// represent.
type maker struct {
	*rand.Rand
	calls int
}

func (m *maker) words() string {
	list := []string{"hello", "Grüße", "☃", "<&>", "\"quoted\"", "\\", "日本", "a\nb", "0", "{}", "🏳️‍🌈"}
	var b []string
	for range 1 + m.IntN(6) {
		b = append(b, list[m.IntN(len(list))])
	}
	return quote(strings.Join(b, " "))
}

func (m *maker) chance(of int) bool { return m.IntN(of) == 0 }

func (m *maker) share() string { return strconv.FormatFloat(float64(1+m.IntN(99))/100, 'f', -1, 64) }

func (m *maker) file() string {
	if m.chance(2) {
		return `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + testPNG + `"}}`
	}
	return `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + testPDF + `"}}`
}

func (m *maker) user() []string {
	var list []string
	for range 1 + m.IntN(3) {
		if m.chance(4) {
			list = append(list, m.file())
		}
		list = append(list, `{"type":"text","text":`+m.words()+`}`)
	}
	return list
}

// step returns an assistant turn and the results of its tool calls.
func (m *maker) step() (blocks, results []string) {
	if m.chance(2) {
		blocks = append(blocks, `{"type":"text","text":`+m.words()+`}`)
	}
	for range m.IntN(3) {
		m.calls++
		id := "tu_" + strconv.Itoa(m.calls)
		args := []string{`{}`, `{"b":1,"a":` + m.words() + `}`, `{"n":12345678901234567890,"f":1.50,"deep":{"l":[1,null,true,{"x":{}}]}}`}[m.IntN(3)]
		blocks = append(blocks, `{"type":"tool_use","id":"`+id+`","name":"tool_`+strconv.Itoa(m.IntN(3))+`","input":`+args+`}`)
		result := `{"type":"tool_result","tool_use_id":"` + id + `","content":[{"type":"text","text":` + m.words() + `}`
		if m.chance(4) {
			result += "," + m.file()
		}
		result += "]"
		if m.chance(4) {
			result += `,"is_error":true`
		}
		results = append(results, result+"}")
	}
	if len(blocks) == 0 {
		blocks = append(blocks, `{"type":"text","text":`+m.words()+`}`)
	}
	return blocks, results
}

func (m *maker) conversation() string {
	turns := []string{turnOf("user", m.user())}
	for range m.IntN(5) {
		blocks, results := m.step()
		turns = append(turns, turnOf("assistant", blocks))
		if len(results) == 0 || m.chance(3) {
			results = append(results, m.user()...)
		}
		turns = append(turns, turnOf("user", results))
	}
	return `"messages":[` + strings.Join(turns, ",") + `]`
}

func turnOf(role string, blocks []string) string {
	return `{"role":"` + role + `","content":[` + strings.Join(blocks, ",") + `]}`
}

func (m *maker) document() string {
	members := []string{`"model":"m"`, `"max_tokens":` + strconv.Itoa(20000+m.IntN(90000)), m.conversation()}
	tools := []string{
		`{"name":"tool_0","description":` + m.words() + `,"input_schema":{"type":"object","properties":{"z":{"type":"string","description":` + m.words() + `},"a":{"type":"array","items":{"type":"number"}}},"required":["z"]}}`,
		`{"name":"tool_1","input_schema":{"type":"object","properties":{"e":{"type":"string","enum":["x","y"]},"o":{"type":"object","properties":{"i":{"type":"integer","minimum":1,"maximum":9}}}}}}`,
		`{"name":"tool_2","description":"d","input_schema":{"type":"object","properties":{"u":{"anyOf":[{"type":"string"},{"type":"number"}]}}}}`,
	}
	members = append(members, `"tools":[`+strings.Join(tools, ",")+`]`)
	some := []string{
		`"system":[{"type":"text","text":` + m.words() + `},{"type":"text","text":` + m.words() + `}]`,
		`"stop_sequences":["END",` + m.words() + `]`,
	}
	if m.chance(3) { // Messages does not allow sampling settings with thinking
		members = append(members, `"thinking":{"type":"enabled","budget_tokens":`+strconv.Itoa(1024+m.IntN(9000))+`,"display":"summarized"}`, `"tool_choice":{"type":"auto"}`)
	} else {
		some = append(some, `"temperature":`+m.share(), `"top_p":`+m.share(), `"top_k":`+strconv.Itoa(1+m.IntN(99)),
			`"tool_choice":`+[]string{`{"type":"any"}`, `{"type":"none"}`, `{"type":"tool","name":"tool_1"}`}[m.IntN(3)])
	}
	for _, s := range some {
		if m.chance(2) {
			members = append(members, s)
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// TestRoundTrip converts random requests to the other format and back, through
// documents. All content that both formats can represent must remain.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(400) {
		m := &maker{Rand: rand.New(rand.NewPCG(seed, 8))}
		doc := m.document()
		first, err := messages.ParseRequest([]byte(doc))
		if err != nil {
			t.Fatalf("seed %d: the maker made an invalid document: %v\n%s", seed, err, doc)
		}
		if err := first.Validate(nil); err != nil {
			t.Fatalf("seed %d: the maker made an invalid document: %v\n%s", seed, err, doc)
		}
		there, lost, err := generatecontent.RequestFromUpstream(first.Upstream())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		encoded, err := there.AppendJSON(nil)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		second, err := generatecontent.ParseRequest(encoded)
		if err != nil {
			t.Fatalf("seed %d: the converted document does not parse: %v\n%s", seed, err, encoded)
		}
		if err := second.Validate(nil); err != nil {
			t.Fatalf("seed %d: the converted document is not valid: %v\n%s", seed, err, encoded)
		}
		back, more, _ := messages.RequestFromUpstream(second.Upstream())
		back.Model = first.Model
		end, err := back.AppendJSON(nil)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := cmp.Diff(indented([]byte(doc)), indented(end)); diff != "" {
			t.Errorf("seed %d: (-want +got)\n%s\nthere: %s", seed, diff, clip(string(encoded)))
		}
		for _, l := range append(lost, more...) {
			if l.Severity > content.LossHint {
				t.Errorf("seed %d: %v", seed, l)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// indented is like canonical, with a line for each value.
func indented(doc []byte) string {
	var b bytes.Buffer
	_ = json.Indent(&b, []byte(canonical(doc)), "", " ")
	return b.String()
}

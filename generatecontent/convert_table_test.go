package generatecontent

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

const elsewhere = "messages"

func elsewheres(members string) *content.Extra {
	return &content.Extra{Format: elsewhere, JSON: members}
}

func says(parts ...content.Part) *upstream.Request {
	return &upstream.Request{Turns: []content.Turn{{Role: content.RoleUser, Parts: parts}}}
}

func said(turns ...content.Turn) *upstream.Request { return &upstream.Request{Turns: turns} }

func asks(parts ...content.Part) content.Turn {
	return content.Turn{Role: content.RoleUser, Parts: parts}
}

func replies(parts ...content.Part) content.Turn {
	return content.Turn{Role: content.RoleAssistant, Parts: parts}
}

func ownMark(data string) content.Signature { return content.Signature{Format: Format, Data: data} }

func ptrTo[T any](v T) *T { return &v }

func neighbour(kind envelope.Kind, data string) content.Part {
	return &content.Thinking{Redacted: envelope.AdjacentSignature(Format, kind, data)}
}

var (
	picture = &content.Base64{MediaType: "image/png", Data: "AAAA"}
	aCall   = &content.ToolUse{ID: "1", Name: "f", Input: `{"a":1}`}
	another = &content.ToolUse{ID: "2", Name: "g"}
	aTool   = []content.Tool{{Name: "f"}}
	pngData = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"
)

// A mapping is what becomes of a request: of the members at a path of the
// document, "contents" if none is said, and the losses.
type mapping struct {
	name   string
	target Target
	from   *upstream.Request
	want   string   // the document
	lost   []string // severity and path
	rules  []*loss.Rule
}

var mappings = slices.Concat(turnMappings, partMappings, toolMappings, settingMappings)

// What other formats say, in the words of this one.
func TestMappings(t *testing.T) {
	for _, tt := range mappings {
		t.Run(tt.name, func(t *testing.T) {
			n := tt.from
			if len(n.Turns) == 0 {
				c := *n
				c.Turns = says(plainText("q")).Turns
				n = &c
			}
			before := n.Clone()
			r, losses := RequestForTarget(n, tt.target)
			got, err := r.AppendJSON(nil)
			if err != nil {
				t.Fatal(err)
			}
			want := tt.want
			if !strings.HasPrefix(want, `{"contents"`) {
				want = `{"contents":[{"role":"user","parts":[{"text":"q"}]}]` + want + `}`
			}
			if diff := sameJSON(t, want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			var lost []string
			var rules []*loss.Rule
			for _, l := range losses {
				lost = append(lost, l.Severity.String()+" "+l.Path)
				if i := slices.IndexFunc(requestLosses, func(r *loss.Rule) bool { return r.Reason == l.Reason && r.Severity == l.Severity }); i >= 0 {
					rules = append(rules, requestLosses[i])
				} else if !strings.Contains(l.Path, "input") && !strings.Contains(l.Path, "schema") {
					t.Errorf("a report that is in no table: %+v", l)
				}
			}
			if diff := cmp.Diff(tt.lost, lost); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
			if tt.rules != nil && !slices.Equal(tt.rules, rules) {
				t.Errorf("the reasons are %+v", losses)
			}
			if diff := cmp.Diff(before, n.Clone()); diff != "" {
				t.Errorf("the request was changed (-before +after):\n%s", diff)
			}
		})
	}
}

// Every rule of the table is met by one of the mappings.
func TestRequestLosses(t *testing.T) {
	fired := make(map[string]bool)
	for _, tt := range mappings {
		_, losses := RequestForTarget(tt.from, tt.target)
		for _, l := range losses {
			fired[l.Severity.String()+l.Reason] = true
		}
	}
	seen := make(map[string]bool)
	for _, r := range requestLosses {
		key := r.Severity.String() + r.Reason
		if r.Feature == "" || r.Reason == "" || seen[key] {
			t.Errorf("%+v is no rule, or twice in the table", r)
		}
		if seen[key] = true; !fired[key] {
			t.Errorf("never reported: %+v", r)
		}
	}
}

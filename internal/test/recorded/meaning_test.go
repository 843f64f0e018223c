package recorded

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// thinksAlone are the models of Messages that think without a setting, as the vendor documents.
var thinksAlone = regexp.MustCompile(`claude-([a-z]+-5|fable|mythos)`)

// TestMeanings checks what models of other vendors get for what a recorded request means: no thinking, or as little as the model
// can, for Messages requests that have none, and validated arguments for functions that are strict.
func TestMeanings(t *testing.T) {
	eachRecord(t, func(r *record) bool { return r.accepted() && r.generates() && r.Request != "" }, func(t *testing.T, r *record) {
		source := gjson.Parse(r.Request)
		thinking := source.Get("thinking.type").Str
		off := thinking == "disabled" || thinking == "" && !thinksAlone.MatchString(r.model())
		if r.format == formatMessages && off && !source.Get("output_config.effort").Exists() {
			for _, tt := range []struct {
				to         destination
				path, want string
			}{
				{geminiDestination("gemini-2.5-flash"), "generationConfig.thinkingConfig.thinkingBudget", "0"},
				{geminiDestination("gemini-3.8-flash"), "generationConfig.thinkingConfig.thinkingLevel", `"MINIMAL"`},
				{responsesDestination("", "", "gpt-5"), "reasoning.effort", `"minimal"`},
				{responsesDestination("", "", "gpt-6-sol"), "reasoning.effort", `"none"`},
			} {
				check(t, r, "5t thinking off for "+tt.to.model, func() error {
					got, err := encodedFor(t, r, tt.to)
					if err == nil && gjson.Get(got.Document, tt.path).Raw != tt.want {
						err = fmt.Errorf("%s is not %s in %s", tt.path, tt.want, clip(got.Document, 300))
					}
					return err
				})
			}
		}
		isStrict := func(tool gjson.Result) bool { return tool.Get("strict").Bool() || tool.Get("function.strict").Bool() }
		if r.format != formatGenerate && slices.ContainsFunc(source.Get("tools").Array(), isStrict) {
			check(t, r, "5s strict functions for Gemini", func() error {
				got, err := encodedFor(t, r, geminiDestination("gemini-3.8-flash"))
				if err != nil {
					return err
				}
				mode := gjson.Get(got.Document, "toolConfig.functionCallingConfig.mode").Str
				if mode != "VALIDATED" && mode != "ANY" && mode != "NONE" {
					return fmt.Errorf("the mode is %q", mode)
				}
				for _, l := range got.Losses {
					if l.Reason == lower.ToolStrict.Reason {
						return fmt.Errorf("lost: %v", l)
					}
				}
				return nil
			})
		}
	})
}

// encodedFor returns a recorded request as a model gets it. Requests that another vendor cannot get are not comparable.
func encodedFor(t *testing.T, r *record, d destination) (e upstream.EncodedRequest, err error) {
	var n *upstream.Request
	switch r.format {
	case formatChat:
		n, _, err = chatcompletions.DecodeRequest(r.Request, nil)
	case formatResponses:
		n, _, err = responses.DecodeRequest(r.Request, nil)
	default:
		var doc document
		if doc, err = parseRequest(r.format, r.Request, false); err == nil {
			n = doc.Upstream()
		}
	}
	if err != nil {
		return e, errIncomparable
	}
	up, err := d.make(http.DefaultClient)
	if err != nil {
		return e, err
	}
	n.Resolver = new(host)
	if e, err = upstream.EncodeRequest(t.Context(), up, n.WithModel(d.model)); err != nil {
		err = errors.Join(errIncomparable, err)
	}
	return e, err
}

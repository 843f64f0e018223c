package recorded

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/lossplaces"
)

// answerMembers are the places in whole responses, by format, where the model's
// content is: blocks, parts, messages and items. Other members, for example
// times and an echo of the request, describe the exchange.
var answerMembers = map[content.Format]*regexp.Regexp{
	formatMessages:  regexp.MustCompile(`^\.content\[\]\.[^.\[]+$`),
	formatGenerate:  regexp.MustCompile(`^\.candidates\[\](\.content\.parts\[\])?\.[^.\[]+$`),
	formatChat:      regexp.MustCompile(`^\.choices\[\]\.message(\.(content|tool_calls)\[\])?\.[^.\[]+$`),
	formatResponses: regexp.MustCompile(`^\.output\[\](\.content\[\])?\.[^.\[]+$`),
}

// TestResponseMembers removes members from whole responses. If neither the
// response to a client of another format nor the losses change, the member was
// dropped without a loss.
func TestResponseMembers(t *testing.T) {
	plain := func(r *record) bool { return generated(r) && !r.streamed() }
	samples := sampleMembers(corpus(t), plain, func(r *record, f func(step, any)) {
		members(parseJSON(r.Response), nil, func(path step, v any) {
			if answerMembers[r.format].MatchString(shapeOf(path)) {
				f(path, v)
			}
		})
	})
	sampled := func(r *record) bool { return len(samples[r]) > 0 }
	eachRecord(t, sampled, func(t *testing.T, r *record) {
		for _, to := range []content.Format{formatMessages, formatGenerate} {
			if to == r.format {
				continue
			}
			check(t, r, "6r response members towards "+string(to), func() error {
				return silentResponseMembers(r, samples[r], to)
			})
		}
	})
}

func silentResponseMembers(r *record, paths []step, to content.Format) error {
	source := parseJSON(r.Response)
	base, err := convert(r, encodeJSON(source), to)
	if err != nil || base.status != http.StatusOK {
		return errIncomparable // check 4 reports it
	}
	var silent []string
	for _, path := range paths {
		v := valueAt(source, path)
		message, name := valueAt(source, path[:len(path)-1]), path[len(path)-1]
		if name == "thought_signature" && at(message, "extra_content") != nil {
			continue // a copy of the signature there
		}
		if emptyMember(path, v) || namedInLosses(base.report.Losses, path) {
			continue
		}
		without := parseJSON(r.Response)
		edit(without, path, func(o object, name string) { delete(o, name) })
		got, err := convert(r, encodeJSON(without), to)
		if err != nil {
			return err
		}
		if got.status == base.status && got.body == base.body && cmp.Equal(got.report.Losses, base.report.Losses) {
			silent = append(silent, fmt.Sprintf("%v (%s)", path, clip(encodeJSON(v), 60)))
		}
	}
	if silent == nil {
		return nil
	}
	return fmt.Errorf("without any effect and without a loss: %s\nlosses: %v", strings.Join(silent, "; "), base.report.Losses)
}

// convert sends a response of the record's vendor to a client of another format.
func convert(r *record, response string, to content.Format) (*reply, error) {
	up, err := adapter(r, canned{r, func(string) io.Reader { return strings.NewReader(response) }})
	if err != nil {
		return nil, err
	}
	return send(to, up, simple(to, r.model(), whole, false))
}

// namedInLosses reports whether a loss covers a member of a response: it has the
// vendor's name of the member, or it is of a part and the member is in a block,
// part or item. Which part a block or an item became is not compared.
func namedInLosses(losses []content.Loss, path step) bool {
	_, inList := path[len(path)-2].(int)
	inPart := inList && path[0] != "candidates" && path[0] != "choices" || slices.Contains(path, any("parts"))
	if name, _ := path[len(path)-1].(string); strings.HasPrefix(name, "reasoning") {
		inPart = true // of a message: it becomes a part
	}
	return slices.ContainsFunc(lossplaces.Of(losses), func(l content.Loss) bool {
		return inPart && strings.HasPrefix(l.Path, "parts") || slices.Contains(path, any(l.Path))
	})
}

// plainMembers are members of responses, in plain names, without content of their
// own: places, kinds and ids of parts, phases of messages (see TestPhases), whether a part is whole, a sentence about
// the finish reason, and how an image was made.
var plainMembers = map[string]bool{
	"index": true, "type": true, "role": true, "id": true, "status": true, "closed": true, "finishmessage": true, "phase": true,
	"background": true, "outputformat": true, "quality": true, "size": true, "prompt": true, "revisedprompt": true,
}

// emptyMember reports whether a member of a response has no content.
func emptyMember(path step, v any) bool {
	name, _ := path[len(path)-1].(string)
	if plainMembers[plainName(name)] {
		return true
	}
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == "" || v == "{}"
	case json.Number:
		return v == "0"
	case []any:
		return len(v) == 0
	case object:
		return len(v) == 0
	}
	return false
}

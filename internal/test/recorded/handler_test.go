package recorded

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

func TestHandlers(t *testing.T) {
	eachRecord(t, generated, func(t *testing.T, r *record) {
		want, err := readAnswer(r.format, r.Response, r.Events())
		if err != nil {
			t.Fatalf("%s: the recording is not JSON: %v", r.ID, err)
		}
		if want.several {
			return
		}
		up, v, release, err := replay(r)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		for _, to := range []content.Format{formatMessages, formatGenerate} {
			check(t, r, "4 through "+string(to)+", "+r.kind(), func() error { return through(r, up, to, want, true) })
			check(t, r, "4t through "+string(to)+", thinking not requested", func() error { return through(r, up, to, want, false) })
		}
		if r.asked() {
			check(t, r, "4s the recorded request", func() error { return sameFormat(r, up, v, want) })
		}
	})
}

// through sends a request through a handler of a format and compares the
// response with the recording. asked reports whether the client requests
// thinking.
func through(r *record, up upstream.Upstream, to content.Format, want *answer, asked bool) error {
	d := whole
	switch {
	case r.array() && to == r.format:
		d = jsonArray
	case r.streamed():
		d = eventStream
	}
	got, err := send(to, up, simple(to, r.model(), d, asked))
	if err != nil {
		return err
	}
	if got.status != http.StatusOK || !want.whole() {
		return incomplete(want, got, to)
	}
	if got.err != nil {
		return got.err
	}
	if r.format == to {
		// The vendor's document is forwarded unchanged. Requesting thinking
		// makes no difference, since the vendor has decided what it sends.
		return sameResponse(r, got.body)
	}
	read, err := readAnswer(to, got.body, d == eventStream)
	if err != nil {
		return fmt.Errorf("the handler wrote invalid JSON: %w", err)
	}
	expected := *want
	if !asked {
		// Clients that do not request thinking receive no thinking blocks and no
		// thought parts, as with the vendors.
		if shown := thinkingParts[to].FindString(got.body); shown != "" {
			return fmt.Errorf("thinking for a client that did not ask for it: %s", clip(shown, 100))
		}
		expected.thinking = read.thinking
	}
	aspects := withImages
	if to == formatMessages { // Messages responses have no images
		aspects = withIDs
		for i, c := range read.calls {
			switch {
			case !messagesID.MatchString(c.id):
				return fmt.Errorf("the id %q is not valid in Messages", c.id)
			case strings.HasPrefix(c.id, carrierPrefix) && i < len(expected.calls):
				read.calls[i].id = expected.calls[i].id // check 4r compares what the vendor gets back
			}
		}
	}
	if err := compare(&expected, read, reasonIn(to, r.format, want), aspects); err != nil {
		return err
	}
	if d != eventStream {
		return nil
	}
	return inOrder(to, got.body)
}

var messagesID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// thinkingParts finds the thinking in a response.
var thinkingParts = map[content.Format]*regexp.Regexp{
	formatMessages: regexp.MustCompile(`"type":\s*"(redacted_)?thinking"`),
	formatGenerate: regexp.MustCompile(`"thought":\s*true`),
}

// carrierPrefix begins the ids of tool calls that carry state of the vendor.
const carrierPrefix = "toolu_pw"

// inOrder checks the order of a handler's stream.
func inOrder(format content.Format, body string) error {
	if format == formatMessages {
		return messagesOrder(body)
	}
	chunks, err := generateChunkTexts(body)
	if err != nil {
		return err
	}
	return generateOrder(chunks)
}

// incomplete checks the response to a client if the vendor's is incomplete: it
// must not end like a complete one.
func incomplete(want *answer, got *reply, to content.Format) error {
	if want.whole() {
		return fmt.Errorf("status %d: %s", got.status, clip(got.body, 300))
	}
	if got.status != http.StatusOK {
		if stringAt(parseJSON(got.body), "error", "message") == "" {
			return fmt.Errorf("status %d without an error: %s", got.status, clip(got.body, 300))
		}
		return nil
	}
	// Several servers end their streams without a finish reason or [DONE],
	// which an adapter may accept as an end. Then the client must receive an
	// end too.
	if got.err == nil && got.report.Err == nil {
		return nil
	}
	return notWhole(to, got)
}

// notWhole checks that a client sees that a stream broke off.
func notWhole(format content.Format, got *reply) error {
	if got.err != nil {
		return nil
	}
	failed := strings.Contains(got.body, `"error"`)
	if format == formatMessages {
		if !failed || strings.Contains(got.body, `"type":"message_stop"`) {
			return fmt.Errorf("a broken stream ends like a complete one: …%s", got.body[max(0, len(got.body)-300):])
		}
		return nil
	}
	if !failed {
		return fmt.Errorf("a broken stream ends without an error: …%s", got.body[max(0, len(got.body)-300):])
	}
	return nil
}

// reasonIn returns the stop reason that clients of a format receive for that of
// a recording, or "" if several are valid.
func reasonIn(to, from content.Format, want *answer) content.StopReason {
	reason := want.reason
	if to == formatMessages {
		switch reason {
		case content.StopSafety, content.StopRecitation:
			return content.StopRefusal
		case content.StopMalformedCall:
			return "" // Messages has none
		}
		return reason
	}
	switch reason {
	case content.StopSequence:
		reason = content.StopEnd
	case content.StopRefusal:
		return content.StopSafety
	case content.StopContext:
		return content.StopMaxTokens
	case content.StopPause:
		return ""
	}
	if reason == content.StopEnd && len(want.calls) > 0 {
		return content.StopToolUse // STOP with tool calls
	}
	return reason
}

// sameResponse checks that a response reached a client of the vendor's own
// format byte for byte.
func sameResponse(r *record, got string) error {
	if !r.streamed() {
		if want := strings.TrimSpace(r.Response); want != strings.TrimSpace(got) {
			return changed(want, got)
		}
		return nil
	}
	want, err := frames(r.Response)
	if err != nil {
		return err
	}
	have, err := frames(got)
	if err != nil {
		return err
	}
	if len(want) != len(have) {
		return fmt.Errorf("%d events, want %d", len(have), len(want))
	}
	for i, w := range want {
		if g := have[i]; w != g {
			if strings.Contains(w.data, `"message_stop"`) && equalJSON(w.data, g.data) {
				continue // the vendor pads it with spaces
			}
			return fmt.Errorf("event %d: %w", i, changed(w.data, g.data))
		}
	}
	return nil
}

// frames returns the events of a stream except for keep-alives and end marks.
// The elements of a JSON array are events without a name.
func frames(body string) ([]event, error) {
	if strings.HasPrefix(strings.TrimSpace(body), "[") {
		var raw []json.RawMessage
		if err := json.Unmarshal([]byte(body), &raw); err != nil {
			return nil, err
		}
		list := make([]event, len(raw))
		for i, m := range raw {
			var b bytes.Buffer
			if err := json.Compact(&b, m); err != nil { // blanks in between are the array's
				return nil, err
			}
			list[i].data = b.String()
		}
		return list, nil
	}
	var list []event
	for _, e := range splitEvents(body) {
		if e.name != "ping" && e.data != "[DONE]" {
			list = append(list, e)
		}
	}
	return list, nil
}

// changed describes how a document that must be forwarded unchanged differs.
func changed(want, got string) error {
	if d := difference(parseJSON(want), parseJSON(got)); d != "" {
		return fmt.Errorf("changed: %s", d)
	}
	return fmt.Errorf("the same value with other bytes: %s", unequal(want, got))
}

// sameFormat sends the recorded request through the handler of its own format.
// The vendor must receive the same bytes, and the client those of the response.
func sameFormat(r *record, up upstream.Upstream, v *vendor, want *answer) error {
	if validate(r.format, r.Request, r.rules(false)) != nil {
		return errIncomparable // check 1 reports it
	}
	header := http.Header{}
	for name, value := range r.RequestHeaders {
		header.Set(name, value)
	}
	if strings.Contains(r.URL, "key=redacted") {
		header.Set("x-goog-api-key", "redacted") // equal keys in both places are accepted
	}
	before := v.received()
	got, err := send(r.format, up, request{path: r.URL, body: r.Request, header: header})
	if err != nil {
		return err
	}
	sent := v.received()
	if len(sent) > 0 && len(before) > 0 && &sent[0] == &before[0] {
		return fmt.Errorf("no request was sent: status %d %s", got.status, clip(got.body, 300))
	}
	if string(sent) != r.Request {
		return fmt.Errorf("the request %w", changed(r.Request, string(sent)))
	}
	if got.status != http.StatusOK || got.err != nil || !want.whole() {
		return incomplete(want, got, r.format)
	}
	if len(got.report.Losses) > 0 {
		for _, l := range got.report.Losses {
			if l.Severity > content.LossHint {
				return fmt.Errorf("a loss in the same format: %v", l)
			}
		}
	}
	return sameResponse(r, got.body)
}

package recorded

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
)

// TestReplays has a client of another format return a whole response as
// history, with results of its tool calls. The ids of the vendor's calls and
// its signatures must reach the vendor unchanged.
func TestReplays(t *testing.T) {
	plain := func(r *record) bool { return generated(r) && !r.streamed() }
	eachRecord(t, plain, func(t *testing.T, r *record) {
		want, err := readAnswer(r.format, r.Response, false)
		if err != nil || !want.whole() || len(want.calls) == 0 {
			return
		}
		for _, to := range []content.Format{formatMessages, formatGenerate} {
			if to == r.format {
				continue
			}
			for _, asked := range []bool{true, false} {
				name := "4r returned by a client of " + string(to)
				if !asked {
					name += ", thinking not requested"
				}
				check(t, r, name, func() error { return returned(r, to, want, asked) })
			}
		}
	})
}

// returned builds the conversation and compares the vendor's request.
func returned(r *record, to content.Format, want *answer, asked bool) error {
	up, _, release, err := replay(r)
	if err != nil {
		return err
	}
	defer release()
	first := simple(to, r.model(), whole, asked)
	got, err := send(to, up, first)
	if err != nil {
		return err
	}
	if got.status != http.StatusOK {
		return errIncomparable // check 4 reports it
	}
	next := nextRequest(to, first, parseJSON(got.body))
	d, err := parseRequest(to, next, false)
	if err != nil {
		return fmt.Errorf("the history is rejected: %w", err)
	}
	var transport capture
	if up, err = adapter(r, &transport); err != nil {
		return err
	}
	sent, err := translateFor(up, &transport, d, r.model())
	if err != nil {
		return fmt.Errorf("the history cannot be sent to the vendor: %w", err)
	}
	for _, c := range want.calls {
		if c.id != "" && !strings.Contains(sent.body, encodeJSON(c.id)) {
			return fmt.Errorf("the id %q did not reach the vendor\nsent: %s", c.id, clip(sent.body, 600))
		}
	}
	for _, s := range signatures(r.format, parseJSON(r.Response)) {
		if !strings.Contains(sent.body, s) {
			return fmt.Errorf("the signature %q did not reach the vendor\nlosses: %v\nsent: %s", clip(s, 60), sent.losses, clip(sent.body, 600))
		}
	}
	return nil
}

// nextRequest adds a response and results of its calls to a request.
func nextRequest(format content.Format, first request, response any) string {
	q := parseJSON(first.body).(object)
	if format == formatMessages {
		blocks := listAt(response, "content")
		var results []any
		for _, b := range blocks {
			if stringAt(b, "type") == "tool_use" {
				results = append(results, object{"type": "tool_result", "tool_use_id": at(b, "id"), "content": "done"})
			}
		}
		q["messages"] = append(listAt(q, "messages"),
			object{"role": "assistant", "content": blocks}, object{"role": "user", "content": results})
		return encodeJSON(q)
	}
	candidate := listAt(response, "candidates")[0]
	var results []any
	for _, p := range listAt(candidate, "content", "parts") {
		if f := at(p, "functionCall"); f != nil {
			result := object{"name": at(f, "name"), "response": object{"output": "done"}}
			if id := at(f, "id"); id != nil {
				result["id"] = id
			}
			results = append(results, object{"functionResponse": result})
		}
	}
	q["contents"] = append(listAt(q, "contents"), at(candidate, "content"), object{"role": "user", "parts": results})
	return encodeJSON(q)
}

// signatures returns the vendor's signatures of its calls and of the thinking
// before them.
func signatures(format content.Format, response any) []string {
	var list []string
	add := func(v any) {
		if s, ok := v.(string); ok && s != "" {
			list = append(list, s)
		}
	}
	switch format {
	case formatMessages:
		for _, b := range listAt(response, "content") {
			add(at(b, "signature"))
			if stringAt(b, "type") == "redacted_thinking" {
				add(at(b, "data"))
			}
		}
	case formatGenerate:
		for _, c := range listAt(response, "candidates") {
			for _, p := range listAt(c, "content", "parts") {
				if at(p, "functionCall") != nil {
					add(at(p, "thoughtSignature"))
				}
			}
		}
	case formatResponses:
		for _, item := range listAt(response, "output") {
			if stringAt(item, "type") == "reasoning" {
				add(at(item, "encrypted_content"))
			}
		}
	}
	return list
}

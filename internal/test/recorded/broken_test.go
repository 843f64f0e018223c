package recorded

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// cutsPerStream bounds in how many places a stream is cut.
const cutsPerStream = 6

// TestBrokenStreams cuts streams between events and within them, before the
// event that completes the response.
func TestBrokenStreams(t *testing.T) {
	streams := func(r *record) bool { return generated(r) && r.Events() }
	eachRecord(t, streams, func(t *testing.T, r *record) {
		want, err := readAnswer(r.format, r.Response, true)
		if err != nil || want.several || !want.whole() {
			return
		}
		cuts := cutPoints(r.format, r.Response)
		if len(cuts) == 0 {
			return
		}
		check(t, r, "7 cut, read by the adapter", func() error {
			for _, cut := range cuts {
				if err := cutAdapter(r, cut); err != nil {
					return err
				}
			}
			return nil
		})
		if r.served() {
			check(t, r, "7 cut, read by the package", func() error {
				for _, cut := range cuts {
					if got, err := decode(r, strings.NewReader(r.Response[:cut])); err == nil {
						return fmt.Errorf("cut at byte %d of %d: read as whole, stop reason %q", cut, len(r.Response), got.Stop.Reason)
					}
				}
				return nil
			})
		}
		for _, to := range []content.Format{formatMessages, formatGenerate} {
			check(t, r, "7 cut, through "+string(to), func() error {
				for _, cut := range []int{cuts[0], cuts[len(cuts)-1]} {
					if err := cutThrough(r, to, cut); err != nil {
						return err
					}
				}
				return nil
			})
		}
	})
}

// cutPoints returns the places to cut a stream: after events and within them,
// all before the end of the first event that may complete the response.
func cutPoints(format content.Format, body string) []int {
	var points []int
	from := 0
	for from < len(body) {
		end := len(body)
		if m := eventEnd.FindStringIndex(body[from:]); m != nil {
			end = from + m[1]
		}
		text := body[from:end]
		if ends(format, text) {
			break
		}
		if strings.Contains(text, "data:") {
			points = append(points, from+len(text)/2, end)
		}
		from = end
	}
	if len(points) <= cutsPerStream {
		return points
	}
	chosen := make([]int, cutsPerStream)
	for i := range chosen {
		chosen[i] = points[i*(len(points)-1)/(cutsPerStream-1)]
	}
	return slices.Compact(chosen)
}

// eventEnd is an empty line, which ends an event.
var eventEnd = regexp.MustCompile(`\r\n\r\n|\n\n|\r\r`)

// ends reports whether a client may treat an event as the end of its response:
// message_stop of Messages, a finish reason, [DONE], or a final response.
func ends(format content.Format, eventText string) bool {
	for _, e := range splitEvents(eventText + "\n\n") {
		if e.data == "[DONE]" {
			return true
		}
		v := parseJSON(e.data)
		switch format {
		case formatMessages:
			return stringAt(v, "type") == "message_stop"
		case formatGenerate:
			for _, c := range listAt(v, "candidates") {
				if finishReason(c) != "" {
					return true
				}
			}
			return at(v, "promptFeedback", "blockReason") != nil
		case formatChat:
			for _, c := range listAt(v, "choices") {
				if stringAt(c, "finish_reason") != "" {
					return true
				}
			}
		case formatResponses:
			switch stringAt(v, "type") {
			case "response.completed", "response.incomplete", "response.failed":
				return true
			}
		}
	}
	return false
}

// cutAdapter reads a stream that ends early with an adapter.
func cutAdapter(r *record, cut int) error {
	up, err := adapter(r, canned{r, func(body string) io.Reader { return strings.NewReader(body[:cut]) }})
	if err != nil {
		return err
	}
	got, err := upstream.Collect(context.Background(), up, neutral(r.model(), true))
	if err == nil {
		return fmt.Errorf("cut at byte %d of %d: read as whole, stop reason %q, after …%q",
			cut, len(r.Response), got.Stop.Reason, r.Response[max(0, cut-100):cut])
	}
	return nil
}

// cutThrough sends a stream that ends early through a handler.
func cutThrough(r *record, to content.Format, cut int) error {
	up, err := adapter(r, canned{r, func(body string) io.Reader { return strings.NewReader(body[:cut]) }})
	if err != nil {
		return err
	}
	got, err := send(to, up, simple(to, r.model(), eventStream, true))
	if err != nil {
		return err
	}
	if got.status != http.StatusOK {
		if got.status < 500 {
			return fmt.Errorf("cut at byte %d: status %d blames the client", cut, got.status)
		}
		return nil
	}
	if got.report.Err == nil {
		return fmt.Errorf("cut at byte %d of %d: the report has no error", cut, len(r.Response))
	}
	if err := notWhole(to, got); err != nil {
		return fmt.Errorf("cut at byte %d of %d: %w", cut, len(r.Response), err)
	}
	return nil
}

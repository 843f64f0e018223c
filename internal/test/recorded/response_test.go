package recorded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// generated selects successful responses of models.
func generated(r *record) bool { return r.accepted() && r.generates() }

func TestResponses(t *testing.T) {
	eachRecord(t, generated, func(t *testing.T, r *record) {
		want, err := readAnswer(r.format, r.Response, r.Events())
		if err != nil {
			t.Fatalf("%s: the recording is not JSON: %v", r.ID, err)
		}
		if want.several {
			return
		}
		var base *upstream.Response
		if r.served() {
			check(t, r, "3 read by the package, "+r.kind(), func() error {
				got, err := decode(r, strings.NewReader(r.Response))
				base = got
				return sameAnswer(want, got, err, withIDs|withOrder|withImages|withCandidates)
			})
			if r.streamed() {
				check(t, r, "3b read by the package byte by byte", func() error {
					got, err := decode(r, iotest.OneByteReader(strings.NewReader(r.Response)))
					return sameReply(want, base, got, err)
				})
			}
		}
		up, _, release, err := replay(r)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		request := neutral(r.model(), r.streamed())
		aspects := withIDs | withImages | withCandidates
		if r.format != formatChat { // its texts, thinking and calls have no order among each other
			aspects |= withOrder
		}
		check(t, r, "3a read by the adapter, "+r.kind(), func() error {
			got, err := upstream.Collect(context.Background(), up, request)
			base = got
			return sameAnswer(want, got, err, aspects)
		})
		if r.streamed() {
			check(t, r, "3b read by the adapter byte by byte", func() error {
				up, err := adapter(r, canned{r, func(body string) io.Reader { return iotest.OneByteReader(strings.NewReader(body)) }})
				if err != nil {
					return err
				}
				got, err := upstream.Collect(context.Background(), up, request)
				return sameReply(want, base, got, err)
			})
		}
	})
}

// sameAnswer compares a recorded response with what was read from it.
// Recordings that are cut or contain an error may result in errors.
func sameAnswer(want *answer, got *upstream.Response, err error, aspects aspect) error {
	if err != nil {
		if !want.whole() {
			return nil
		}
		return describeError(err)
	}
	if err := compare(want, answerOf(got), want.reason, aspects); err != nil {
		return err
	}
	if want.reason != "" && got.Stop.Reason == content.StopOther {
		return fmt.Errorf("the stop reason %q is not known", got.Stop.RawReason)
	}
	return nil
}

// sameReply compares two ways of reading one response.
func sameReply(want *answer, base, got *upstream.Response, err error) error {
	if err != nil {
		if !want.whole() {
			return nil
		}
		return describeError(err)
	}
	if base == nil {
		return errors.New("it can be read byte by byte only")
	}
	if diff := cmp.Diff(base, got); diff != "" {
		return fmt.Errorf("another response byte by byte (-whole +bytes):\n%s", diff)
	}
	return nil
}

// decode reads a response with the client side of its format's package.
func decode(r *record, body io.Reader) (*upstream.Response, error) {
	next := func() (*upstream.Frame, error) { return nil, io.EOF }
	if r.streamed() {
		if r.format == formatMessages {
			next = messages.NewStreamReader(body, nil).Next
		} else {
			next = generatecontent.NewStreamReader(body, nil).Next
		}
	} else {
		text, err := io.ReadAll(body)
		if err != nil {
			return nil, err
		}
		decodeWhole := generatecontent.DecodeFrame
		if r.format == formatMessages {
			decodeWhole = messages.DecodeFrame
		}
		read := false
		next = func() (*upstream.Frame, error) {
			if read {
				return nil, io.EOF
			}
			read = true
			return decodeWhole(string(text), content.Limits{})
		}
	}
	return upstream.Collect(context.Background(), upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		for {
			f, err := next()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			if err := w.Frame(f); err != nil {
				return err
			}
		}
	}), &upstream.Request{})
}

func TestCounts(t *testing.T) {
	counts := func(r *record) bool { return r.accepted() && r.Endpoint == "count" }
	eachRecord(t, counts, func(t *testing.T, r *record) {
		check(t, r, "3c token count", func() error {
			v, err := decodeJSON(r.Response)
			if err != nil {
				return err
			}
			var got upstream.TokenCount
			want := numberAt(v, "input_tokens")
			switch r.format {
			case formatMessages:
				got, err = messages.DecodeCount([]byte(r.Response))
			case formatGenerate:
				want = numberAt(v, "totalTokens")
				got, err = generatecontent.DecodeCount([]byte(r.Response))
			default:
				var up upstream.Upstream
				var release func()
				up, _, release, err = replay(r)
				if err != nil {
					return err
				}
				defer release()
				got, err = upstream.CountTokens(context.Background(), up, neutral(r.model(), false))
			}
			if err != nil {
				return describeError(err)
			}
			if got.Tokens != want || got.Estimated {
				return fmt.Errorf("%d tokens (estimate: %v), want %d", got.Tokens, got.Estimated, want)
			}
			return nil
		})
	})
}

func TestModels(t *testing.T) {
	models := func(r *record) bool { return r.accepted() && r.Endpoint == "models" && r.served() }
	eachRecord(t, models, func(t *testing.T, r *record) {
		check(t, r, "3m list of models", func() error {
			v, err := decodeJSON(r.Response)
			if err != nil {
				return err
			}
			var want []string
			var got []upstream.Model
			if r.format == formatMessages {
				for _, m := range listAt(v, "data") {
					want = append(want, stringAt(m, "id"))
				}
				got, _, err = messages.DecodeModels([]byte(r.Response))
			} else {
				for _, m := range listAt(v, "models") {
					want = append(want, strings.TrimPrefix(stringAt(m, "name"), "models/"))
				}
				got, _, err = generatecontent.DecodeModels([]byte(r.Response))
			}
			if err != nil {
				return describeError(err)
			}
			var names []string
			for _, m := range got {
				names = append(names, m.ID)
			}
			if diff := cmp.Diff(want, names); diff != "" {
				return fmt.Errorf("other models (-want +got):\n%s", diff)
			}
			return nil
		})
	})
}

func TestErrors(t *testing.T) {
	failed := func(r *record) bool { return !r.accepted() }
	eachRecord(t, failed, func(t *testing.T, r *record) {
		var cause error
		check(t, r, "3e error", func() error { return decodeError(r, &cause) })
		check(t, r, "3e error, the vendor's sentence", func() error { return quotes(vendorMessage(r), cause) })
		for _, format := range []content.Format{formatMessages, formatGenerate} {
			check(t, r, "4e error through "+string(format), func() error { return errorThrough(r, format) })
		}
	})
}

// decodeError checks that the package and the adapter of a format read the same
// code out of a recorded error.
func decodeError(r *record, cause *error) error {
	header := http.Header{"Content-Type": {r.contentType()}}
	var direct *upstream.Error
	switch r.format {
	case formatMessages:
		direct = messages.DecodeError(r.Status, header, []byte(r.Response))
	case formatGenerate:
		direct = generatecontent.DecodeError(r.Status, header, []byte(r.Response))
	}
	up, _, release, err := replay(r)
	if err != nil {
		return err
	}
	defer release()
	_, err = upstream.Collect(context.Background(), up, neutral(r.model(), false))
	*cause = err
	var e *upstream.Error
	switch {
	case err == nil:
		return errors.New("the adapter read it as a response")
	case !errors.As(err, &e):
		return fmt.Errorf("the adapter's error has type %T: %w", err, err)
	case e.Code == "":
		return fmt.Errorf("the adapter's error has no code: %w", describeError(err))
	case direct != nil && direct.Code != e.Code:
		return fmt.Errorf("the package's code is %s, the adapter's %s", direct.Code, e.Code)
	}
	return nil
}

// quotes checks that a cause, which the host's log contains, has the vendor's
// sentence. Words that resemble parts of a key may be replaced.
func quotes(message string, cause error) error {
	if message == "" || cause == nil {
		return errIncomparable
	}
	text := cause.Error()
	for word := range strings.FieldsSeq(message) {
		key := strings.Contains(word, "*") || strings.Contains(word, "sk-") || strings.Contains(word, "key")
		if len(text) < 1000 && !key && !strings.Contains(text, word) {
			return fmt.Errorf("%q is missing in %q", word, text)
		}
	}
	return nil
}

// errorThrough sends a request through a handler whose vendor sends the
// recorded error.
func errorThrough(r *record, format content.Format) error {
	up, _, release, err := replay(r)
	if err != nil {
		return err
	}
	defer release()
	got, err := send(format, up, simple(format, r.model(), whole, false))
	if err != nil {
		return err
	}
	v := parseJSON(got.body)
	sentence := stringAt(v, "error", "message")
	switch {
	case got.status < 400 || sentence == "":
		return fmt.Errorf("status %d: %s", got.status, clip(got.body, 300))
	case format == formatMessages && (stringAt(v, "type") != "error" || stringAt(v, "error", "type") == ""):
		return fmt.Errorf("not an error of Messages: %s", clip(got.body, 300))
	case format == formatGenerate && (numberAt(v, "error", "code") != int64(got.status) || stringAt(v, "error", "status") == ""):
		return fmt.Errorf("not an error of generateContent for status %d: %s", got.status, clip(got.body, 300))
	case r.Status == 429 && got.status != 429:
		return fmt.Errorf("status %d for 429: %s", got.status, clip(got.body, 300))
	}
	// A key that the vendor rejects belongs to the host. The client made no
	// error.
	lower := strings.ToLower(r.Response)
	key := strings.Contains(lower, "api key") && !strings.Contains(lower, "rate limit") && r.Status < 404
	if (key || r.Status == 401) && got.status < 500 {
		return fmt.Errorf("the client is blamed for the host's key: %d %s", got.status, clip(sentence, 200))
	}
	// Agents compact a conversation when they find their vendor's error text.
	if contextOverflow(lower) && format == formatMessages && !strings.Contains(strings.ToLower(sentence), "prompt is too long") {
		return fmt.Errorf("clients do not see that the prompt is too long: %d %s", got.status, clip(sentence, 200))
	}
	return nil
}

// contextOverflow reports whether an error in lower case means that a prompt is
// longer than the model's context.
func contextOverflow(text string) bool {
	for _, words := range []string{"too long", "maximum context length", "context window", "exceeds the maximum number of tokens"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

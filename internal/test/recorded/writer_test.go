package recorded

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// TestWriters checks that a program without HTTP writes what the handlers send.
func TestWriters(t *testing.T) {
	eachRecord(t, generated, func(t *testing.T, r *record) {
		up, _, release, err := replay(r)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		for _, to := range []content.Format{formatMessages, formatGenerate} {
			if r.format == to && !r.streamed() {
				continue // the handler forwards the document of the vendor
			}
			for _, asked := range []bool{true, false} {
				check(t, r, fmt.Sprintf("4w to %s, thinking requested %v", to, asked), func() error { return written(r, up, to, asked) })
			}
		}
	})
}

// written compares the response of a program without HTTP with that of a handler.
func written(r *record, up upstream.Upstream, to content.Format, asked bool) error {
	d := whole
	switch {
	case r.array() && to == r.format:
		d = jsonArray
	case r.streamed():
		d = eventStream
	}
	q := simple(to, r.model(), d, asked)
	want, err := send(to, up, q)
	if err != nil {
		return err
	}
	got, losses, err := respond(to, up, q, d)
	if err != nil {
		return err
	}
	if broken := to == formatGenerate && want.err == io.ErrUnexpectedEOF && want.report.Err != nil; want.err != nil && !broken {
		return want.err // a generateContent stream that failed breaks the connection
	}
	a, b := newIDs.ReplaceAllString(want.body, `"ID"`), newIDs.ReplaceAllString(got, `"ID"`)
	if a != b {
		i := 0
		for i < min(len(a), len(b)) && a[i] == b[i] {
			i++
		}
		return fmt.Errorf("the bodies differ at byte %d: %s\nthe handler's is %s", i, clip(b[max(0, i-40):], 200), clip(a[max(0, i-40):], 200))
	}
	if want.status == http.StatusOK && !sameLosses(want.report.Losses, losses) {
		return fmt.Errorf("losses %v, those of the handler are %v", losses, want.report.Losses)
	}
	return nil
}

// newIDs are ids that the packages make.
var newIDs = regexp.MustCompile(`"((msg_|req_|)[A-Z2-7]{26}|call_[a-z2-7]{24})"`)

func sameLosses(a, b []content.Loss) bool {
	texts := func(list []content.Loss) []string {
		var all []string
		for _, l := range lossplaces.Of(list) {
			all = append(all, l.String())
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	return slices.Equal(texts(a), texts(b))
}

// respond returns the response to a request without HTTP.
func respond(to content.Format, up upstream.Upstream, q request, d delivery) (body string, losses []content.Loss, err error) {
	var n *upstream.Request
	var b bytes.Buffer
	var w upstream.StreamWriter
	encode, failure := messages.EncodeResponse, messages.EncodeError
	if to == formatMessages {
		if n, losses, err = messages.DecodeRequest([]byte(q.body), nil); err != nil {
			return "", nil, err
		}
		w = messages.NewStreamWriter(&b, n)
	} else {
		if n, losses, err = generatecontent.DecodeRequest([]byte(q.body), nil); err != nil {
			return "", nil, err
		}
		name := strings.TrimPrefix(q.path, "/v1beta/models/")
		if n.Model, err = url.PathUnescape(name[:strings.LastIndex(name, ":")]); err != nil {
			return "", nil, err
		}
		n.Stream = d != whole
		w = generatecontent.NewStreamWriter(&b, n)
		if d == jsonArray {
			w = generatecontent.NewArrayWriter(&b, n)
		}
		encode, failure = generatecontent.EncodeResponse, generatecontent.EncodeError
	}
	if d == whole {
		resp, err := upstream.Collect(context.Background(), up, n)
		losses = append(losses, resp.Losses...)
		if err != nil {
			_, _, body := failure(n, err)
			return string(body), losses, nil
		}
		body, more := encode(n, resp)
		return string(body), append(losses, more...), nil
	}
	failed := upstream.Run(context.Background(), up, n, w)
	if failed != nil && b.Len() == 0 { // the handler responds with a status
		_, _, body := failure(n, failed)
		if d == jsonArray {
			return "[" + string(body) + "]", losses, nil
		}
		return string(body), losses, nil
	}
	_ = w.End(failed)
	return b.String(), append(losses, w.Losses()...), nil
}

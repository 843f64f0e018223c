package recorded

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/polywire/polywire/content"
	oldgc "github.com/polywire/polywire/internal/oracle/generatecontent"
	old "github.com/polywire/polywire/internal/oracle/messages"
	"github.com/polywire/polywire/upstream"
)

func oldHandler(format content.Format, up upstream.Upstream, report *upstream.Report) http.Handler {
	s := upstream.HandlerOptions{OnDone: func(_ context.Context, r *upstream.Report) { *report = *r }, ForwardLinks: true}
	if format == formatMessages {
		return old.NewHandler(up, &old.Options{HandlerOptions: s})
	}
	return oldgc.NewHandler(up, &oldgc.Options{HandlerOptions: s})
}

// TestOracle compares old and new handlers, also over upstreams whose events have no frames.
func TestOracle(t *testing.T) {
	n := 0
	eachRecord(t, generated, func(t *testing.T, r *record) {
		up, _, release, err := replay(r)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		unframed := upstream.Tap(up, func(_ context.Context, _ *upstream.Request, to upstream.Sink) (upstream.Sink, func(error)) {
			return upstream.SinkFunc(func(events []upstream.Event) error {
				for i := range events {
					events[i].Frame = nil
				}
				return to.Send(events)
			}), nil
		})
		for i, up := range []upstream.Upstream{up, unframed} {
			for _, to := range []content.Format{formatMessages, formatGenerate} {
				for _, asked := range []bool{true, false} {
					for _, d := range []delivery{whole, eventStream} {
						check(t, r, fmt.Sprintf("4o to %s, thinking requested %v %v %d", to, asked, d, i), func() error {
							q := simple(to, r.model(), d, asked)
							a, err := sendTo(oldHandler, to, up, q)
							if err != nil {
								return err
							}
							b, err := send(to, up, q)
							if err != nil {
								return err
							}
							x, y := newIDs.ReplaceAllString(a.body, `"ID"`), newIDs.ReplaceAllString(b.body, `"ID"`)
							if x != y {
								return fmt.Errorf("was %s\nis %s", clip(x, 2000), clip(y, 2000))
							}
							n++
							if !sameLosses(a.report.Losses, b.report.Losses) {
								return fmt.Errorf("losses %v, were %v", b.report.Losses, a.report.Losses)
							}
							return nil
						})
					}
				}
			}
		}
	})
	t.Log(n, "compared")
}

package crosstest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// handwritten writes the bytes of a request and returns the response, and whether the
// server closed the connection after it.
func (b *bubble) handwritten(t *testing.T, m mode, write func(c net.Conn)) (a *answer, closed bool) {
	t.Helper()
	c, err := b.Dial()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { write(c); close(done) }()
	defer func() { c.Close(); <-done }()
	from := bufio.NewReader(c)
	res, err := http.ReadResponse(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	a = b.format.receive(t, m, res)
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	_, err = from.ReadByte()
	return a, err == io.EOF
}

// TestSlowBody checks that a client has a minute for the body.
func TestSlowBody(t *testing.T) {
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		var seen probe
		s.inBubble(t, hello, seen.options(), func(t *testing.T, b *bubble) {
			start := time.Now()
			a, closed := b.handwritten(t, m, func(c net.Conn) {
				_, _ = io.WriteString(c, m.head("Content-Length: 100000"))
				for {
					if _, err := io.WriteString(c, " "); err != nil {
						return
					}
					time.Sleep(time.Second)
				}
			})
			formattest.Took(t, "giving up", time.Since(start), time.Minute, 2*time.Second)
			a.wants(t, s.failure(upstream.CodeInvalid), "")
			if !closed || s.bodyTimeout != "" && a.details != s.bodyTimeout {
				t.Errorf("closed is %v; details %s", closed, a.details)
			}
			if r := seen.one(t); r.Status != 400 || r.BytesIn < 50 {
				t.Errorf("report: %+v", r)
			}
		})
	})
}

// TestDeadlineLifted checks that the deadline for the body does not apply to the
// response.
func TestDeadlineLifted(t *testing.T) {
	up := upstream.Func(func(c context.Context, _ *upstream.Request, w *upstream.Writer) error {
		if err := formattest.Sleep(c, 3*time.Minute); err != nil {
			return err
		}
		return w.Text("Hello.")
	})
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		s.inBubble(t, up, upstream.HandlerOptions{}, func(t *testing.T, b *bubble) {
			if a := b.ask(t, m); !strings.Contains(a.body, "Hello") {
				t.Errorf("response: %s", a.body)
			}
		})
	})
}

// TestUnread checks that rejecting a request without reading its body closes the
// connection.
func TestUnread(t *testing.T) {
	big := strings.Repeat(" ", 1<<20)
	for _, tt := range []struct {
		name  string
		write func(s wireFormat, m mode, c net.Conn)
		code  upstream.Code
	}{
		{"Content-Length beyond the limit", func(_ wireFormat, m mode, c net.Conn) {
			_, _ = io.WriteString(c, m.head("Content-Length: 999999999"))
		}, upstream.CodeTooLarge},
		{"chunked body beyond the limit", func(_ wireFormat, m mode, c net.Conn) {
			_, _ = io.WriteString(c, m.head("Transfer-Encoding: chunked"))
			for {
				if _, err := fmt.Fprintf(c, "%x\r\n%s\r\n", len(big), big); err != nil {
					return
				}
			}
		}, upstream.CodeTooLarge},
		{"invalid header", func(s wireFormat, m mode, c net.Conn) {
			_, _ = io.WriteString(c, "POST "+m.path+" HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n"+s.invalid+"\r\n\r\n")
		}, upstream.CodeInvalid},
		{"unknown path", func(_ wireFormat, _ mode, c net.Conn) {
			_, _ = io.WriteString(c, "POST /v1/other HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n")
		}, upstream.CodeNotFound},
		{"invalid chunk", func(_ wireFormat, m mode, c net.Conn) {
			_, _ = io.WriteString(c, m.head("Transfer-Encoding: chunked")+"zz\r\n")
		}, upstream.CodeInvalid},
	} {
		eachFormat(t, func(t *testing.T, s wireFormat) {
			m := s.modes[0]
			t.Run(tt.name, func(t *testing.T) {
				s.inBubble(t, hello, upstream.HandlerOptions{Limits: content.Limits{Body: 8 << 20}}, func(t *testing.T, b *bubble) {
					start := time.Now()
					a, closed := b.handwritten(t, m, func(c net.Conn) { tt.write(s, m, c) })
					a.wants(t, s.failure(tt.code), "")
					if !closed || time.Since(start) > 10*time.Second {
						t.Errorf("closed is %v after %v", closed, time.Since(start))
					}
				})
			})
		})
	}
}

// TestLeavesWithinBody checks a client that disconnects while it sends the body: the
// upstream is not called, and the budget is released.
func TestLeavesWithinBody(t *testing.T) {
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		var seen probe
		o := seen.options()
		up := upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error {
			t.Error("called")
			return nil
		})
		s.inBubble(t, up, o, func(t *testing.T, b *bubble) {
			c, err := b.Dial()
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(c, m.head("Content-Length: 1000")+m.body)
			c.Close()
			if r := seen.one(t); r.Status != 499 || r.Err == nil || r.BytesIn != int64(len(m.body)) {
				t.Errorf("report: %+v", r)
			}
			checkInFlight(t, o.Budget, 0, 0)
		})
	})
}

// TestBudget checks that requests beyond the budget are rejected at once.
func TestBudget(t *testing.T) {
	up := upstream.Func(func(c context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = formattest.Sleep(c, time.Second)
		return w.Text("Hello.")
	})
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		for _, budget := range []*upstream.Budget{{Requests: 1}, {Bytes: int64(len(m.body)) + 10}} {
			s.inBubble(t, up, upstream.HandlerOptions{Budget: budget}, func(t *testing.T, b *bubble) {
				first := make(chan int)
				go func() { first <- b.ask(t, m).status }()
				synctest.Wait()
				start := time.Now()
				a := b.ask(t, m)
				a.wants(t, s.failure(upstream.CodeOverloaded), s.errorText("overloaded"))
				if a.header.Get("Retry-After") != "1" || time.Since(start) != 0 || strings.Contains(a.details, "retryDelay:1s") != s.retryDetail {
					t.Errorf("%v after %v; details %s", a.header, time.Since(start), a.details)
				}
				if status := <-first; status != 200 {
					t.Errorf("the first: %d", status)
				}
				if a := b.ask(t, m); a.status != 200 {
					t.Errorf("afterwards: %d", a.status)
				}
				checkInFlight(t, budget, 0, 0)
			})
		}
	})
}

// TestRejectLoss checks that losses are rejected before the response begins, with paths
// of the client's document, and that OnLoss reports them.
func TestRejectLoss(t *testing.T) {
	losses := []content.Loss{
		{Path: "turns.0.parts.0", Severity: content.LossDegraded, Reason: "sent in another form"},
		{Path: "top_k", Severity: content.LossHint, Reason: "irrelevant"},
		{Path: "stop_sequences", Severity: content.LossDropped, Reason: "unsupported"},
	}
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		if err := w.Loss(losses); err != nil {
			return fmt.Errorf("encoding: %w", err)
		}
		return w.Text("Hello.")
	})
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		var seen probe
		o, heard := seen.options(), 0
		o.RejectLoss = content.LossDegraded
		o.OnLoss = func(_ context.Context, ls []content.Loss) { heard += len(ls) }
		s.inBubble(t, up, o, func(t *testing.T, b *bubble) {
			b.ask(t, m).wants(t, s.failure(upstream.CodeInvalid), s.errorText("rejected losses"))
			if r := seen.one(t); len(r.Losses) != 3 || heard != 3 {
				t.Errorf("%d losses in the report, %d reported to OnLoss", len(r.Losses), heard)
			}
		})
	})
}

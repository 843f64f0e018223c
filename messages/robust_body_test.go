package messages

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/formattest"
	"github.com/polywire/polywire/upstream"
)

// requestHead returns the head of a request with an additional header line.
func requestHead(line string) string {
	return "POST /v1/messages HTTP/1.1\r\nHost: x\r\nanthropic-version: 2023-06-01\r\n" + line + "\r\n\r\n"
}

// raw writes the bytes of a request and returns the response, and whether the server
// closed the connection after it.
func raw(t *testing.T, p *pipeServer, write func(c net.Conn)) (res *http.Response, closed bool) {
	t.Helper()
	c, err := p.Dial()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { write(c); close(done) }()
	defer func() { c.Close(); <-done }()
	b := bufio.NewReader(c)
	res, err = http.ReadResponse(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	_, err = b.ReadByte()
	return res, err == io.EOF
}

func TestSlowBody(t *testing.T) {
	var seen probe
	inBubble(t, hello, Options{HandlerOptions: seen.serving()}, func(t *testing.T, p *pipeServer) {
		start := time.Now()
		res, closed := raw(t, p, func(c net.Conn) {
			_, _ = io.WriteString(c, requestHead("Content-Length: 100000"))
			for {
				if _, err := io.WriteString(c, " "); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		})
		formattest.Took(t, "giving up", time.Since(start), time.Minute, 2*time.Second)
		checkError(t, res, 400, "invalid_request_error", "", "request_body_timeout")
		if !closed {
			t.Error("the connection is open")
		}
		if r := seen.one(t); r.Status != 400 || r.BytesIn < 50 {
			t.Errorf("report: %+v", r)
		}
	})
}

// TestDeadlineLifted checks that the deadline for the body does not apply to the
// response.
func TestDeadlineLifted(t *testing.T) {
	up := upstream.Func(func(c context.Context, _ *upstream.Request, w *upstream.Writer) error {
		if err := formattest.Sleep(c, 3*time.Minute); err != nil {
			return err
		}
		return w.Text("Hello")
	})
	inBubble(t, up, Options{}, func(t *testing.T, p *pipeServer) {
		if _, body := p.mustSend(t, smallBody); !strings.Contains(body, "Hello") {
			t.Errorf("response: %s", body)
		}
	})
}

// TestUnread checks that refusing a request without reading its body closes the
// connection.
func TestUnread(t *testing.T) {
	big := strings.Repeat(" ", 1<<20)
	for _, tt := range []struct {
		name   string
		write  func(c net.Conn)
		status int
		kind   string
	}{
		{"Content-Length beyond the limit", func(c net.Conn) {
			_, _ = io.WriteString(c, requestHead("Content-Length: 99999999"))
		}, 413, "request_too_large"},
		{"chunked body beyond the limit", func(c net.Conn) {
			_, _ = io.WriteString(c, requestHead("Transfer-Encoding: chunked"))
			for {
				if _, err := fmt.Fprintf(c, "%x\r\n%s\r\n", len(big), big); err != nil {
					return
				}
			}
		}, 413, "request_too_large"},
		{"no version", func(c net.Conn) {
			_, _ = io.WriteString(c, "POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n")
		}, 400, "invalid_request_error"},
		{"unknown path", func(c net.Conn) {
			_, _ = io.WriteString(c, "POST /v1/other HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n")
		}, 404, "not_found_error"},
		{"invalid chunk", func(c net.Conn) {
			_, _ = io.WriteString(c, requestHead("Transfer-Encoding: chunked")+"zz\r\n")
		}, 400, "invalid_request_error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, hello, Options{}, func(t *testing.T, p *pipeServer) {
				start := time.Now()
				res, closed := raw(t, p, tt.write)
				checkError(t, res, tt.status, tt.kind, "", "")
				if !closed || time.Since(start) > 10*time.Second {
					t.Errorf("closed is %v after %v", closed, time.Since(start))
				}
			})
		})
	}
}

// TestLeavesWithinBody checks a client that disconnects while it sends the body: the
// upstream is not called, and the budget is released.
func TestLeavesWithinBody(t *testing.T) {
	var seen probe
	o := Options{HandlerOptions: seen.serving()}
	o.Budget = new(upstream.Budget)
	up := upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error {
		t.Error("called")
		return nil
	})
	inBubble(t, up, o, func(t *testing.T, p *pipeServer) {
		c, err := p.Dial()
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, requestHead("Content-Length: 1000")+smallBody)
		c.Close()
		if r := seen.one(t); r.Status != 499 || r.Err == nil || r.BytesIn != int64(len(smallBody)) {
			t.Errorf("report: %+v", r)
		}
		if n, bytes := o.Budget.InFlight(); n != 0 || bytes != 0 {
			t.Errorf("in flight: %d, %d bytes", n, bytes)
		}
	})
}

// TestBudget checks that requests beyond the budget are refused immediately.
func TestBudget(t *testing.T) {
	for _, tt := range []struct {
		name   string
		budget *upstream.Budget
	}{
		{"requests", &upstream.Budget{Requests: 1}},
		{"bytes", &upstream.Budget{Bytes: int64(len(smallBody)) + 10}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			up := upstream.Func(func(c context.Context, _ *upstream.Request, w *upstream.Writer) error {
				_ = formattest.Sleep(c, time.Second)
				return w.Text("Hello")
			})
			budget := tt.budget
			o := Options{HandlerOptions: upstream.HandlerOptions{Budget: budget}}
			inBubble(t, up, o, func(t *testing.T, p *pipeServer) {
				first := make(chan int)
				go func() {
					res, _ := p.mustSend(t, smallBody)
					first <- res.StatusCode
				}()
				synctest.Wait()
				start := time.Now()
				res, body := p.mustSend(t, smallBody)
				res.Body = io.NopCloser(strings.NewReader(body))
				checkError(t, res, 529, "overloaded_error", "Overloaded", "")
				if res.Header.Get("Retry-After") != "1" || time.Since(start) != 0 {
					t.Errorf("Retry-After %q after %v", res.Header.Get("Retry-After"), time.Since(start))
				}
				if status := <-first; status != 200 {
					t.Errorf("the first: %d", status)
				}
				if res, _ := p.mustSend(t, smallBody); res.StatusCode != 200 {
					t.Errorf("afterwards: %d", res.StatusCode)
				}
				if n, bytes := budget.InFlight(); n != 0 || bytes != 0 {
					t.Errorf("in flight: %d, %d bytes", n, bytes)
				}
			})
		})
	}
}

// TestRefuse checks that losses are refused before the response begins, with paths
// of the request, and that OnLoss reports them.
func TestRefuse(t *testing.T) {
	losses := []content.Loss{
		{Path: "turns.0.parts.0", Severity: content.LossDegraded, Reason: "sent in another form"},
		{Path: "top_k", Severity: content.LossHint, Reason: "irrelevant"},
		{Path: "tools.1", Severity: content.LossDropped, Reason: "unsupported"},
	}
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		if err := w.Loss(losses); err != nil {
			return fmt.Errorf("encoding: %w", err)
		}
		return w.Text("Hello")
	})
	for _, body := range []string{smallBody, streamBody} {
		var seen probe
		var heard atomic.Int32
		o := Options{HandlerOptions: seen.serving()}
		o.RejectLoss = content.LossDegraded
		o.OnLoss = func(_ context.Context, ls []content.Loss) { heard.Add(int32(len(ls))) }
		inBubble(t, up, o, func(t *testing.T, p *pipeServer) {
			res, answer := p.mustSend(t, body)
			res.Body = io.NopCloser(strings.NewReader(answer))
			checkError(t, res, 400, "invalid_request_error",
				"messages.0.content.0: the request is rejected because of a loss: sent in another form\n"+
					"tools.1: the request is rejected because of a loss: unsupported", "")
			if r := seen.one(t); len(r.Losses) != 3 || heard.Load() != 3 {
				t.Errorf("%d losses in the report, %d reported to OnLoss", len(r.Losses), heard.Load())
			}
		})
	}
}

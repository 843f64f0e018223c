package crosstest

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire"
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// TestNewHandler checks that the handler of all formats serves each of them, alone, behind a validator
// of all formats and within another list, with the host's options, and with one Budget.
func TestNewHandler(t *testing.T) {
	var budget upstream.Budget
	up := upstream.Func(func(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
		if n, _ := budget.InFlight(); n != 1 {
			t.Errorf("the Budget has %d requests", n)
		}
		return w.Text(upstream.RequestID(ctx) + " Hello")
	})
	id := func(*http.Request) string { return "req_1" }
	all := polywire.NewHandler(up, &upstream.HandlerOptions{RequestID: id, Budget: &budget})
	// The validator makes the id, which the next handler keeps.
	valid := polywire.NewValidator(polywire.NewHandler(up, &upstream.HandlerOptions{Budget: &budget}), &upstream.HandlerOptions{RequestID: id})
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		for name, h := range map[string]http.Handler{"handler": all, "validator": valid, "nested": upstream.Handlers(all)} {
			a := s.serve(t, h, m, m.request())
			if a.status != 200 || !strings.Contains(a.body, "req_1 ") || a.header.Get(s.id) != "req_1" {
				t.Errorf("%s: got %d %v %s", name, a.status, a.header, a.body)
			}
		}
		want, got := httptest.NewRecorder(), httptest.NewRecorder()
		full := &upstream.Error{Code: upstream.CodeRateLimit, Text: "Later."}
		s.handler(up, upstream.HandlerOptions{RequestID: id}).WriteError(want, m.request(), full)
		all.WriteError(got, m.request(), full)
		if got.Code != want.Code || got.Body.String() != want.Body.String() || !cmp.Equal(got.Header(), want.Header()) {
			t.Errorf("WriteError: got %d %v %s, want %d %v %s", got.Code, got.Header(), got.Body, want.Code, want.Header(), want.Body)
		}
		if !all.Match(m.request()) || all.Match(newRequest("POST", "/v1/other", "{}")) || !all.Resembles(m.request()) {
			t.Error("the list does not match as its handlers do")
		}
	})
}

// TestProxyErrors checks that the client of a proxy behind a validator receives the proxy's errors in
// its own format and with the id of its request, and that the request is reported once, as canceled if
// the client has left.
func TestProxyErrors(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	target, err := url.Parse(gone.URL)
	if err != nil {
		t.Fatal(err)
	}
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		var ids []string
		var reports []*upstream.Report
		proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			ids = append(ids, upstream.RequestID(r.In.Context()))
		}}
		valid := polywire.NewValidator(proxy, &upstream.HandlerOptions{Logger: slog.New(slog.DiscardHandler), OnDone: func(_ context.Context, r *upstream.Report) { reports = append(reports, r) }})
		proxy.ErrorHandler = func(w http.ResponseWriter, r *http.Request, err error) {
			valid.WriteError(w, r, &upstream.Error{Code: upstream.CodeBadGateway, Err: err})
		}
		a := s.serve(t, valid, m, m.request())
		if a.status < 500 || a.message == "" || len(ids) != 1 || a.header.Get(s.id) != ids[0] {
			t.Errorf("got %d %v %s; ids %q", a.status, a.header, a.body, ids)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		valid.ServeHTTP(httptest.NewRecorder(), m.request().WithContext(ctx))
		if len(reports) != 2 || reports[0].Code != upstream.CodeBadGateway || reports[1].Code != upstream.CodeCanceled || reports[1].Status != 499 {
			t.Errorf("reports: %+v", reports)
		}
	})
}

// TestClientPath checks that OnLoss and OnDone can convert the paths of losses to those that the client
// receives in its header.
func TestClientPath(t *testing.T) {
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		if err := w.Loss([]content.Loss{{Path: "turns.0", Severity: content.LossDropped, Reason: "It was dropped."}}); err != nil {
			return err
		}
		return w.Text("Hello.")
	})
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		var found, done string
		a := s.serve(t, s.handler(up, upstream.HandlerOptions{
			OnLoss: func(ctx context.Context, l []content.Loss) { found = upstream.ClientPath(ctx, l[0].Path) },
			OnDone: func(ctx context.Context, r *upstream.Report) { done = upstream.ClientPath(ctx, r.Losses[0].Path) },
		}), m, m.request())
		if want := "dropped " + found; a.header.Get("Polywire-Loss") != want || done != found || found == "turns.0" {
			t.Errorf("OnLoss has %q, OnDone %q, the client %q", found, done, a.header.Get("Polywire-Loss"))
		}
	})
	if got := upstream.ClientPath(t.Context(), "turns.0"); got != "turns.0" {
		t.Errorf("without a handler: %q", got)
	}
}

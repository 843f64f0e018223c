package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
)

// A listener is a server that keeps the headers of the last request.
type listener struct {
	mu   sync.Mutex
	last http.Header
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = r.Header.Clone()
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"error":{"type":"api_error","code":500,"message":"x"}}`)
}

// TestForwardHeaders checks which headers of a client reach the vendor of its
// format, that none reaches another vendor, and that headers that are not sent
// are reported.
func TestForwardHeaders(t *testing.T) {
	for _, tt := range []struct {
		name    string
		forward []string
		billing bool
		own     string // expected workspace, profile and trace at the vendor of the format
		losses  map[string]content.Severity
	}{
		{"default", nil, false, "wrkspc_1|prof_1|", nil},
		{"with billing", nil, true, "wrkspc_1|prof_1|", nil},
		{"another", []string{"X-Trace", "x-trace", "ANTHROPIC-user-profile-id"}, true, "|prof_1|t1,t2", map[string]content.Severity{"headers.anthropic-workspace-id": content.LossHint}},
		{"none", []string{}, true, "||", map[string]content.Severity{"headers.anthropic-workspace-id": content.LossHint, "headers.anthropic-user-profile-id": content.LossDropped}},
		{"none, without billing", []string{}, false, "||", map[string]content.Severity{"headers.anthropic-workspace-id": content.LossHint, "headers.anthropic-user-profile-id": content.LossHint}},
	} {
		for _, f := range endpoints {
			for _, b := range adapters {
				t.Run(tt.name+": "+f.name+"→"+b.name, func(t *testing.T) {
					var vendor listener
					s := httptest.NewServer(&vendor)
					defer s.Close()
					g := newGateway(f, b.at(t, s.URL, s.Client()), upstream.HandlerOptions{ForwardHeaders: tt.forward})
					for _, m := range []mode{whole, sse, count} {
						members := (&vendorResponse{}).request(f)
						if f.name == "messages" && tt.billing {
							members += `,"billing_policy":{"type":"billing_policy","bill_to":"user_profile"}`
						}
						r := f.request("m", members, m)
						r.Header.Set("Anthropic-Beta", "user-profiles-billing-2026-10-01")
						for name, list := range map[string][]string{"Anthropic-Workspace-Id": {"wrkspc_1"}, "Anthropic-User-Profile-Id": {"prof_1"}, "X-Trace": {"t1", "t2"}, "X-Secret": {"s"}} {
							r.Header[name] = list
						}
						vendor.last = nil
						g.handler.ServeHTTP(httptest.NewRecorder(), r)
						report := <-g.reports
						if vendor.last == nil {
							if m != count {
								t.Errorf("%s: no request was sent: %v", m, report.Err)
							}
							continue
						}
						got := ""
						for _, name := range []string{"Anthropic-Workspace-Id", "Anthropic-User-Profile-Id", "X-Trace"} {
							got += strings.Join(vendor.last.Values(name), ",") + "|"
						}
						want := "|||"
						switch {
						case f.name == b.format && f.name == "messages":
							want = tt.own + "|"
						case f.name == b.format && tt.name == "another":
							want = "|prof_1|t1,t2|" // the host lists them
						}
						if got != want || vendor.last.Get("X-Secret") != "" {
							t.Errorf("%s: sent %q, want %q", m, got, want)
						}
						losses := map[string]content.Severity{}
						for _, l := range lossplaces.Of(report.Losses) {
							if strings.HasPrefix(l.Path, "headers.") {
								losses[l.Path] = l.Severity
							}
						}
						wantLosses := map[string]content.Severity{}
						if f.name == "messages" {
							for path, s := range tt.losses {
								wantLosses[path] = s
							}
						}
						if f.name != b.format { // a header that would be forwarded is not sent
							names := tt.forward
							if names == nil && f.name == "messages" {
								names = []string{"anthropic-workspace-id", "anthropic-user-profile-id"}
							}
							for _, name := range names {
								wantLosses["headers."+strings.ToLower(name)] = content.LossHint
							}
						}
						if diff := cmp.Diff(wantLosses, losses); diff != "" && m != count { // a failed count has no losses
							t.Errorf("%s: losses (-want +got):\n%s", m, diff)
						}
					}
				})
			}
		}
	}
}

// TestForwardHeadersOfHosts checks that headers of the host replace those of
// its clients, and which names a host may not forward.
func TestForwardHeadersOfHosts(t *testing.T) {
	var vendor listener
	s := httptest.NewServer(&vendor)
	defer s.Close()
	up, err := anthropic.New(&anthropic.Options{BaseURL: s.URL, Key: hostKey, HTTPClient: s.Client(), Header: http.Header{"anthropic-workspace-id": {"of the host"}}})
	if err != nil {
		t.Fatal(err)
	}
	f := endpointNamed("messages")
	r := f.request("m", (&vendorResponse{}).request(f), whole)
	r.Header.Set("Anthropic-Workspace-Id", "of the client")
	f.handler(up, upstream.HandlerOptions{}).ServeHTTP(httptest.NewRecorder(), r)
	if got := vendor.last.Values("Anthropic-Workspace-Id"); len(got) != 1 || got[0] != "of the host" {
		t.Errorf("sent %q", got)
	}
	for _, name := range []string{"", "a b", "a\nb", "X-Api-Key", "authorization", "Cookie", "Host", "Content-Type", "Accept-Encoding", "Connection", "Anthropic-Beta"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q may be forwarded", name)
				}
			}()
			messages.NewHandler(up, &messages.Options{HandlerOptions: upstream.HandlerOptions{ForwardHeaders: []string{name}}})
		}()
	}
}

package handler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

type namedFormat struct{ Protocol }

func (namedFormat) Format() content.Format { return "f" }

// TestLog checks the level and the attributes of failures in the log.
func TestLog(t *testing.T) {
	broken := errors.New("broken")
	clientTimeout, cancel := context.WithCancelCause(t.Context())
	cancel(errClientTimeout)
	violations := func(path string) []*content.Violation {
		return []*content.Violation{{Code: content.CodeType, Path: path, Text: "quotes the client"}, {Code: content.CodeValue}}
	}
	for _, tt := range []struct {
		name string
		ctx  context.Context
		f    *Failure
		want string
	}{
		{"host's", t.Context(), &Failure{Code: upstream.CodeInternal, Err: broken}, `level=ERROR msg="request failed" code=internal cause=broken`},
		{"upstream's", t.Context(), &Failure{Code: upstream.CodeBadGateway, Err: &upstream.Error{Code: upstream.CodeBadGateway, Err: broken}},
			`level=ERROR msg="request failed" code=bad_gateway cause=broken`},
		{"idle upstream", t.Context(), &Failure{Code: upstream.CodeTimeout, Err: errIdle},
			`level=ERROR msg="request failed" code=timeout cause="the upstream sent no event for Timeouts.Idle"`},
		{"client timeout", clientTimeout, &Failure{Code: upstream.CodeTimeout, Err: context.DeadlineExceeded},
			`level=DEBUG msg="request failed" code=timeout cause="context deadline exceeded"`},
		{"Budget exhausted", t.Context(), overloaded().(*Failure),
			`level=WARN msg="request failed" code=overloaded cause="the Budget for bytes or requests in flight is exhausted"`},
		{"billing", t.Context(), &Failure{Code: upstream.CodeBilling}, `level=WARN msg="request failed" code=billing`},
		{"host's quota", t.Context(), FailureOf(&upstream.Error{Code: upstream.CodeRateLimit, Text: "1000 tokens a minute\nare used up"}),
			`level=WARN msg="request failed" code=rate_limit cause="1000 tokens a minute are used up"`},
		{"key in a quota's text", t.Context(), FailureOf(&upstream.Error{Code: upstream.CodeQuota, Text: "no tokens for sk-abcdefghijklmnopqrstuvwxyz0123"}),
			`level=WARN msg="request failed" code=quota cause="no tokens for [removed]"`},
		{"missing key", t.Context(), &Failure{Code: upstream.CodeUnauthenticated, Text: "quotes the client"},
			`level=DEBUG msg="request refused" code=unauthenticated`},
		{"unknown model", t.Context(), FailureOf(&upstream.Error{Code: upstream.CodeNotFound, Text: "quotes the client"}),
			`level=DEBUG msg="request refused" code=not_found`},
		{"nested texts", t.Context(), FailureOf(&upstream.Error{Code: upstream.CodeInternal, Err: fmt.Errorf("why: %w",
			&upstream.Error{Code: upstream.CodeNotFound, Text: "quotes the client"})}), `level=ERROR msg="request failed" code=internal cause=not_found`},
		{"violations", t.Context(), &Failure{Code: upstream.CodeInvalid, Violations: violations("a.0"), More: 3},
			`level=DEBUG msg="request refused" code=invalid violations=5 violation=type at=a.0`},
		{"violation of the whole document", t.Context(), &Failure{Code: upstream.CodeInvalid, Violations: violations("")[:1]},
			`level=DEBUG msg="request refused" code=invalid violations=1 violation=type`},
		{"long path from the client", t.Context(), &Failure{Code: upstream.CodeInvalid, Violations: violations("a[x\n" + strings.Repeat("é", 5000))},
			`level=DEBUG msg="request refused" code=invalid violations=2 violation=type at="a[x ` + strings.Repeat("é", 124) + `…"`},
	} {
		var seen bytes.Buffer
		l := slog.New(slog.NewTextHandler(&seen, &slog.HandlerOptions{Level: slog.LevelDebug}))
		x := &exchange{s: &Handler{options: upstream.HandlerOptions{Logger: l}, protocol: namedFormat{}}, r: httptest.NewRequest("POST", "/p", nil), id: "r", report: upstream.Report{Path: "/p"}}
		x.logFailure(tt.ctx, tt.f)
		_, got, _ := strings.Cut(seen.String(), " ") // without the time
		if want := tt.want + " request=r format=f path=/p\n"; got != want {
			t.Errorf("%s:\ngot  %swant %s", tt.name, got, want)
		}
		if text := tt.f.Error(); strings.Count(text, string(tt.f.Code)) != 1 {
			t.Errorf("%s: the report has %q", tt.name, text)
		}
	}
}

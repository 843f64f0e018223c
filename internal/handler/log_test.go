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

type namedFormat struct{ Dialect }

func (namedFormat) Format() content.Format { return "f" }

// TestLog checks what a failure is told as: at which level, and with which words.
func TestLog(t *testing.T) {
	broken := errors.New("broken")
	hasty, cancel := context.WithCancelCause(t.Context())
	cancel(errWithin)
	fault := func(path string) []*content.Violation {
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
		{"slow", t.Context(), &Failure{Code: upstream.CodeTimeout, Err: errSilence},
			`level=ERROR msg="request failed" code=timeout cause="the upstream was silent for too long"`},
		{"impatient", hasty, &Failure{Code: upstream.CodeTimeout, Err: context.DeadlineExceeded},
			`level=DEBUG msg="request failed" code=timeout cause="context deadline exceeded"`},
		{"busy", t.Context(), overloaded().(*Failure),
			`level=WARN msg="request failed" code=overloaded cause="the budget of bytes or requests in flight is used up"`},
		{"poor", t.Context(), &Failure{Code: upstream.CodeBilling}, `level=WARN msg="request failed" code=billing`},
		{"no key", t.Context(), &Failure{Code: upstream.CodeUnauthenticated, Text: "quotes the client"},
			`level=DEBUG msg="request refused" code=unauthenticated`},
		{"no model", t.Context(), Explain(&upstream.Error{Code: upstream.CodeNotFound, Text: "quotes the client"}),
			`level=DEBUG msg="request refused" code=not_found`},
		{"texts within", t.Context(), Explain(&upstream.Error{Code: upstream.CodeInternal, Err: fmt.Errorf("why: %w",
			&upstream.Error{Code: upstream.CodeNotFound, Text: "quotes the client"})}), `level=ERROR msg="request failed" code=internal cause=not_found`},
		{"faults", t.Context(), &Failure{Code: upstream.CodeInvalid, Violations: fault("a.0"), More: 3},
			`level=DEBUG msg="request refused" code=invalid faults=5 fault=type at=a.0`},
		{"of the whole", t.Context(), &Failure{Code: upstream.CodeInvalid, Violations: fault("")[:1]},
			`level=DEBUG msg="request refused" code=invalid faults=1 fault=type`},
		{"a name of the client's", t.Context(), &Failure{Code: upstream.CodeInvalid, Violations: fault("a[x\n" + strings.Repeat("é", 5000))},
			`level=DEBUG msg="request refused" code=invalid faults=2 fault=type at="a[x ` + strings.Repeat("é", 124) + `…"`},
	} {
		var seen bytes.Buffer
		l := slog.New(slog.NewTextHandler(&seen, &slog.HandlerOptions{Level: slog.LevelDebug}))
		x := &exchange{s: &Server{serving: upstream.HandlerOptions{Logger: l}, dialect: namedFormat{}}, r: httptest.NewRequest("POST", "/p", nil), id: "r"}
		x.log(tt.ctx, tt.f)
		_, got, _ := strings.Cut(seen.String(), " ") // without the time
		if want := tt.want + " request=r format=f path=/p\n"; got != want {
			t.Errorf("%s:\ngot  %swant %s", tt.name, got, want)
		}
		if text := tt.f.Error(); strings.Count(text, string(tt.f.Code)) != 1 {
			t.Errorf("%s: the report says %q", tt.name, text)
		}
	}
}

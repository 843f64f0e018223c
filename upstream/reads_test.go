package upstream_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

// last repeats the texts of the last turn.
func last(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
	for _, p := range r.LastParts() {
		if t, ok := p.(*content.Text); ok {
			if err := w.Text(t.Text); err != nil {
				return err
			}
		}
	}
	return nil
}

// notRead are the fields of a Request that Reads does not report.
var notRead = []string{
	"Model",             // the model's name
	"Defaults",          // of the client's vendor: not in the request
	"Session", "Header", // of the transport
	"Stream", "Resolver", "ForwardLinks", "RejectLoss", "Wire", // of the host and the handler
}

// TestReadsFields checks that every field of a request is reported unless its name is listed.
func TestReadsFields(t *testing.T) {
	one, half := int64(1), 0.5
	full := upstream.Request{
		System: []content.Part{&content.Text{Text: "a"}}, Tools: []content.Tool{{Name: "t"}}, Choice: content.ToolChoice{Mode: content.ChoiceAny},
		Turns:     []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "a"}}}, {Role: content.RoleUser}},
		MaxTokens: &one, Temperature: &half, TopP: &half, TopK: &one, Seed: &one, PresencePenalty: &half, FrequencyPenalty: &half,
		StopSequences: []string{"x"}, Candidates: 2, Thinking: upstream.Thinking{Mode: upstream.ThinkingAuto},
		Output: upstream.Output{MediaType: "application/json"}, UserID: "u", ServiceTier: "flex",
		Extra: &content.Extra{Format: messages.Format, JSON: `{"flavour":"sweet"}`},
	}
	names := map[string]string{"Choice": "tools"}
	for i := range reflect.TypeFor[upstream.Request]().NumField() {
		field := reflect.TypeFor[upstream.Request]().Field(i).Name
		if slices.Contains(notRead, field) {
			continue
		}
		var r upstream.Request
		value := reflect.ValueOf(&full).Elem().Field(i)
		if value.IsZero() {
			t.Errorf("%s: no value in this test", field)
			continue
		}
		reflect.ValueOf(&r).Elem().Field(i).Set(value)
		losses, err := upstream.Preflight(t.Context(), upstream.Reads(upstream.Func(last)), &r)
		if err != nil || len(losses) != 1 {
			t.Errorf("%s: %v, %v", field, losses, err)
			continue
		}
		if field == "Extra" {
			continue // no name
		}
		name, ok := names[field]
		if !ok {
			name, _, _ = strings.Cut(losses[0].Path, ".")
		}
		if losses, _ = upstream.Preflight(t.Context(), upstream.Reads(upstream.Func(last), name), &r); len(losses) > 0 {
			t.Errorf("%s: with %q: %v", field, name, losses)
		}
	}
	for i := range reflect.TypeFor[upstream.Output]().NumField() {
		var r upstream.Request
		o := upstream.Output{
			Modalities: []string{"image"}, MediaType: "application/json", Schema: content.Schema{JSON: "{}"}, Name: "n", Description: "d",
			Strict: new(true), Verbosity: "low", AspectRatio: "16:9", ImageSize: "2K", Extra: &content.Extra{},
		}
		reflect.ValueOf(&r.Output).Elem().Field(i).Set(reflect.ValueOf(o).Field(i))
		losses, err := upstream.Preflight(t.Context(), upstream.Reads(upstream.Func(last)), &r)
		field := reflect.TypeFor[upstream.Output]().Field(i).Name
		if of := slices.Contains([]string{"Name", "Description", "Strict"}, field); err != nil || of != (len(losses) == 0) { // these are of the schema
			t.Errorf("Output.%s: %v, %v", field, losses, err)
		}
	}
}

// TestReads checks the places and severities, RejectLoss, and the operations of the model.
func TestReads(t *testing.T) {
	r := &upstream.Request{
		System: []content.Part{&content.Text{Text: "a"}, &content.Image{}},
		Turns: []content.Turn{
			{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "a"}}},
			{Role: content.RoleAssistant, Parts: []content.Part{&content.Thinking{Text: "b"}, &content.Text{Text: "c"}, &content.ToolUse{ID: "d", Name: "e"}}},
			{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{ID: "d"}, &content.Text{Text: "f"}}},
		},
		Extra: &content.Extra{Format: messages.Format, JSON: `{"flavour":"sweet"}`},
	}
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{nil, "dropped system.0 system.1 turns.0 turns.1 turns.2.parts.0; dropped extra.flavour"},
		{[]string{"system", "turns"}, "dropped system.1 turns.1.parts.2 turns.2.parts.0; hint turns.1.parts.0; dropped extra.flavour"},
		{[]string{"system", "turns", "parts"}, "dropped extra.flavour"},
	} {
		up := upstream.Reads(upstream.Func(last), tt.names...)
		response, err := upstream.Collect(t.Context(), up, r)
		var got []string
		for _, l := range response.Losses {
			got = append(got, l.Severity.String()+" "+strings.Join(slices.Collect(l.Places()), " "))
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, "; ")); err != nil || diff != "" || len(response.Parts) != 1 {
			t.Errorf("%q: %v, %v (-want +got):\n%s", tt.names, response.Parts, err, diff)
		}
		strict := r.Clone()
		strict.RejectLoss = content.LossDegraded
		response, err = upstream.Collect(t.Context(), up, strict)
		if list, _ := content.Violations(err); len(list) == 0 || len(response.Parts) != 0 {
			t.Errorf("%q: RejectLoss: %v, %v", tt.names, response, err)
		}
	}
	if _, err := upstream.EncodeRequest(t.Context(), upstream.Reads(upstream.Func(last)), r); !errors.Is(err, upstream.ErrUnsupported) {
		t.Errorf("EncodeRequest: %v", err)
	}
	upstreamtest.Run(t, upstream.Reads(upstream.Func(last)), &upstreamtest.Options{Deterministic: true})
	defer func() {
		if got := recover(); got != `upstream: Reads: unknown name "max_token"` {
			t.Errorf("panic: %v", got)
		}
	}()
	upstream.Reads(upstream.Func(last), "system", "max_token")
}

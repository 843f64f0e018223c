package messages

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// TestOmittedThinking checks that a client which omits thinking from responses gets blocks with
// an empty text, streamed without a delta, as the vendor sends them, and returns the thinking of
// another vendor as far as that vendor needs it.
func TestOmittedThinking(t *testing.T) {
	const long = 5 << 20
	third := content.Signature{Format: responses, Data: "c2ln"}
	item := content.Signature{Format: responses, Data: `{"type":"reasoning","id":"rs_1","summary":[]}`}
	own := content.Signature{Format: Format, Data: "c2ln"}
	for name, tt := range map[string]struct {
		parts    []content.Part
		returned *content.Thinking
		shown    string
		lost     []string
	}{
		"unsigned":                        {[]content.Part{&content.Thinking{Text: "Hm \"é\""}, &content.Text{Text: "a"}}, &content.Thinking{Text: "Hm \"é\""}, "", nil},
		"signed":                          {[]content.Part{&content.Thinking{Text: "Hm", Signature: third}}, &content.Thinking{Text: "Hm", Signature: third}, "", nil},
		"the signature has the text":      {[]content.Part{&content.Thinking{Text: "Hm", Signature: item}}, &content.Thinking{Signature: item}, "", nil},
		"the vendor signs the call":       {[]content.Part{&content.Thinking{Text: "Hm"}, &content.ToolUse{ID: "a", Name: "f", Signature: vendorSignature("Yg==")}}, new(content.Thinking), "", nil},
		"no text":                         {[]content.Part{&content.Thinking{Signature: third}}, &content.Thinking{Signature: third}, "", nil},
		"of a vendor of this format":      {[]content.Part{&content.Thinking{Text: "Hm", Signature: own}}, &content.Thinking{Text: "Hm", Signature: own}, "Hm", nil},
		"longer than an envelope, signed": {[]content.Part{&content.Thinking{Text: strings.Repeat("h", long), Signature: third}}, &content.Thinking{Signature: third}, "", []string{"degraded parts.0"}},
	} {
		t.Run(name, func(t *testing.T) {
			up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
				for _, p := range tt.parts {
					th, ok := p.(*content.Thinking)
					if !ok {
						_ = w.Part(p)
						continue
					}
					for text := th.Text; text != ""; { // in pieces that split characters
						n := min(len(text), 1+len(text)/3)
						_ = w.Thinking(text[:n])
						text = text[n:]
					}
					if th.Text == "" {
						_ = w.Part(&content.Thinking{})
					}
					_ = w.Signature(th.Signature)
				}
				return nil
			})
			where := placement{returnsBlocks: true, omitText: true}
			stream, lost := encodeIn(where, batchesOf(t, up))
			a, err := formattest.ReadMessage(stream)
			if err != nil {
				t.Fatal(err)
			}
			if tt.shown == "" && strings.Contains(stream, "thinking_delta") {
				t.Errorf("the stream has thinking: %.1000s", stream)
			}
			res, wholeLost := convertResponse(&upstream.Response{Parts: tt.parts}, nil, where)
			doc, _ := res.AppendJSON(nil)
			m, err := formattest.DecodeObject(doc)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(a.Object["content"], m["content"]); diff != "" {
				t.Errorf("streamed and whole differ (-stream +whole):\n%s", diff)
			}
			if diff := cmp.Diff([][]string{tt.lost, tt.lost}, [][]string{lossNames(lost), lossNames(wholeLost)}); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
			if shown := res.Content[0].(*content.Thinking).Text; shown != tt.shown {
				t.Errorf("the client gets the thinking %q", shown)
			}
			decoded, _ := decodeState([]content.Turn{{Role: content.RoleAssistant, Parts: res.Content}})
			if diff := cmp.Diff(tt.returned, decoded.Turns[0].Parts[0]); diff != "" || len(decoded.Losses) > 0 {
				t.Errorf("returned with losses %v (-want +got):\n%s", decoded.Losses, diff)
			}
		})
	}
}

// TestForgedOmittedThinking decodes signatures that a client could make up: none of them becomes
// more than the thinking of one block.
func TestForgedOmittedThinking(t *testing.T) {
	for data, want := range map[string]*content.Thinking{
		`[{"text":"a","signature":"b"}]`:    {Text: "a"},
		`[{"text":"a"},{"text":"b"}]`:       nil,
		`[{"text":"a","redacted":"b"}]`:     {Text: "a"},
		`[]`:                                nil,
		`[1]`:                               nil,
		`{"text":"a"}`:                      nil,
		strings.Repeat("[", 500) + `"text"`: nil,
	} {
		sig, ok := envelope.Encode(envelope.UnsignedFormat, envelope.KindThinking, data)
		if !ok {
			t.Fatal(data)
		}
		part := &content.Thinking{Signature: content.Signature{Format: Format, Data: sig}}
		decoded, _ := decodeState([]content.Turn{{Role: content.RoleAssistant, Parts: []content.Part{part}}})
		if want == nil {
			want = &content.Thinking{Signature: content.Signature{Data: sig}}
		}
		if diff := cmp.Diff(want, decoded.Turns[0].Parts[0]); diff != "" {
			t.Errorf("%.100s (-want +got):\n%s", data, diff)
		}
	}
}

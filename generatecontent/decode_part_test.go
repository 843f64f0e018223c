package generatecontent

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// streamOf returns a stream of one candidate. Each argument has the parts of one chunk. The
// last chunk has a finishReason.
func streamOf(pieces ...string) string {
	var b strings.Builder
	for i, parts := range pieces {
		end := ""
		if i == len(pieces)-1 {
			end = `,"finishReason":"STOP"`
		}
		b.WriteString(`data: {"candidates":[{"content":{"parts":[` + parts + `]}` + end + "}]}\n\n")
	}
	return b.String()
}

// TestBlocks checks how parts become blocks.
func TestBlocks(t *testing.T) {
	const (
		a, b, none = `{"text":"a"}`, `{"text":"b"}`, `{"text":""}`
		think      = `{"text":"t","thought":true}`
		aSigned    = `{"text":"a","thoughtSignature":"czE="}`
		mark       = `{"text":"","thoughtSignature":"czI="}`
		call       = `{"functionCall":{"name":"f","args":{}}}`
		callSigned = `{"functionCall":{"name":"f","args":{}},"thoughtSignature":"czE="}`
	)
	text, thought := &content.Text{}, &content.Thinking{}
	f := &content.ToolUse{Name: "f", Input: "{}"}
	fSigned := &content.ToolUse{Name: "f", Input: "{}", Signature: vendorMark("czE=")}
	s1, s2 := func(n int) upstream.Event { return signing(n, "czE=") }, func(n int) upstream.Event { return signing(n, "czI=") }
	tests := []struct {
		name   string
		pieces []string
		want   list
		reason content.StopReason
	}{
		{"texts are one block", []string{a, b + "," + a, b}, list{opening(0, text), words(0, "a"), words(0, "b"), words(0, "a"), words(0, "b"), closing(0)}, content.StopEnd},
		{"thinking, then text", []string{think, think + "," + a}, list{opening(0, thought), words(0, "t"), words(0, "t"), closing(0), opening(1, text), words(1, "a"), closing(1)}, content.StopEnd},
		{"empty texts", []string{a, none, `{}`, b + "," + none}, list{opening(0, text), words(0, "a"), words(0, "b"), closing(0)}, content.StopEnd},
		{"text, call, text", []string{a, call, b}, slices.Concat(list{opening(0, text), words(0, "a"), closing(0)}, wholePart(1, f), list{opening(2, text), words(2, "b"), closing(2)}), content.StopToolUse},
		{"parallel calls", []string{callSigned + "," + call, call}, slices.Concat(wholePart(0, fSigned), wholePart(1, f), wholePart(2, f)), content.StopToolUse},
		{"text after signed text", []string{aSigned, b}, list{opening(0, text), words(0, "a"), s1(0), closing(0), opening(1, text), words(1, "b"), closing(1)}, content.StopEnd},
		{"late signature of a text", []string{a, b, mark}, list{opening(0, text), words(0, "a"), words(0, "b"), s2(0), closing(0)}, content.StopEnd},
		{"second signature of a text", []string{aSigned, mark}, slices.Concat(list{opening(0, text), words(0, "a"), s1(0), closing(0)}, wholePart(1, &content.Text{Signature: vendorMark("czI=")})), content.StopEnd},
		{"signature after a call", []string{call, mark}, slices.Concat(wholePart(0, f), wholePart(1, &content.Text{Signature: vendorMark("czI=")})), content.StopToolUse},
		{"signature without a block", []string{mark}, wholePart(0, &content.Text{Signature: vendorMark("czI=")}), content.StopEnd},
		{"signature of thinking", []string{think, `{"text":"","thought":true,"thoughtSignature":"czI="}`, a}, list{opening(0, thought), words(0, "t"), s2(0), closing(0), opening(1, text), words(1, "a"), closing(1)}, content.StopEnd},
		{"signature of thinking after a text", []string{a, `{"text":"","thought":true,"thoughtSignature":"czI="}`}, slices.Concat(list{opening(0, text), words(0, "a"), closing(0)}, wholePart(1, &content.Thinking{Signature: vendorMark("czI=")})), content.StopEnd},
		{"members of a text", []string{a, `{"text":"b","partMetadata":{"k":1},"n":[2]}`}, list{opening(0, text), words(0, "a"),
			{Kind: upstream.EventText, Text: "b", Extra: extraWith(`{"partMetadata":{"k":1},"n":[2]}`)}, closing(0)}, content.StopEnd},
		{"an unknown part", []string{a, `{"hologram":{"size":3}}`}, slices.Concat(list{opening(0, text), words(0, "a"), closing(0)},
			wholePart(1, &content.Unknown{Format: Format, Kind: "hologram", Raw: `{"hologram":{"size":3}}`})), content.StopEnd},
		{"files", []string{`{"inlineData":{"mimeType":"application/pdf","data":"JVBERg==","displayName":"d"}},{"fileData":{"mimeType":"video/mp4","fileUri":"https://example.org/v"}}`},
			slices.Concat(wholePart(0, &content.Document{Source: &content.Base64{MediaType: "application/pdf", Data: "JVBERg==", Extra: extraWith(`{"displayName":"d"}`)}}),
				wholePart(1, &content.Media{Source: &content.URL{MediaType: "video/mp4", URL: "https://example.org/v"}})), content.StopEnd},
		{"members of a call", []string{`{"functionCall":{"name":"f","args":{"b":1.0,"a":[]},"new":1},"partMetadata":{}}`},
			wholePart(0, &content.ToolUse{Name: "f", Input: `{"b":1.0,"a":[]}`, Extra: extraWith(`{"functionCall":{"new":1},"partMetadata":{}}`)}), content.StopToolUse},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readEvents(strings.NewReader(streamOf(tt.pieces...)))
			want := slices.Concat(list{start("", "", "")}, tt.want, list{stopping(tt.reason, "STOP", "")})
			if diff := cmp.Diff(want, got); diff != "" || err != io.EOF {
				t.Errorf("error %v; events (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestSignatureAfterFourBlocks checks that a signature gets a separate block if the Writer
// no longer remembers the signed block.
func TestSignatureAfterFourBlocks(t *testing.T) {
	piece := func(candidate int, parts, more string) string {
		return fmt.Sprintf("data: {\"candidates\":[{\"index\":%d,\"content\":{\"parts\":[%s]}%s}]}\n\n", candidate, parts, more)
	}
	const end, mark = `,"finishReason":"STOP"`, `{"text":"","thoughtSignature":"czI="}`
	for calls, own := range map[int]bool{3: false, 4: true} {
		stream := piece(0, `{"text":"a"}`, end) + piece(1, strings.Repeat(`{"functionCall":{"name":"f"}},`, calls-1)+`{"functionCall":{"name":"f"}}`, end) + piece(0, mark, "")
		r, err := upstream.Collect(t.Context(), replay(stream), &upstream.Request{})
		if err != nil {
			t.Fatal(err)
		}
		want := []content.Part{&content.Text{Text: "a", Signature: vendorMark("czI=")}}
		if own {
			want = []content.Part{&content.Text{Text: "a"}, &content.Text{Signature: vendorMark("czI=")}}
		}
		if diff := cmp.Diff(want, r.Parts); diff != "" {
			t.Errorf("%d blocks later (-want +got):\n%s", calls, diff)
		}
	}
}

func TestCandidates(t *testing.T) {
	stream := `data: {"candidates":[{"content":{"parts":[{"text":"a"}]}},{"content":{"parts":[{"text":"x"}]},"index":1}]}` + "\n\n" +
		`data: {"candidates":[{"content":{"parts":[{"text":"y"}]},"index":1,"finishReason":"MAX_TOKENS"},{"content":{"parts":[{"text":"b"},{"functionCall":{"name":"f"}}]},"finishReason":"STOP","index":0,"tokenCount":4}]}` + "\n\n"
	of := func(candidate int, e upstream.Event) upstream.Event {
		e.Candidate = candidate
		return e
	}
	want := slices.Concat(list{start("", "", ""), opening(0, &content.Text{}), words(0, "a"), of(1, opening(1, &content.Text{})), of(1, words(1, "x")),
		of(1, words(1, "y")), of(1, closing(1)), of(1, stopping(content.StopMaxTokens, "MAX_TOKENS", "")), words(0, "b"), closing(0)},
		wholePart(2, &content.ToolUse{Name: "f", Input: "{}"}), list{besides(`{"tokenCount":4}`), stopping(content.StopToolUse, "STOP", "")})
	got, err := readEvents(strings.NewReader(stream))
	if diff := cmp.Diff(want, got); diff != "" || err != io.EOF {
		t.Errorf("error %v; events (-want +got):\n%s", err, diff)
	}
	// Each candidate must end.
	if _, err := readEvents(strings.NewReader(strings.Replace(stream, `,"finishReason":"MAX_TOKENS"`, "", 1))); err == io.EOF {
		t.Error("one candidate has not ended")
	}
	// Parts after an end need another end.
	early := streamOf(`{"toolCall":{"id":"t","toolType":"URL_CONTEXT"}}`)
	if _, err := readEvents(strings.NewReader(early + strings.Replace(streamOf(`{"text":"a"}`), `,"finishReason":"STOP"`, "", 1))); err == io.EOF {
		t.Error("the second part has not ended")
	}
	if _, err := readEvents(strings.NewReader(early + streamOf(`{"text":"a"}`) + "data: {\"usageMetadata\":{\"promptTokenCount\":1}}\n\n")); err != io.EOF {
		t.Errorf("two ends: %v", err)
	}
}

// TestResponseMembers checks that members without a field are reported once.
func TestResponseMembers(t *testing.T) {
	stream := `data: {"candidates":[{"content":{"parts":[{"text":"a"}],"mood":"good"},"safetyRatings":[1],"finishMessage":null}],"createTime":"2026-01-01T00:00:00Z","x":{"y":1},"model_status":{"modelStage":"STABLE"},"responseId":"r","promptFeedback":{"safetyRatings":[]}}` + "\n\n" +
		`data: {"candidates":[{"content":{"parts":[{"text":"b"}]},"citationMetadata":{"citationSources":[]}}],"createTime":"2026-01-01T00:00:00Z","x":{"y":1},"responseId":"r"}` + "\n\n" +
		`data: {"candidates":[{"finishReason":"SAFETY","safetyRatings":[2],"finishMessage":"m"}],"x":{"y":2},"turnToken":"tt","responseId":"r2"}` + "\n\n"
	want := list{
		start("r", "", `{"createTime":"2026-01-01T00:00:00Z","x":{"y":1},"modelStatus":{"modelStage":"STABLE"},"promptFeedback":{"safetyRatings":[]}}`),
		opening(0, &content.Text{}), words(0, "a"), besides(`{"content":{"mood":"good"},"safetyRatings":[1]}`),
		words(0, "b"), besides(`{"citationMetadata":{"citationSources":[]}}`),
		closing(0), stopping(content.StopSafety, "SAFETY", `{"finishMessage":"m","safetyRatings":[2]}`),
		besides(`{"x":{"y":2},"turnToken":"tt","responseId":"r2"}`),
	}
	got, err := readEvents(strings.NewReader(stream))
	if diff := cmp.Diff(want, got); diff != "" || err != io.EOF {
		t.Errorf("error %v; events (-want +got):\n%s", err, diff)
	}
}

func TestStopReasons(t *testing.T) {
	for word, want := range map[string]content.StopReason{
		"STOP": content.StopEnd, "MAX_TOKENS": content.StopMaxTokens, "SAFETY": content.StopSafety, "RECITATION": content.StopRecitation,
		"MODEL_ARMOR": content.StopSafety, "LANGUAGE": content.StopRefusal, "OTHER": content.StopOther, "BLOCKLIST": content.StopSafety, "PROHIBITED_CONTENT": content.StopSafety,
		"SPII": content.StopSafety, "MALFORMED_FUNCTION_CALL": content.StopMalformedCall, "IMAGE_SAFETY": content.StopSafety,
		"IMAGE_PROHIBITED_CONTENT": content.StopSafety, "IMAGE_OTHER": content.StopRefusal, "NO_IMAGE": content.StopRefusal,
		"IMAGE_RECITATION": content.StopRecitation, "UNEXPECTED_TOOL_CALL": content.StopMalformedCall, "TOO_MANY_TOOL_CALLS": content.StopPause,
		"MISSING_THOUGHT_SIGNATURE": content.StopOther, "MALFORMED_RESPONSE": content.StopMalformedCall, "ESCALATION": content.StopOther,
		"PUP_LIMITED_DISABLED": content.StopSafety, "CONTINUATION": content.StopPause, "SOMETHING_NEW": content.StopOther,
	} {
		got, err := readEvents(strings.NewReader(`data: {"candidates":[{"finishReason":"` + word + `"}]}` + "\n\n"))
		if diff := cmp.Diff(list{start("", "", ""), stopping(want, word, "")}, got); diff != "" || err != io.EOF {
			t.Errorf("%s: %v (-want +got):\n%s", word, err, diff)
		}
	}
	for _, none := range []string{`"FINISH_REASON_UNSPECIFIED"`, `""`, "null", "0"} {
		if _, err := readEvents(strings.NewReader(`data: {"candidates":[{"finishReason":` + none + "}]}\n\n")); err == io.EOF {
			t.Errorf("%s ends the response", none)
		}
	}
}

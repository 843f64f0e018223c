package generatecontent

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// Chunks that match the template of the last one are decoded by separate code. The result
// must be the same. White space prevents the match.
func TestQuickPiecesArePieces(t *testing.T) {
	texts := []string{
		`"b"`, `""`, `"é\n\ud83d\ude00"`, `"\"}}"`, `"\"}],\"role\":\"model\"}}]"`, `"}],role:model}}]"`, `"\ud800"`, "\"\xff\"", `"a","b":"c"`, `"a","text":"c"`,
		`"a","thought":true`, `"a"},{"text":"b"`, `5`, `null`, `{"a":1}`, `"a`, `a"`, `"a" `, "\"\t\"", `"a"}`, ` "a"`, ``, `"a"},{"functionCall":{"name":"f"}`,
	}
	usages := []string{"", `{"promptTokenCount":5,"candidatesTokenCount":9}`, `{"promptTokenCount":5}`, `{}`, `5`, `null`, `{"promptTokenCount":"5"}`, `{"a":1,"a":2}`,
		`{"serviceTier":"x"}`, `{"promptTokenCount":5},"x":{"y":1}`, `{"promptTokenCount":5},"usageMetadata":{}`, `{"a":"\ud800"}`, `{`, `{"a":` + strings.Repeat("[", 260) + strings.Repeat("]", 260) + `}`}
	piece := func(space, index, text, usage, id string) string {
		if usage != "" {
			usage = `,"usageMetadata":` + usage
		}
		return `data: {"candidates":[{` + space + `"content":{"parts":[{"text":` + text + `}],"role":"model"},"index":` + index + `}]` + usage + `,"responseId":` + id + "}\n\n"
	}
	forms := []struct{ usage, index, id string }{{"", "0", `"r"`}, {usages[1], "0", `"r"`}, {usages[1], "1", `"r"`}}
	for _, form := range forms {
		begin := piece("", form.index, `"a"`, form.usage, form.id)
		begin += begin // the second chunk makes the template
		for _, text := range texts {
			for _, usage := range usages {
				for _, id := range []string{`"r"`, `"s"`} {
					quick, quickErr := readEvents(strings.NewReader(begin + piece("", form.index, text, usage, id)))
					slow, slowErr := readEvents(strings.NewReader(begin + piece(" ", form.index, text, usage, id)))
					if diff := cmp.Diff(slow, quick); diff != "" {
						t.Errorf("%s %s %s: events (-slow +quick):\n%s", text, usage, id, diff)
					}
					if a, b := plainError(quickErr), plainError(slowErr); a != b {
						t.Errorf("%s %s %s: got the error %s, want %s", text, usage, id, a, b)
					}
				}
			}
		}
	}
	// Text between them makes no difference.
	between := streamOf(`{"functionCall":{"name":"f"}}`)
	begin := piece("", "0", `"a"`, "", `"r"`)
	quick, _ := readEvents(strings.NewReader(begin + begin + between + begin))
	slow, _ := readEvents(strings.NewReader(begin + begin + between + piece(" ", "0", `"a"`, "", `"r"`)))
	if diff := cmp.Diff(slow, quick); diff != "" {
		t.Errorf("behind a call (-slow +quick):\n%s", diff)
	}
}

// plainError returns an error text without the position in the document.
func plainError(err error) string {
	s := formattest.Causes(err)
	if i := strings.Index(s, " at line "); i >= 0 {
		s = s[:i]
	}
	if i := strings.Index(s, "(line "); i >= 0 {
		s = s[:i]
	}
	return s
}

func FuzzStreamReader(f *testing.F) {
	for _, name := range append(streamFiles, "S06.sse") {
		f.Add(answerFile(f, name), byte(7))
	}
	for _, name := range []string{"A06", "A17", "A18", "A22", "E07"} {
		f.Add("["+answerFile(f, name+".json")+"]", byte(3))
		f.Add("data:"+answerFile(f, name+".json")+"\r\r", byte(0))
	}
	f.Add(streamOf(`{"text":"a"}`, `{"text":"b"}`, `{"text":"\ud800","thoughtSignature":"_w"},{"text":"","thoughtSignature":"czI="}`), byte(1))
	f.Add(streamOf(`{"functionCall":{"name":"f","partialArgs":[{"jsonPath":"$.city","nullValue":null}],"willContinue":true}}`), byte(4))
	f.Add("\uFEFF [{\"candidates\":{\"index\":\"1\",\"content\":{\"parts\":{\"function_call\":{\"args\":\"{}\"}}},\"finish_reason\":\"x\"}},,{}]", byte(2))
	for _, s := range formattest.RecordedSeeds(f, "generatecontent", (*formattest.Record).Stream) {
		f.Add(s, byte(16))
	}
	f.Fuzz(func(t *testing.T, stream string, size byte) {
		want, wantErr := readFrames(strings.NewReader(stream))
		for name, src := range map[string]io.Reader{
			"bytes":  iotest.OneByteReader(strings.NewReader(stream)),
			"pieces": formattest.Pieces(strings.NewReader(stream), int(size)+1),
		} {
			got, err := readFrames(src)
			if diff := cmp.Diff(want, got); diff != "" || formattest.Causes(err) != formattest.Causes(wantErr) {
				t.Fatalf("%s: error %v, want %v; frames (-want +got):\n%s", name, err, wantErr, diff)
			}
		}
		var failed *upstream.Error
		if wantErr != io.EOF && !errors.As(wantErr, &failed) {
			t.Fatalf("the error is a %T", wantErr)
		}
		ahead := NewStreamReader(strings.NewReader(stream), nil)
		for i := 0; ; i++ {
			ahead.Buffered()
			f, err := ahead.Next()
			if err != nil {
				if i != len(want) {
					t.Errorf("%d frames with Buffered, want %d", i, len(want))
				}
				break
			}
			if i >= len(want) || len(f.Events) != len(want[i]) {
				t.Fatalf("frame %d is another with Buffered", i)
			}
		}
		passes(t, stream)
	})
}

// passes checks that the Writer accepts everything from the reader and does not change
// numbers.
func passes(t *testing.T, stream string) {
	formattest.CheckFrames(t, NewStreamReader(strings.NewReader(stream), nil), func(f *upstream.Frame) {
		if f.Format == Format && !json.Valid([]byte(f.Data)) {
			t.Errorf("a frame that cannot be sent: %q", f.Data)
		}
		sound(t, f)
	}, func(f *upstream.Frame) {
		if f.Events[0].Frame != f {
			t.Errorf("the Writer numbers otherwise: %q", f.Data)
		}
	})
}

// sound checks the arguments of tool calls. Arguments that are not an object are passed on
// unchanged. An object with missing pieces lacks only its closing brace.
func sound(t *testing.T, f *upstream.Frame) {
	t.Helper()
	for _, e := range f.Events {
		if e.Kind == upstream.EventInput && !json.Valid([]byte(e.Text)) && !json.Valid([]byte(e.Text+"}")) {
			t.Errorf("no JSON: %s", e.Text)
		}
		if p, ok := e.Part.(*content.ToolUse); ok && p.Input != "" && (!json.Valid([]byte(p.Input)) || p.Input[0] != '{') {
			t.Errorf("no object: %s", p.Input)
		}
	}
}

func FuzzDecodeResponse(f *testing.F) {
	for _, name := range []string{"A01", "A06", "A13", "A15", "A16", "A17", "A18", "A19", "A21", "A22", "A23", "A25", "E01"} {
		f.Add(answerFile(f, name+".json"))
	}
	f.Add(`{"candidates":{"content":{"parts":[{"function_call":{"args":"[1]"}},5,{"x":{}}]},"finish_reason":"x"}}`)
	for _, s := range formattest.RecordedSeeds(f, "generatecontent", (*formattest.Record).Whole) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		frame, err := DecodeFrame(body, content.Limits{})
		formattest.CheckWhole(t, frame, err)
		if err == nil {
			sound(t, frame)
		}
	})
}

package generatecontent

import (
	"net/http"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/floor"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// BenchmarkStreamEvent encodes one event after another. V is the time that gjson.Valid
// needs for the data of the encoded event.
func BenchmarkStreamEvent(b *testing.B) {
	call := &content.ToolUse{ID: "fc-1", Name: "read_file", Input: `{"path":"/src/main.go","limit":200}`}
	for _, bb := range []struct {
		name  string
		batch []upstream.Event
	}{
		{"text", []upstream.Event{{Kind: upstream.EventText, Text: " and then the"}}},
		{"escapes", []upstream.Event{{Kind: upstream.EventText, Text: "\tif x == \"a\" {\n\t\treturn\n\t}\n"}}},
		{"usage", []upstream.Event{{Kind: upstream.EventText, Text: " and"}, {Kind: upstream.EventUsage, Usage: &content.Usage{Input: 900, Output: 7}}}},
		{"long", []upstream.Event{{Kind: upstream.EventText, Text: strings.Repeat("all work and no play ", 50)}}},
		{"call", []upstream.Event{{Kind: upstream.EventOpen, Block: 1, Part: call}, {Kind: upstream.EventClose, Block: 1}}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			s := newStream(inEvents, "r-1", "m")
			out := s.Events(nil, []upstream.Event{{Kind: upstream.EventOpen, Part: &content.Text{}}})
			out = s.Events(out[:0], bb.batch)
			data := strings.TrimSuffix(strings.TrimPrefix(string(out), "data: "), "\r\n\r\n")
			floor.Run(b, data, func() { out = s.Events(out[:0], bb.batch) })
		})
	}
}

// BenchmarkReply encodes a response that is not a stream.
func BenchmarkReply(b *testing.B) {
	reply := &upstream.Response{
		Start: upstream.Start{ID: "r", Model: "m"},
		Parts: []content.Part{&content.Thinking{Text: strings.Repeat("hm ", 200)}, &content.Text{Text: strings.Repeat("word ", 400)},
			&content.ToolUse{ID: "fc-1", Name: "read_file", Input: `{"path":"/src/main.go","limit":200}`}},
		Usage: content.Usage{Input: 10, Output: 20},
	}
	res, _ := convertResponse(reply, expectation{})
	doc, err := res.AppendJSON(nil)
	if err != nil {
		b.Fatal(err)
	}
	var out []byte
	floor.Run(b, string(doc), func() {
		res, _ := convertResponse(reply, expectation{})
		if out, err = res.AppendJSON(out[:0]); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkHandlerEvent(b *testing.B) {
	formattest.BenchmarkEvents(b, func(up upstream.Upstream) http.Handler { return NewHandler(up, nil) }, post(eventsPath, smallBody))
}

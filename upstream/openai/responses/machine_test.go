package responses

import (
	"fmt"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/internal/test/formattest"
)

// readStream reads a whole stream.
func readStream(t *testing.T, data string) *formattest.ResponseStream {
	t.Helper()
	r, err := formattest.ReadResponses(data)
	if err != nil {
		t.Fatalf("%v in the stream\n%s", err, data)
	}
	return r
}

// outputOf returns the items of a response, without what all items have.
func outputOf(response gjson.Result) (list []string) {
	for _, x := range response.Get("output").Array() {
		s := x.Get("type").Str
		if st := x.Get("status").Str; st != "completed" {
			s += " " + st
		}
		for _, p := range append(x.Get("content").Array(), x.Get("summary").Array()...) {
			s += " | "
			if p.Get("type").Str == "refusal" {
				s += "refusal "
			}
			s += p.Get("text").Str + p.Get("refusal").Str
			for _, a := range p.Get("annotations").Array() {
				s += fmt.Sprintf(" [%s %d-%d %s %s]", a.Get("type").Str, a.Get("start_index").Int(), a.Get("end_index").Int(), a.Get("url").Str, a.Get("title").Str)
			}
		}
		if x.Get("encrypted_content").Exists() {
			s += " | state"
		}
		if name := x.Get("name").Str; name != "" {
			if ns := x.Get("namespace").Str; ns != "" {
				name = ns + "." + name
			}
			s += fmt.Sprintf(" %s(%s%s)", name, x.Get("arguments").Str, x.Get("input").Str)
		}
		list = append(list, s)
	}
	return list
}

package responses

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// TestCompaction asks for a summary in three ways, and returns it.
func TestCompaction(t *testing.T) {
	for name, tt := range map[string]struct{ path, body string }{
		"whole":    {"/v1/responses", `{"model":"m","input":[{"role":"user","content":"hi"},{"type":"compaction_trigger"}]}`},
		"streamed": {"/v1/responses", `{"model":"m","stream":true,"input":[{"role":"user","content":"hi"},{"role":"assistant","content":"yes"},{"type":"compaction_trigger"}]}`},
		"path":     {"/v1/responses/compact", `{"model":"m","input":"hi","tools":[{"type":"function","name":"f","parameters":{}}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			u := &scripted{events: []upstream.Event{evStart, evOpen(0, &content.Thinking{}), evText(0, "hm"), evClose(0),
				evOpen(1, &content.Text{}), evText(1, "They said "), evText(1, "hi."), evClose(1), evStop(content.StopEnd)}}
			h := NewHandler(u, nil)
			w := post(h, tt.path, tt.body)
			final := gjson.Parse(w.Body.String())
			if name == "streamed" {
				r := readStream(t, w.Body.String())
				final = r.Final
				if got, want := strings.Join(r.Types, " "), "created in_progress output_item.added output_item.done completed"; got != want {
					t.Errorf("events %s, want %s", got, want)
				}
			}
			items := final.Get("output").Array()
			if w.Code != 200 || len(items) != 1 || items[0].Get("type").Str != "compaction" {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			if object := final.Get("object").Str; (object == "response.compaction") != (name == "path") || !final.Get("usage.total_tokens").Exists() {
				t.Error(final.Raw)
			}
			last := u.got.Turns[len(u.got.Turns)-1]
			ask, ok := last.Parts[len(last.Parts)-1].(*content.Text)
			if !ok || ask.Text != textSummarize || last.Role != content.RoleUser {
				t.Errorf("the last part of the request is %#v", last.Parts)
			}
			if len(u.got.Tools) > 0 && u.got.Choice.Mode != content.ChoiceNone {
				t.Error("the model may call tools")
			}
			w = post(h, "/v1/responses", `{"model":"m","input":[`+items[0].Raw+`,{"role":"user","content":"go on"}]}`)
			if w.Code != 200 {
				t.Fatal(w.Body)
			}
			want := []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: summaryPrefix + "They said hi."}, &content.Text{Text: "go on"}}}}
			if diff := cmp.Diff(want, u.got.Turns); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNoSummary tests a model that writes nothing.
func TestNoSummary(t *testing.T) {
	u := &scripted{events: []upstream.Event{evStart, evStop(content.StopEnd)}}
	const body = `{"model":"m","stream":true,"input":[{"role":"user","content":"hi"},{"type":"compaction_trigger"}]}`
	r := readStream(t, post(NewHandler(u, nil), "/v1/responses", body).Body.String())
	if got := r.Final.Get("error.code").Str; got != "bad_gateway" {
		t.Errorf("code = %q", got)
	}
	w := post(NewHandler(u, nil), "/v1/responses", strings.Replace(body, `"stream":true,`, "", 1))
	if got := gjson.Get(w.Body.String(), "status").Str; got != "failed" {
		t.Errorf("status = %q", got)
	}
}

package upstream_test

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// TestTextsOfKinds checks that every field of every kind of part and source is in Texts or in Files,
// except ids, labels and what is opaque. A new kind, and a new field, is tested without a change here.
func TestTextsOfKinds(t *testing.T) {
	n := 0
	fill := func(fields any) (want []string) {
		v := reflect.ValueOf(fields)
		mark := func(s *string, json bool) {
			n++
			word := "word" + strconv.Itoa(n)
			if *s = word; json {
				*s = `{"a":"\u0077ord` + word[4:] + `"}`
			}
			want = append(want, word)
		}
		for i := range v.NumField() {
			switch f := v.Field(i).Interface().(type) {
			case [5]partfield.String:
				for _, s := range f {
					if s.At != nil && s.Role != partfield.ID && s.Role != partfield.Label {
						mark(s.At, s.Role == partfield.JSON || s.Role == partfield.Argument)
					}
				}
			case *[]content.Citation:
				if f != nil {
					*f = make([]content.Citation, 1)
					mark(&(*f)[0].Text, false)
					mark(&(*f)[0].Title, false)
					mark(&(*f)[0].URL, false)
					(*f)[0].Extra = new(content.Extra)
					mark(&(*f)[0].Extra.JSON, true)
				}
			case **content.Extra:
				if f != nil {
					*f = new(content.Extra)
					mark(&(*f).JSON, true)
				}
			case **content.Cache:
				if f != nil {
					*f = &content.Cache{Extra: new(content.Extra)}
					mark(&(*f).Extra.JSON, true)
				}
			case *[]content.Part:
				if f != nil {
					text := new(content.Text)
					*f = []content.Part{text}
					mark(&text.Text, false)
				}
			}
		}
		return want
	}
	check := func(p content.Part, want []string) {
		t.Helper()
		r := &upstream.Request{System: []content.Part{p}}
		for path, text := range r.Texts() {
			for i, w := range want {
				if w == text {
					want = append(want[:i:i], want[i+1:]...)
					break
				}
			}
			if !strings.HasPrefix(path, "system.0") {
				t.Errorf("%T: the path is %s", p, path)
			}
		}
		if len(want) > 0 {
			t.Errorf("%T: Texts has no %v", p, want)
		}
	}
	for _, kind := range formattest.PartKinds {
		p := reflect.New(reflect.TypeOf(kind).Elem()).Interface().(content.Part)
		check(p, fill(partfield.Of(p)))
	}
	for _, kind := range formattest.SourceKinds {
		s := reflect.New(reflect.TypeOf(kind).Elem()).Interface().(content.Source)
		f := partfield.OfSource(s)
		want := fill(f)
		if f.Data != nil {
			*f.Data = "the data"
		}
		p := &content.Document{Source: s}
		files := 0
		for path, file := range (&upstream.Request{System: []content.Part{p}}).Files() {
			if files++; file != s || path != "system.0.source" {
				t.Errorf("%T: Files has %T at %s", s, file, path)
			}
		}
		switch text := f.Kind == partfield.PlainText; {
		case text:
			want = append(want, "the data")
			fallthrough
		case f.Kind == partfield.Parts:
			if files != 0 {
				t.Errorf("%T: %d files", s, files)
			}
		case files != 1:
			t.Errorf("%T: %d files", s, files)
		}
		check(p, want)
	}
}

const guarded = `{"model":"m","max_tokens":64,"system":"s","x_new":{"deep":[true,null,42,"extra"]},
	"metadata":{"user_id":"u"},"stop_sequences":["END"],
	"tools":[{"name":"look_up","description":"d","input_schema":{"type":"object","properties":{"city":{"const":"Bern"}}}},
		{"type":"web_search_20250305","name":"web_search","allowed_domains":["a.example"]}],
	"messages":[
		{"role":"user","content":[{"type":"text","text":"hi"},{"type":"image","source":{"type":"url","url":"https://files.example/a.png"}},
			{"type":"document","title":"t","source":{"type":"text","media_type":"text/plain","data":"plain"}}]},
		{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"tool_use","id":"toolu_1","name":"look_up","input":{"city":"B\u0065rn"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"result"}]}]}]}`

func decodeGuarded(t *testing.T) *upstream.Request {
	t.Helper()
	r, _, err := messages.DecodeRequest([]byte(guarded), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTexts(t *testing.T) {
	r := decodeGuarded(t)
	var got []string
	for path, text := range r.Texts() {
		got = append(got, r.Path(path)+" "+text)
	}
	want := []string{
		"system.0 s", "messages.0.content.0 hi", "messages.0.content.2 t", "messages.0.content.2.source plain",
		"messages.1.content.0 hm", "messages.1.content.1.input.city city", "messages.1.content.1.input.city Bern", "messages.1.content.1 look_up",
		"messages.2.content.0.content.0 result",
		"tools.0.name look_up", "tools.0.description d", "tools.0.input_schema.type type", "tools.0.input_schema.type object",
		"tools.0.input_schema.properties properties", "tools.0.input_schema.properties.city city",
		"tools.0.input_schema.properties.city.const const", "tools.0.input_schema.properties.city.const Bern",
		"tools.1.name web_search", "tools.1 web_search_20250305",
		"tools.1.type type", "tools.1.type web_search_20250305", "tools.1.name name", "tools.1.name web_search",
		"tools.1.allowed_domains allowed_domains", "tools.1.allowed_domains.0 a.example",
		"stop_sequences.0 END", "metadata.user_id u",
		"x_new x_new", "x_new.deep deep", "x_new.deep.2 42", "x_new.deep.3 extra",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for path, s := range r.Files() {
		if got := fmt.Sprint(r.Path(path), " ", s.(*content.URL).URL); got != "messages.0.content.1.source https://files.example/a.png" {
			t.Errorf("Files has %s", got)
		}
	}
	n := 0
	for range r.Texts() {
		if n++; n == 3 {
			break
		}
	}
	for range r.Files() {
		break
	}
}

func TestMapTexts(t *testing.T) {
	r, before := decodeGuarded(t), decodeGuarded(t)
	if same, err := r.MapTexts(func(_, text string) (string, error) { return text, nil }); same != r || err != nil {
		t.Error("a request without a change was copied", err)
	}
	for _, refused := range []error{errors.New("refused"), &content.Violation{Text: "refused"}} {
		var last string
		none, err := r.MapTexts(func(path, _ string) (string, error) {
			last = path
			return "", refused
		})
		if want := content.AtPath(refused, last); none != nil || err.Error() != want.Error() {
			t.Errorf("got %v, %v, want %v", none, err, want)
		}
	}
	var calls []string
	changed, err := r.MapTexts(func(path, text string) (string, error) {
		calls = append(calls, path+" "+text)
		switch text {
		case "Bern", "hm", "42", "result", "u", "city", "plain":
			return "[" + path + "]", nil
		}
		return text, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for path, text := range r.Texts() {
		all = append(all, path+" "+text)
	}
	if diff := cmp.Diff(all, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, r); diff != "" {
		t.Errorf("the request was changed (-want +got):\n%s", diff)
	}
	want := before.Clone()
	want.Wire = changed.Wire
	want.Turns[0].Parts[2].(*content.Document).Source.(*content.PlainText).Text = "[turns.0.parts.2.source]"
	*want.Turns[1].Parts[0].(*content.Thinking) = content.Thinking{Text: "[turns.1.parts.0]"}
	want.Turns[1].Parts[1].(*content.ToolUse).Input = `{"[turns.1.parts.1.input.city]":"[turns.1.parts.1.input.city]"}`
	want.Turns[2].Parts[0].(*content.ToolResult).Parts[0].(*content.Text).Text = "[turns.2.parts.0.parts.0]"
	want.Tools[0].Input.JSON = `{"type":"object","properties":{"[tools.0.input.properties.city]":{"const":"[tools.0.input.properties.city.const]"}}}`
	want.UserID = "[user_id]"
	want.Extra.JSON = `{"x_new":{"deep":[true,null,"[extra.x_new.deep.2]","extra"]}}`
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if changed.Wire.String() != "" || changed.Path("turns.0.parts.0") != "messages.0.content.0" {
		t.Errorf("the document is %q, the path %s", changed.Wire, changed.Path("turns.0.parts.0"))
	}
}

// TestMapTextsNames checks that names which f makes equal stay different.
func TestMapTextsNames(t *testing.T) {
	r := &upstream.Request{Extra: &content.Extra{JSON: `{"a":1,"b":{"c":2},"x":3}`}}
	r, err := r.MapTexts(func(_, text string) (string, error) {
		if strings.Contains("abc", text) {
			text = "x"
		}
		return text, nil
	})
	if want := `{"x":1,"x_":{"x":2},"x__":3}`; err != nil || r.Extra.JSON != want {
		t.Errorf("got %s, want %s", r.Extra.JSON, want)
	}
	broken := &upstream.Request{Extra: &content.Extra{JSON: `{"a":`}}
	got, err := broken.MapTexts(func(_, text string) (string, error) { return strings.ToUpper(text), nil })
	if err != nil || got.Extra.JSON != `{"A":` {
		t.Errorf("a text that is not JSON became %s", got.Extra.JSON)
	}
}

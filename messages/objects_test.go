package messages

import (
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// These tests follow the tables in objects.go. A new member of a table is tested without a
// change here.

// generator makes objects of this format.
var generator = &formattest.Generator{
	Sample: sampleValue,
	Needs:  func(f *object.Field, tag string) bool { return tag == "tool" && f == fieldOf(choiceType, "name") },
}

// sampleValue returns a sample of a value that the tables do not describe.
func sampleValue(f *object.Field, v *object.Value) string {
	const (
		block = `{"type":"text","text":"hello"}`
		url   = `{"type":"url","url":"https://files.example/a"}`
	)
	switch v {
	case taggedBlock:
		return block
	case blocks, nullableBlocks, nullableTextBlocks, textBlocks:
		return `[` + block + `]`
	case citationsList:
		return `[{"type":"web_search_result_location","cited_text":"c","title":null,"url":"https://files.example/a","encrypted_index":"e"}]`
	}
	if fileFormIn(v) != nil {
		return url
	}
	switch f {
	case nil:
	case fieldOf(thinkingBlockType, "signature"):
		return `"c2ln"`
	case fieldOf(messageType, "role"):
		return `"user"`
	case fieldOf(requestType, "tools"):
		return `[{"name":"n","input_schema":{"type":"object"}}]`
	case fieldOf(requestType, "messages"):
		return `[{"role":"user","content":[` + block + `]}]`
	}
	return ""
}

func fieldOf(t *object.Type, name string) *object.Field { return t.Find(name) }

// The places of blocks, in documents that are canonical.
var blockPlaces = []struct {
	where  places
	path   []any
	format string
}{
	{inUser, []any{"messages", 0, "content", 0},
		`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[%s]}]}`},
	{inAssistant, []any{"messages", 1, "content", 0},
		`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[%s]}]}`},
	{inSystem, []any{"messages", 1, "content", 0},
		`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"system","content":[%s]}]}`},
	{inResult, []any{"messages", 1, "content", 0, "tool_result", "content", 0},
		`{"model":"m","max_tokens":1,"tools":[{"name":"n","input_schema":{"type":"object"}}],"messages":[` +
			`{"role":"assistant","content":[{"type":"tool_use","id":"i","name":"n","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"i","content":[%s]}]}]}`},
	{inContent, []any{"messages", 0, "content", 0, "document", "source", "content", "content", 0},
		`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"content","content":[%s]}}]}]}`},
}

// roots yields an object of each type that is not a value in the table of another, at each
// place where the format allows it.
func roots(yield func(name string, o formattest.Object) bool) {
	root := func(name, format string, of *object.Type, tag, step string, kept bool, bad *formattest.BadTag, path ...any) bool {
		return yield(name, formattest.Object{Type: of, Path: formattest.Path(path...), Tag: tag, Step: step, Kept: kept,
			BadTag: bad, In: formattest.Document(format)})
	}
	const head = `{"model":"m","max_tokens":1,`
	user := func(block string) string {
		return head + `"messages":[{"role":"user","content":[` + block + `]}]}`
	}
	always, strict := &formattest.BadTag{Code: content.CodeValue}, &formattest.BadTag{Code: content.CodeUnknown, Strict: true}
	ok := root("request", "%s", requestType, "", "", false, nil) &&
		root("message", head+`"messages":[%s]}`, messageType, "", "", false, nil, "messages", 0) &&
		root("tool", head+`"tools":[%s],"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`,
			customToolType, "", "custom", false, nil, "tools", 0) &&
		root("system", head+`"system":[%s],"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`,
			textType, "text", "", false, &formattest.BadTag{Code: content.CodeValue, AtTag: true}, "system", 0) &&
		root("search result text", user(`{"type":"search_result","source":"s","title":"t","content":[%s]}`),
			textType, "text", "", false, &formattest.BadTag{Code: content.CodeValue, AtTag: true},
			"messages", 0, "content", 0, "search_result", "content", 0)
	if !ok {
		return
	}
	for _, b := range builtins() {
		if !root(b.Name, head+`"tools":[%s],"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`,
			b.Type, b.Name, b.Name, true, nil, "tools", 0) {
			return
		}
	}
	for i := range blockForms() {
		b := &blockForms()[i]
		for _, p := range blockPlaces {
			if b.where&p.where != 0 && !root(b.tag, p.format, b.of, b.tag, b.tag, !b.of.HasStruct(), strict, p.path...) {
				return
			}
		}
	}
	for _, files := range fileForms {
		for _, tag := range files.tags {
			if !root(files.block+" source "+tag, user(`{"type":"`+files.block+`","source":%s}`), typeOfTag(sourceTypes, tag), tag, tag, false, always,
				"messages", 0, "content", 0, files.block, "source") {
				return
			}
		}
	}
	for i := range citationForms() {
		c := &citationForms()[i]
		if !root(c.tag, user(`{"type":"text","text":"hi","citations":[%s]}`), c.of, c.tag, c.tag, false, strict,
			"messages", 0, "content", 0, "text", "citations", 0) {
			return
		}
	}
}

// allObjects yields the objects of all types at all places.
func allObjects() iter.Seq2[string, formattest.Object] {
	return func(yield func(string, formattest.Object) bool) {
		for name, root := range roots {
			for o := range generator.Objects(root) {
				if !yield(name, o) {
					return
				}
			}
		}
	}
}

func TestObjectsRoundTrip(t *testing.T) {
	for name, o := range allObjects() {
		for s := range generator.Samples(o) {
			r, err := ParseRequest([]byte(s.Sent))
			if err != nil {
				t.Errorf("%s: %s: %v\n%s", name, s.Name, err, s.Sent)
				continue
			}
			if err := r.origin.Unknown.Err(); err != nil && !strings.HasPrefix(s.Name, "unknown") {
				t.Errorf("%s: %s: strict: %v\n%s", name, s.Name, err, s.Sent)
			}
			if r.Model == "" {
				continue // is omitted: see TestEncodeWithoutModel
			}
			got, err := r.AppendJSON(nil)
			if err != nil || string(got) != s.Canonical {
				t.Errorf("%s: %s: %v\nsent %s\nwant %s\ngot  %s", name, s.Name, err, s.Sent, s.Canonical, got)
				continue
			}
			again, err := ParseRequest(got)
			if err != nil {
				t.Errorf("%s: %s: parsed again: %v", name, s.Name, err)
				continue
			}
			if diff := cmp.Diff(r, again, ignoreOrigin); diff != "" {
				t.Errorf("%s: %s: parsed again (-want +got):\n%s", name, s.Name, diff)
			}
			if b, err := again.AppendJSON(nil); err != nil || string(b) != s.Canonical {
				t.Errorf("%s: %s: encoded again: %v\n%s", name, s.Name, err, b)
			}
			if r.Thinking != nil && r.Thinking.Type == "disabled" {
				r.Thinking.Display = "" // nothing is displayed
			}
			back, losses, err := roundTrip(t, r)
			if err != nil || len(losses) > 0 {
				continue // reported
			}
			if diff := cmp.Diff(r, back, ignoreOrigin); diff != "" {
				t.Errorf("%s: %s: through the neutral request without a loss (-want +got):\n%s", name, s.Name, diff)
			}
		}
	}
}

// A wrong value is reported once, at its path and with its code.
func TestObjectsWrongValues(t *testing.T) {
	n := 0
	for name, o := range allObjects() {
		for w := range generator.Wrongs(o) {
			n++
			for _, strict := range []bool{false, true} {
				opts := &ValidateOptions{Strict: strict, AllowFiles: true}
				base := violationsOf(t, w.Base, opts)
				got := added(base, violationsOf(t, w.Sent, opts))
				switch {
				case w.Strict && len(got) == 0 && (!strict || hasPath(base, w.Path)):
					// Rules for several members may refuse the member itself.
				case w.Strict && !strict || len(got) != 1 || got[0].Path != w.Path || got[0].Code != w.Code:
					t.Errorf("%s: %s: strict %v: want %s %s, got %v\n%s", name, w.Name, strict, w.Code, w.Path, got, w.Sent)
				}
			}
		}
	}
	t.Logf("%d wrong values", n)
}

// Validate finds in a constructed request what parsing finds in a document.
func TestObjectsConstructed(t *testing.T) {
	for name, o := range allObjects() {
		for w := range generator.Wrongs(o) {
			if !w.Kept {
				continue
			}
			base, r := parsed(t, w.Base), parsed(t, w.Sent)
			base.origin, r.origin = nil, nil
			opts := &ValidateOptions{Strict: true, AllowFiles: true}
			before := violationsIn(base, opts)
			got := added(before, violationsIn(r, opts))
			if w.Strict && len(got) == 0 && hasPath(before, w.Path) {
				continue
			}
			if len(got) != 1 || got[0].Path != w.Path || got[0].Code != w.Code {
				t.Errorf("%s: %s: want %s %s, got %v\n%s", name, w.Name, w.Code, w.Path, got, w.Sent)
			}
		}
	}
}

// goNames has, for each member, the Go fields whose names are not part of its name.
var goNames = map[string][]string{
	"content":       {"Parts"},
	"data":          {"Redacted", "Text"},
	"defer_loading": {"Deferred"},
	"source":        {"URL"},
	"thinking":      {"Text"},
}

// Each Go field holds one member. The member's name contains the field's name, unless goNames
// has it.
func TestObjectsGoFields(t *testing.T) {
	tested := map[*object.Type]bool{}
	for place, o := range allObjects() {
		if !o.Type.HasStruct() || tested[o.Type] {
			continue
		}
		tested[o.Type] = true
		members := map[string]string{}
		for i := range o.Type.Fields() {
			f := &o.Type.Fields()[i]
			if !f.Typed() {
				continue
			}
			got := formattest.GoField(o.Type, f)
			if other := members[got]; other != "" {
				t.Errorf("%s: %s and %s are both in %s", place, other, f.Name, got)
			}
			members[got] = f.Name
			name := strings.ReplaceAll(f.Name, "_", "")
			if !strings.Contains(name, strings.ToLower(got)) && !slices.Contains(goNames[f.Name], got) {
				t.Errorf("%s: %s is in %s", place, f.Name, got)
			}
		}
	}
}

// violationsOf returns the violations of a document.
func violationsOf(t *testing.T, doc string, opts *ValidateOptions) []content.Violation {
	t.Helper()
	return violationsIn(parsed(t, doc), opts)
}

func parsed(t *testing.T, doc string) *Request {
	t.Helper()
	r, _ := ParseRequest([]byte(doc))
	if r == nil {
		t.Fatalf("cannot be parsed: %s", doc)
	}
	return r
}

func violationsIn(r *Request, opts *ValidateOptions) []content.Violation {
	var list []content.Violation
	all, _ := content.Violations(r.Validate(opts))
	for _, v := range all {
		list = append(list, *v)
	}
	return list
}

func hasPath(list []content.Violation, path string) bool {
	return slices.ContainsFunc(list, func(v content.Violation) bool { return v.Path == path })
}

// added returns the violations in list that are not in base.
func added(base, list []content.Violation) []content.Violation {
	base = slices.Clone(base)
	var more []content.Violation
	for _, v := range list {
		if i := slices.Index(base, v); i >= 0 {
			base = slices.Delete(base, i, i+1)
		} else {
			more = append(more, v)
		}
	}
	return more
}

// TestBlockForms checks that the parser makes a part of each block from which the encoder makes
// this block, that its files have a form, that its parts are validated, and that there is a block
// for each kind of part but those without a table.
func TestBlockForms(t *testing.T) {
	kinds := map[reflect.Type]bool{reflect.TypeFor[*content.Media](): true, reflect.TypeFor[*content.Unknown](): true}
	for i := range blockForms() {
		f := &blockForms()[i]
		if !f.of.HasStruct() {
			continue
		}
		doc, err := jsonwire.Parse(`{"type":"`+f.tag+`"}`, jsonwire.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		var p parser
		part := p.typedBlock(doc.Root(), f)
		kinds[reflect.TypeOf(part)] = true
		if f.of == redactedType {
			part.(*content.Thinking).Redacted.Data = "a"
		}
		if tag, of := typeOf(part); tag != f.tag || of != f.of {
			t.Errorf("the block %q is parsed as a %T, which is encoded as %q", f.tag, part, tag)
		}
		fields := partfield.Of(part)
		if fields.Source != nil && fileFormOf(f.of) == nil {
			t.Errorf("the block %q has files without a form", f.tag)
		}
		if fields.Parts != nil {
			*fields.Parts = []content.Part{nil}
			err := (&Request{Messages: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{part}}}}).Validate(nil)
			if at := "." + f.tag + ".content.0: "; err == nil || !strings.Contains(err.Error(), at) {
				t.Errorf("the parts of the block %q are not validated: %v", f.tag, err)
			}
		}
	}
	for _, p := range formattest.PartKinds {
		if !kinds[reflect.TypeOf(p)] {
			t.Errorf("no block is parsed as a %T", p)
		}
	}
}

// TestTexts checks that no text of a document slips past a guard.
func TestTexts(t *testing.T) {
	formattest.CheckTexts(t, func(yield func(string) bool) {
		for _, o := range allObjects() {
			for s := range generator.Samples(o) {
				if s.Name == "all members" {
					yield(s.Sent)
				}
			}
		}
	}, func(document string) (*upstream.Request, error) {
		r, err := ParseRequest([]byte(document))
		if err != nil {
			return nil, err
		}
		return r.Upstream(), nil
	}, "model", "role", "id", "tool_use_id", "file_id", "media_type", "signature", "data", "ttl", "effort", "display", "service_tier")
}

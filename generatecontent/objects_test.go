package generatecontent

import (
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// These tests follow the tables in objects.go. A new member of a table is tested without a
// change here.

// generators make objects of this format, in both spellings.
var generators = []*formattest.Generator{
	{Style: codec.Bracketed, ProtoJSON: true, Sample: sampleOf, Needs: needs},
	{Style: codec.Bracketed, ProtoJSON: true, Sample: sampleOf, Needs: needs, Aliases: true},
}

// needs reports whether an object must have a member: the data of a part, or the one tool of
// a tool object.
func needs(f *object.Field, tag string) bool {
	return f.Name == tag || f == fieldOf(thinkingPart, "text") || f == fieldOf(contentType, "role") ||
		f == fieldOf(responseType, "response")
}

// sampleOf returns a sample of a value that the tables do not describe.
func sampleOf(f *object.Field, v *object.Value) string {
	const image = `{"mimeType":"image/png","data":"+/+/Zg=="}`
	if f == nil {
		switch v.Object {
		case contentType:
			return `{"role":"user","parts":[{"text":"hello"}]}`
		case partType:
			return `{"text":"hello"}`
		case responsePartType:
			return `{"inlineData":` + image + `}`
		case toolType:
			return `{"functionDeclarations":[{"name":"n"}]}`
		case declarationType:
			return `{"name":"n"}`
		}
		return ""
	}
	if v == declarations {
		return `[{"name":"n"}]`
	}
	if v == anyValue && slices.ContainsFunc(partFields(), func(p object.Field) bool { return p.Name == f.Name }) {
		return `{"any":null}` // null alone is not kept in parts
	}
	switch f {
	case fieldOf(contentType, "role"):
		return `"user"`
	case fieldOf(textPart, "text"), fieldOf(thinkingPart, "text"): // empty ones are dropped
		return `"hello"`
	case fieldOf(linkType, "fileUri"):
		return `"https://files.example/a"`
	case fieldOf(imagePart, "inlineData"):
		return image
	case fieldOf(mediaPart, "inlineData"):
		return `{"mimeType":"audio/mpeg","data":"+/+/Zg=="}`
	case fieldOf(documentPart, "fileData"):
		return `{"mimeType":"application/pdf","fileUri":"files/a"}`
	case fieldOf(callPart, "functionCall"):
		return `{"id":"i","name":"n"}`
	case fieldOf(resultPart, "functionResponse"):
		return `{"id":"i","name":"n","response":{}}`
	case fieldOf(serverCallPart, "toolCall"), fieldOf(serverCallPart, "executableCode"),
		fieldOf(serverResultPart, "toolResponse"), fieldOf(serverResultPart, "codeExecutionResult"):
		return `{"id":"i"}`
	}
	return ""
}

func fieldOf(t *object.Type, name string) *object.Field { return t.Find(name) }

// partRoots are the Go types of parts, each with its data.
var partRoots = []struct {
	of   *object.Type
	data string
}{
	{textPart, "text"}, {thinkingPart, "thought"}, {imagePart, "inlineData"}, {mediaPart, "inlineData"},
	{documentPart, "fileData"}, {callPart, "functionCall"}, {resultPart, "functionResponse"},
	{serverCallPart, "toolCall"}, {serverCallPart, "executableCode"},
	{serverResultPart, "toolResponse"}, {serverResultPart, "codeExecutionResult"},
}

// dataRoots are the objects that are the data of a part. The first three are files.
var dataRoots = []struct {
	of   *object.Type
	name string
}{
	{blobType, "inlineData"}, {fileType, "fileData"}, {linkType, "fileData"}, {callType, "functionCall"},
	{responseType, "functionResponse"}, {serverCallType, "toolCall"}, {codeType, "executableCode"},
	{serverResponseType, "toolResponse"}, {codeResultType, "codeExecutionResult"},
}

// roots yields an object of each type that is not a value in the table of another.
func roots(yield func(name string, o formattest.Object) bool) {
	root := func(name, format string, of *object.Type, tag string, path ...any) bool {
		return yield(name, formattest.Object{Type: of, Tag: tag, Path: formattest.Path(path...), In: formattest.Document(format)})
	}
	const parts = `{"contents":[{"role":"model","parts":[{"text":"a"},`
	if !root("request", "%s", requestType, "") ||
		!root("content", `{"contents":[{"role":"user","parts":[{"text":"a"}]},%s]}`, contentType, "", "contents", 1) {
		return
	}
	for _, p := range partRoots {
		if !root("part "+p.data, parts+`%s]}]}`, p.of, p.data, "contents", 0, "parts", 1) ||
			!root("system part "+p.data, `{"systemInstruction":{"parts":[%s]}}`, p.of, p.data, "system_instruction", "parts", 0) {
			return
		}
	}
	for _, d := range dataRoots {
		if !root(d.name, parts+`{"`+d.name+`":%s}]}]}`, d.of, "", "contents", 0, "parts", 1, snake(d.name)) {
			return
		}
	}
	for _, d := range dataRoots[:3] {
		if !root("response part "+d.name, `{"contents":[{"role":"user","parts":[{"functionResponse":{"id":"i","name":"n","response":{},"parts":[{"`+d.name+`":%s}]}}]}]}`,
			d.of, "", "contents", 0, "parts", 0, "function_response", "parts", 0, snake(d.name)) {
			return
		}
	}
	if !root("function", `{"tools":[{"functionDeclarations":[{"name":"n"},%s]}]}`, declarationType, "", "tools", 0, "function_declarations", 1) {
		return
	}
	for _, f := range toolType.Fields() {
		// Each tool is encoded in an object of its own.
		one := object.Kept("Tool", f)
		one.Lenient = true // an unknown member is a tool, too
		before := `{"functionDeclarations":[{"name":"n"}]}`
		if f.Value == declarations { // adjacent ones are encoded in one object
			before = `{"googleSearch":{}}`
		}
		if !root("tool "+f.Name, `{"tools":[`+before+`,%s]}`, one, f.Name, "tools", 1) {
			return
		}
	}
}

// allObjects yields the objects of all types at all places.
func allObjects(g *formattest.Generator) iter.Seq2[string, formattest.Object] {
	return func(yield func(string, formattest.Object) bool) {
		for name, root := range roots {
			for o := range g.Objects(root) {
				if !yield(name, o) {
					return
				}
			}
		}
	}
}

// Generated documents are valid. Encoding them gives their canonical form, which parses to
// an equal request and is encoded unchanged.
func TestObjectsRoundTrip(t *testing.T) {
	n := 0
	for _, g := range generators {
		for name, o := range allObjects(g) {
			for s := range g.Samples(o) {
				n++
				r, err := ParseRequest([]byte(s.Sent))
				if err != nil {
					t.Errorf("%s: %s: %v\n%s", name, s.Name, err, s.Sent)
					continue
				}
				if err := r.origin.Unknown.Err(); err != nil && s.Name != "unknown members" {
					t.Errorf("%s: %s: strict: %v\n%s", name, s.Name, err, s.Sent)
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
				back, losses := roundTrip(t, r)
				if len(losses) > 0 || back == nil || !strings.Contains(s.Sent, "Type") && strings.Contains(s.Sent, "fileData") {
					continue // reported, or the type that is usual for a link is added
				}
				if c := r.ToolConfig; c != nil && len(r.Tools) == 0 { // the choice has no effect
					if c.FunctionCalling = nil; cmp.Equal(*c, ToolConfig{}) {
						r.ToolConfig = nil
					}
				}
				if diff := cmp.Diff(bare(r), bare(back), ignoreOrigin); diff != "" {
					t.Errorf("%s: %s: through the neutral request without a loss (-want +got):\n%s\n%s", name, s.Name, diff, s.Sent)
				}
			}
		}
	}
	t.Logf("%d documents", n)
}

// A wrong value is reported once, at its path and with its code.
func TestObjectsWrongValues(t *testing.T) {
	n := 0
	for _, g := range generators {
		for name, o := range allObjects(g) {
			for w := range g.Wrongs(o) {
				n++
				for _, strict := range []bool{false, true} {
					opts := &ValidateOptions{Strict: strict}
					got := added(violationsOf(t, w.Base, opts), violationsOf(t, w.Sent, opts))
					if w.Strict && !strict {
						if len(got) != 0 {
							t.Errorf("%s: %s: only strict validation reports it, got %v\n%s", name, w.Name, got, w.Sent)
						}
					} else if len(got) != 1 || got[0].Path != w.Path || got[0].Code != w.Code {
						t.Errorf("%s: %s: strict %v: want %s %s, got %v\n%s", name, w.Name, strict, w.Code, w.Path, got, w.Sent)
					}
				}
			}
		}
	}
	t.Logf("%d wrong values", n)
}

// Validate finds in a constructed request what parsing finds in a document.
func TestObjectsConstructed(t *testing.T) {
	n := 0
	for _, g := range generators {
		for name, o := range allObjects(g) {
			for w := range g.Wrongs(o) {
				// An unknown tool has an object of its own, and an invalid function is one without a name.
				if !w.Kept || o.Tag == "functionDeclarations" || o.Type.Lenient && strings.HasSuffix(w.Name, "in other case") {
					continue
				}
				n++
				base, r := parsed(t, w.Base), parsed(t, w.Sent)
				base.origin, r.origin = nil, nil
				for _, strict := range []bool{w.Strict, true} {
					opts := &ValidateOptions{Strict: strict}
					got := added(violationsIn(base, opts), violationsIn(r, opts))
					if len(got) != 1 || got[0].Path != w.Path || got[0].Code != w.Code {
						t.Errorf("%s: %s: strict %v: want %s %s, got %v\n%s", name, w.Name, strict, w.Code, w.Path, got, w.Sent)
					}
				}
			}
		}
	}
	t.Logf("%d wrong values", n)
}

// Of two spellings the first is kept, so that the request can be encoded.
func TestObjectsBothSpellings(t *testing.T) {
	for name, o := range allObjects(generators[0]) {
		for w := range generators[0].Wrongs(o) {
			if o.Type.Lenient || !strings.HasSuffix(w.Name, "in both spellings") { // each tool has an object
				continue
			}
			want, err := parsed(t, w.Base).AppendJSON(nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := parsed(t, w.Sent).AppendJSON(nil); err != nil || string(got) != string(want) {
				t.Errorf("%s: %s: %v\nsent %s\nwant %s\ngot  %s", name, w.Name, err, w.Sent, want, got)
			}
		}
	}
}

// goNames has, for each member, the Go fields whose names are not part of its name.
var goNames = map[string][]string{
	"args":                 {"Input"},
	"fileUri":              {"ID", "URL"},
	"mimeType":             {"MediaType"},
	"parameters":           {"Input"},
	"parametersJsonSchema": {"Input"},
	"response":             {"Output"},
	"responseJsonSchema":   {"Output"},
	"toolType":             {"Name"},
}

// Each Go field holds one member, or the schemas of both dialects. The member's name contains
// the field's name, unless goNames has it.
func TestObjectsGoFields(t *testing.T) {
	tested := map[*object.Type]bool{}
	for place, o := range allObjects(generators[0]) {
		if !o.Type.HasStruct() || tested[o.Type] {
			continue
		}
		tested[o.Type] = true
		members := map[string]*object.Field{}
		for i := range o.Type.Fields() {
			f := &o.Type.Fields()[i]
			if !f.Typed() || f.ReadOnly || f == fieldOf(instructionType, "role") {
				continue
			}
			got := formattest.GoField(o.Type, f)
			if got == "" { // several fields hold it
				continue
			}
			if other := members[got]; other != nil && !(other.Value.Schema && f.Value.Schema) {
				t.Errorf("%s: %s and %s are both in %s", place, other.Name, f.Name, got)
			}
			members[got] = f
			if f.IsTag { // the data of a part
				continue
			}
			if !strings.Contains(strings.ToLower(f.Name), strings.ToLower(got)) && !slices.Contains(goNames[f.Name], got) {
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

// TestTexts checks that no text of a document slips past a guard.
func TestTexts(t *testing.T) {
	formattest.CheckTexts(t, func(yield func(string) bool) {
		for _, o := range allObjects(generators[0]) {
			for s := range generators[0].Samples(o) {
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
	}, "model", "role", "id", "mimeType", "aspectRatio", "imageSize", "responseModalities", "serviceTier")
}

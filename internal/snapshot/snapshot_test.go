package snapshot_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

const format content.Format = "format"

var (
	partType   = reflect.TypeFor[content.Part]()
	sourceType = reflect.TypeFor[content.Source]()
)

// filled returns a request in which every exported field is set, with parts and sources
// of all kinds.
func filled() *upstream.Request {
	f := filler{}
	r := &upstream.Request{}
	f.fill(reflect.ValueOf(r).Elem(), 0)
	r.Resolver, r.Wire = nil, nil
	return r
}

type filler struct{ n int }

func (f *filler) fill(v reflect.Value, depth int) {
	f.n++
	switch v.Kind() {
	case reflect.Pointer:
		if v.Type() != reflect.TypeFor[*document.Document]() {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), depth)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i), depth)
		}
	case reflect.Slice:
		f.slice(v, depth)
	case reflect.Interface:
		if v.Type() == sourceType {
			f.set(v, formattest.SourceKinds[f.n%len(formattest.SourceKinds)], depth)
		}
	case reflect.String:
		v.SetString(fmt.Sprint("s", f.n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(f.n))
	case reflect.Uint8:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(float64(f.n))
	default:
		panic("the test cannot fill a " + v.Type().String())
	}
}

func (f *filler) set(v reflect.Value, kind any, depth int) {
	p := reflect.New(reflect.TypeOf(kind).Elem())
	f.fill(p.Elem(), depth+1)
	v.Set(p)
}

func (f *filler) slice(v reflect.Value, depth int) {
	if v.Type().Elem() != partType {
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			f.fill(v.Index(i), depth)
		}
		return
	}
	if depth > 1 {
		v.Set(reflect.ValueOf([]content.Part{&content.Text{Text: "deep"}}))
		return
	}
	// Every kind of part, and an image for each kind of source.
	v.Set(reflect.MakeSlice(v.Type(), len(formattest.PartKinds)+len(formattest.SourceKinds), len(formattest.PartKinds)+len(formattest.SourceKinds)))
	for i, k := range formattest.PartKinds {
		f.set(v.Index(i), k, depth)
	}
	for i, k := range formattest.SourceKinds {
		img := &content.Image{}
		f.set(reflect.ValueOf(img).Elem().FieldByName("Source"), k, depth)
		v.Index(len(formattest.PartKinds) + i).Set(reflect.ValueOf(img))
	}
}

// leaves calls change for every exported leaf below v, with functions that change and
// restore the leaf.
func leaves(v reflect.Value, path string, visit func(path string, change, undo func())) {
	if k := v.Kind(); v.IsZero() && (k == reflect.Pointer || k == reflect.Interface || k == reflect.Slice) {
		return // below the depth of filled
	}
	old := reflect.New(v.Type()).Elem()
	old.Set(v)
	undo := func() { v.Set(old) }
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		visit(path+"=nil", func() { v.SetZero() }, undo)
		to := v.Elem()
		if v.Kind() == reflect.Interface {
			to = to.Elem() // an interface that contains a pointer
		}
		leaves(to, path, visit)
	case reflect.Struct:
		for i := range v.NumField() {
			leaves(v.Field(i), path+"."+v.Type().Field(i).Name, visit)
		}
	case reflect.Slice:
		visit(path+"=nil", func() { v.SetZero() }, undo)
		visit(path+" one less", func() { v.Set(v.Slice(0, v.Len()-1)) }, undo)
		visit(path+" one more", func() { v.Set(reflect.Append(v.Slice3(0, v.Len(), v.Len()), v.Index(0))) }, undo)
		for i := range v.Len() {
			leaves(v.Index(i), fmt.Sprint(path, ".", i), visit)
		}
	case reflect.String:
		visit(path+" longer", func() { v.SetString(v.String() + "!") }, undo)
		if v.Len() > 0 {
			visit(path+" other", func() { v.SetString("x" + v.String()[1:]) }, undo)
			visit(path+" empty", func() { v.SetString("") }, undo)
		}
	case reflect.Bool:
		visit(path, func() { v.SetBool(!v.Bool()) }, undo)
	case reflect.Int, reflect.Int64:
		visit(path, func() { v.SetInt(v.Int() + 1) }, undo)
	case reflect.Uint8:
		visit(path, func() { v.SetUint(v.Uint() + 1) }, undo)
	case reflect.Float64:
		visit(path, func() { v.SetFloat(v.Float() + 0.5) }, undo)
	default:
		panic("the test cannot change a " + v.Type().String())
	}
}

// excepted lists the fields that WireOf does not compare.
var excepted = []string{".Model", ".Stream", ".Session", ".Resolver", ".ForwardLinks", ".RejectLoss", ".Wire"}

func TestWireOfComparesEverything(t *testing.T) {
	r := filled()
	w := &document.Document{In: format, Body: "{}"}
	snapshot.Attach(r, w)
	if snapshot.DocumentOf(r, format) != w {
		t.Fatal("no Wire of an untouched request")
	}
	n := 0
	visit := func(path string, change, undo func()) {
		n++
		change()
		got := snapshot.DocumentOf(r, format)
		undo()
		if got != nil {
			t.Errorf("a change of %s went unnoticed", path)
		}
	}
	v := reflect.ValueOf(r).Elem()
	for i := range v.NumField() {
		path := "." + v.Type().Field(i).Name
		if !strings.Contains(strings.Join(excepted, " "), path) {
			leaves(v.Field(i), path, visit)
		}
	}
	if n < 1000 {
		t.Errorf("only %d changes", n)
	}
	if snapshot.DocumentOf(r, format) != w {
		t.Error("the test did not undo its changes")
	}
	r.Model, r.Stream, r.Session, r.RejectLoss = "other", false, "s", content.LossDropped
	if snapshot.DocumentOf(r, format) != w {
		t.Error("Model, Stream, Session and RejectLoss must not matter")
	}
}

func TestWireOf(t *testing.T) {
	text := &content.Text{Text: "hello"}
	fresh := func() *upstream.Request {
		r := &upstream.Request{Model: "m", System: []content.Part{&content.Text{Text: "s"}},
			Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{text, &content.Unknown{}}}}}
		snapshot.Attach(r, &document.Document{In: format, Body: "{}"})
		return r
	}
	tests := []struct {
		name string
		f    func(r *upstream.Request) *upstream.Request
		kept bool
	}{
		{"unchanged", func(r *upstream.Request) *upstream.Request { return r }, true},
		{"WithModel", func(r *upstream.Request) *upstream.Request { return r.WithModel("x") }, true},
		{"WithModel twice", func(r *upstream.Request) *upstream.Request { return r.WithModel("x").WithModel("y") }, true},
		{"an equal part", func(r *upstream.Request) *upstream.Request {
			r.Turns[0].Parts[0] = &content.Text{Text: string([]byte("hello"))}
			return r
		}, true},
		{"Clone", func(r *upstream.Request) *upstream.Request { return r.Clone() }, false},
		{"copied", func(r *upstream.Request) *upstream.Request { c := *r; return &c }, false},
		{"copied, then WithModel", func(r *upstream.Request) *upstream.Request { c := *r; return c.WithModel("x") }, false},
		{"WithModel, then copied", func(r *upstream.Request) *upstream.Request { c := *r.WithModel("x"); return &c }, false},
		{"WithModel of a changed one", func(r *upstream.Request) *upstream.Request { r.UserID = "u"; return r.WithModel("x") }, false},
		{"WithModel, then changed", func(r *upstream.Request) *upstream.Request { c := r.WithModel("x"); c.UserID = "u"; return c }, false},
		{"appended", func(r *upstream.Request) *upstream.Request { r.System = append(r.System, text); return r }, false},
		{"parts gone", func(r *upstream.Request) *upstream.Request { r.Turns[0].Parts = nil; return r }, false},
		{"swapped", func(r *upstream.Request) *upstream.Request {
			p := r.Turns[0].Parts
			p[0], p[1] = p[1], p[0]
			return r
		}, false},
		{"a nil pointer", func(r *upstream.Request) *upstream.Request { r.Turns[0].Parts[0] = (*content.Text)(nil); return r }, false},
		{"another kind", func(r *upstream.Request) *upstream.Request {
			r.Turns[0].Parts[0] = &content.Thinking{Text: "hello"}
			return r
		}, false},
		{"an empty extra", func(r *upstream.Request) *upstream.Request { r.Extra = &content.Extra{}; return r }, false},
		{"no Wire", func(r *upstream.Request) *upstream.Request { return &upstream.Request{} }, false},
	}
	for _, tt := range tests {
		r := tt.f(fresh())
		if got := snapshot.DocumentOf(r, format); (got != nil) != tt.kept {
			t.Errorf("%s: got %v", tt.name, got)
		}
		if snapshot.DocumentOf(r, "another") != nil {
			t.Errorf("%s: a Wire of another format", tt.name)
		}
	}
}

func TestClone(t *testing.T) {
	r := filled()
	snapshot.Attach(r, &document.Document{In: format})
	c := r.Clone()
	if c.Wire != nil {
		t.Error("the clone has the document")
	}
	r.Wire = nil
	if diff := cmp.Diff(r, c); diff != "" {
		t.Fatalf("the clone differs:\n%s", diff)
	}
	want := filled()
	leaves(reflect.ValueOf(c).Elem(), "", func(path string, change, _ func()) {
		if strings.HasPrefix(path, ".Resolver") || strings.HasPrefix(path, ".Wire") || strings.HasSuffix(path, "=nil") ||
			strings.HasSuffix(path, "less") || strings.HasSuffix(path, "more") || strings.HasSuffix(path, "empty") {
			return // only changes in place
		}
		change()
	})
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("changing the clone changed the original:\n%s", diff)
	}
	// Nil parts stay nil.
	r = &upstream.Request{System: []content.Part{nil, (*content.Text)(nil), &content.Image{}, &content.Image{Source: (*content.URL)(nil)}}}
	if diff := cmp.Diff(r, r.Clone()); diff != "" {
		t.Error(diff)
	}
}

// agent is a typical request of a coding agent.
func agent() *upstream.Request {
	r := &upstream.Request{Model: "m", System: []content.Part{&content.Text{Text: strings.Repeat("s", 9000), Cache: &content.Cache{}}}}
	for i := range 40 {
		r.Tools = append(r.Tools, content.Tool{Name: fmt.Sprint("tool", i), Description: strings.Repeat("d", 800), Input: content.Schema{JSON: strings.Repeat("j", 1500)}})
	}
	for i := range 30 {
		id := fmt.Sprint("toolu_", i)
		r.Turns = append(r.Turns,
			content.Turn{Role: content.RoleUser, Parts: []content.Part{
				&content.ToolResult{ID: id, Parts: []content.Part{&content.Text{Text: strings.Repeat("r", 4000)}}}, &content.Text{Text: "and"}}},
			content.Turn{Role: content.RoleAssistant, Parts: []content.Part{
				&content.Thinking{Text: strings.Repeat("t", 600), Signature: content.Signature{Format: format, Data: strings.Repeat("x", 400)}},
				&content.Text{Text: "so"}, &content.ToolUse{ID: id, Name: "tool1", Input: `{"a":1}`}, &content.ToolUse{ID: id + "b", Name: "tool2", Input: `{"a":1}`}}})
	}
	return r
}

func TestWireOfAllocations(t *testing.T) {
	r := agent()
	w := &document.Document{In: format}
	if n := testing.AllocsPerRun(20, func() { snapshot.Attach(r, w) }); n > 2 {
		t.Errorf("Remember: %v allocations, want 2", n)
	}
	if n := testing.AllocsPerRun(20, func() {
		if snapshot.DocumentOf(r, format) == nil {
			t.Fatal("nil")
		}
	}); n != 0 {
		t.Errorf("WireOf: %v allocations, want 0", n)
	}
}

// BenchmarkWire compares with V: gjson.Valid of a text of the size of the agent's body.
func BenchmarkWire(b *testing.B) {
	r := agent()
	w := &document.Document{In: format}
	body := `["` + strings.Repeat("text of a body, ", 350_000/16) + `"]`
	measure := func(f func()) time.Duration {
		best := time.Hour
		for range 20 {
			began := time.Now()
			f()
			best = min(best, time.Since(began))
		}
		return best
	}
	for b.Loop() {
		v := float64(measure(func() { gjson.Valid(body) }))
		b.ReportMetric(float64(measure(func() { snapshot.Attach(r, w) }))/v, "remember/V")
		b.ReportMetric(float64(measure(func() { snapshot.DocumentOf(r, format) }))/v, "check/V")
	}
}

package record

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// fill sets all fields of v to values that differ from each other.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString("a b" + strings.Repeat("c", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint8:
		v.SetUint(uint64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) / 4)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Interface:
		switch v.Type() {
		case reflect.TypeFor[content.Part]():
			v.Set(reflect.ValueOf(&content.Text{Text: strings.Repeat("d", *n)}))
		case reflect.TypeFor[content.Source]():
			v.Set(reflect.ValueOf(&content.Base64{MediaType: "image/png", Data: strings.Repeat("e", *n)}))
		}
	}
}

// filled returns a value with all fields set but cache marks, which responses do not have.
func filled[T any](zero T) T {
	p, n := reflect.New(reflect.TypeOf(zero).Elem()), 0
	fill(p.Elem(), &n)
	if f := p.Elem().FieldByName("Cache"); f.IsValid() {
		f.SetZero()
	}
	return p.Interface().(T)
}

// events has an event of every kind, with parts of every kind.
func events() (list []upstream.Event) {
	for kind := upstream.EventStart; kind <= upstream.EventExtra; kind++ {
		e := upstream.Event{Kind: kind, Block: 3, Candidate: 1}
		switch kind {
		case upstream.EventStart:
			e.Start = filled(new(upstream.Start))
			e.Start.UpstreamID, e.Start.Header, e.Start.Usage = "", nil, nil
		case upstream.EventOpen:
			for _, p := range formattest.PartKinds {
				e.Part = filled(p)
				list = append(list, e)
			}
			for _, s := range formattest.SourceKinds {
				e.Part = &content.Document{Source: filled(s)}
				list = append(list, e)
			}
			e.Part = &content.ToolUse{Input: `{"a": [1, "b"]}`}
		case upstream.EventText, upstream.EventInput:
			e.Text = "half a character: \xe6\x97"
			list = append(list, e)
			e.Text = "line\nbreak \u2028 \x00"
		case upstream.EventCitation:
			e.Citation = filled(new(content.Citation))
		case upstream.EventSignature:
			e.Signature = filled(new(content.Signature))
		case upstream.EventUsage:
			e.Usage = filled(new(content.Usage))
		case upstream.EventStop:
			e.Stop = filled(new(upstream.Stop))
		case upstream.EventLoss:
			e.Loss = filled(new(content.Loss))
		case upstream.EventBlockExtra, upstream.EventExtra:
			e.Text = "ping"
		}
		e.Extra = &content.Extra{Format: "messages", JSON: `{"a": 1}`}
		list = append(list, e)
	}
	return list
}

func TestEventsRoundTrip(t *testing.T) {
	for _, e := range events() {
		var c encoder
		c.line(func(f *fields) { f.event(&e) })
		if c.err != nil {
			t.Errorf("%v: %v", e, c.err)
			continue
		}
		f, err := readLine(string(c.text))
		if err != nil {
			t.Fatal(err)
		}
		var got upstream.Event
		f.event(&got)
		if diff := cmp.Diff(e, got); diff != "" || f.err != nil {
			t.Errorf("%v in %s(-want +got):\n%s", f.err, c.text, diff)
		}
	}
}

// notCompared are the fields of a request that only one format has, or that change from run to
// run.
var notCompared = []string{
	"Defaults", // what a format means without a setting
	"Session", "Turns.Extra", "Tools.Cache", "Tools.Strict", "Tools.Extra", "Choice.Extra",
	"Thinking.Display", "Thinking.Extra", "Output.Strict", "Output.Extra", "UserID", "ServiceTier",
	"Stream", "Resolver", "ForwardLinks", "RejectLoss", "Header", "Wire", "Extra",
}

// Every other field of a request changes its lines.
func TestRequestLines(t *testing.T) {
	linesOf := func(r *upstream.Request) []line {
		lines, err := requestLines(r)
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
	full := filled(new(upstream.Request))
	before := linesOf(full)
	var check func(path string, v reflect.Value)
	check = func(path string, v reflect.Value) {
		switch {
		case slices.Contains(notCompared, path):
			return
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				check(strings.TrimPrefix(path+"."+v.Type().Field(i).Name, "."), v.Field(i))
			}
			return
		case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
			check(path, v.Index(0))
			return
		case v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Struct:
			check(path, v.Elem())
			return
		}
		old := reflect.New(v.Type()).Elem()
		old.Set(v)
		v.SetZero()
		if cmp.Equal(before, linesOf(full), cmp.AllowUnexported(line{})) {
			t.Errorf("%s is not compared: add it to requestLines, or to notCompared if only one format has it", path)
		}
		v.Set(old)
	}
	check("", reflect.ValueOf(full).Elem())
}

// Every field of a part changes the lines of a request, but ids, signatures and members of one
// format. Thinking has none.
func TestPartsOfRequests(t *testing.T) {
	ignored := []string{"ID", "Signature", "Cache", "Extra"}
	linesOf := func(p content.Part) []line {
		r := &upstream.Request{Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{p}}}}
		lines, err := requestLines(r)
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
	for _, zero := range formattest.PartKinds {
		p := filled(zero)
		before, v := linesOf(p), reflect.ValueOf(p).Elem()
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			skip := slices.Contains(ignored, name) || name == "Source" && v.Field(i).Kind() == reflect.Interface
			if _, thinks := p.(*content.Thinking); thinks {
				skip = true
			}
			if _, result := p.(*content.ToolResult); result && name == "Name" {
				skip = true
			}
			if _, text := p.(*content.Text); text && name == "Citations" {
				skip = true
			}
			if skip {
				continue
			}
			old := reflect.New(v.Field(i).Type()).Elem()
			old.Set(v.Field(i))
			v.Field(i).SetZero()
			if cmp.Equal(before, linesOf(p), cmp.AllowUnexported(line{})) {
				t.Errorf("%T: %s is not compared", p, name)
			}
			v.Field(i).Set(old)
		}
	}
}

func TestDifference(t *testing.T) {
	text := func(texts ...string) (lines []line) {
		for i, s := range texts {
			if path, json, ok := strings.Cut(s, "="); ok {
				lines = append(lines, line{path, json})
			} else {
				lines = append(lines, line{at("turns", i), s})
			}
		}
		return lines
	}
	for _, tt := range []struct {
		name          string
		recorded, got []line
		same          int
		want          [3]string
	}{
		{"equal", text("a", "b"), text("a", "b"), 2, [3]string{}},
		{"value", text("a", "b"), text("a", "c"), 1, [3]string{"turns.1", "b", "c"}},
		{"more", text("a"), text("a", "b"), 1, [3]string{"turns.1", "", "b"}},
		{"fewer", text("a", "b"), text("a"), 1, [3]string{"turns.1", "b", ""}},
		{"inserted", text("a", "x=1"), text("a", "b", "x=1"), 1, [3]string{"turns.1", "", "b"}},
		{"removed", text("a", "b", "x=1"), text("a", "x=1"), 1, [3]string{"turns.1", "b", ""}},
		{"one limit", text("a", "max_tokens=5", "x=1"), text("a", "x=1"), 3, [3]string{}},
		{"the other limit", text("a"), text("a", "max_tokens=5"), 2, [3]string{}},
		{"two limits", text("a", "max_tokens=5"), text("a", "max_tokens=6"), 1, [3]string{"max_tokens", "5", "6"}},
	} {
		same, path, was, is := difference(tt.recorded, tt.got)
		if same != tt.same || [3]string{path, was, is} != tt.want {
			t.Errorf("%s: got %d, %q, %q, %q, want %d, %q", tt.name, same, path, was, is, tt.same, tt.want)
		}
	}
}

package recorded

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

// samplesPerShape limits how often a member at one place of the format is
// removed, with different values if possible.
const samplesPerShape = 6

// TestMembers removes members from requests. If neither the translation nor its
// losses change, the member was dropped without a loss.
func TestMembers(t *testing.T) {
	samples := sampleMembers(corpus(t), translated, func(r *record, f func(step, any)) {
		members(parseJSON(r.Request), nil, f)
	})
	sampled := func(r *record) bool { return len(samples[r]) > 0 }
	eachRecord(t, sampled, func(t *testing.T, r *record) {
		for _, target := range targets {
			if target.format == r.format {
				continue
			}
			for _, model := range []string{target.model, target.newer, target.small} {
				check(t, r, "6m members towards "+string(target.format)+", "+model, func() error {
					return silentMembers(r, samples[r], target.format, model)
				})
			}
		}
	})
}

// A step is a path in a document: names of members and indexes of lists.
type step []any

func (s step) String() string {
	var b strings.Builder
	for _, x := range s {
		switch x := x.(type) {
		case string:
			b.WriteString("." + x)
		case int:
			b.WriteString("[" + strconv.Itoa(x) + "]")
		}
	}
	return b.String()
}

// sampleMembers chooses members of documents, so that each place of a format is
// seen a few times and with different values.
func sampleMembers(all map[content.Format][]*record, want func(*record) bool, walk func(r *record, f func(path step, v any))) map[*record][]step {
	type place struct{ shape, value string }
	samples := make(map[*record][]step)
	for _, records := range all {
		seen := make(map[place]bool)
		often := make(map[string]int)
		for _, r := range records {
			if !want(r) {
				continue
			}
			walk(r, func(path step, v any) {
				shape := shapeOf(path)
				p := place{shape, literal(v)}
				if seen[p] || often[shape] >= samplesPerShape {
					return
				}
				seen[p] = true
				often[shape]++
				samples[r] = append(samples[r], slices.Clone(path))
			})
		}
	}
	return samples
}

// freeJSON are the members, in plain names, whose value is the caller's own
// JSON. They are one member.
var freeJSON = map[string]bool{"input": true, "args": true, "response": true, "metadata": true, "labels": true}

// members calls f for every member of every object in a request.
func members(v any, path step, f func(path step, v any)) {
	switch v := v.(type) {
	case object:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at := append(path, name)
			f(at, v[name])
			if !freeJSON[plainName(name)] {
				members(v[name], at, f)
			}
		}
	case []any:
		for i, x := range v {
			members(x, append(path, i), f)
		}
	}
}

// ownNames are members whose members have names chosen by the caller.
var ownNames = map[string]bool{"properties": true, "$defs": true, "definitions": true, "defs": true}

// shapeOf returns a path without indexes and without names chosen by the
// caller.
func shapeOf(path step) string {
	var b strings.Builder
	for i, x := range path {
		name, ok := x.(string)
		if !ok {
			b.WriteString("[]")
			continue
		}
		if i > 0 {
			if parent, ok := path[i-1].(string); ok && ownNames[parent] {
				name = "*"
			}
		}
		b.WriteString("." + name)
	}
	// Schemas nest: a property of a property is at the same place.
	return strings.ReplaceAll(nested.ReplaceAllString(b.String(), ".properties.*"), ".properties.*.properties.*", ".properties.*")
}

var nested = regexp.MustCompile(`(\.(properties\.\*|items|anyOf\[\]|\$defs\.\*|additionalProperties))+`)

// literal is a short value, or the kind of a long one.
func literal(v any) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case nil:
		return "null"
	case json.Number:
		return "number"
	case string:
		return clip(v, 24)
	}
	return fmt.Sprintf("%T", v)
}

// silentMembers removes each member from a request and compares translations.
func silentMembers(r *record, paths []step, format content.Format, model string) error {
	source := parseJSON(r.Request)
	base, err := translateText(r, encodeJSON(source), format, model)
	if err != nil {
		return errIncomparable // checks 1 and 5 report it
	}
	reported := base.reported()
	var silent []string
	for _, path := range paths {
		v := valueAt(source, path)
		if meansNothing(path, v) || allowsAll(path, v, source) || covered(reported, path.String()) {
			continue
		}
		without := parseJSON(r.Request)
		edit(without, path, func(o object, name string) { delete(o, name) })
		got, err := translateText(r, encodeJSON(without), format, model)
		if err != nil { // a required member is changed instead
			s, ok := v.(string)
			if !ok {
				continue
			}
			edit(without, path, func(o object, name string) { o[name] = s + "x" })
			if got, err = translateText(r, encodeJSON(without), format, model); err != nil {
				continue
			}
		}
		if got.body == base.body && cmp.Equal(got.losses, base.losses) {
			silent = append(silent, fmt.Sprintf("%v (%s)", path, clip(encodeJSON(v), 60)))
		}
	}
	if silent == nil {
		return nil
	}
	return fmt.Errorf("without any effect and without a loss: %s\nlosses: %v", strings.Join(silent, "; "), base.losses)
}

// translateText parses, validates and translates a request.
func translateText(r *record, body string, format content.Format, model string) (*translation, error) {
	if err := validate(r.format, body, r.rules(false)); err != nil {
		return nil, err
	}
	d, err := parseRequest(r.format, body, false)
	if err != nil {
		return nil, err
	}
	return translate(d, format, model)
}

// valueAt returns the value at a path.
func valueAt(v any, path step) any {
	for _, x := range path {
		switch x := x.(type) {
		case string:
			v = v.(object)[x]
		case int:
			v = v.([]any)[x]
		}
	}
	return v
}

// edit calls f with the object that has the member at a path.
func edit(v any, path step, f func(o object, name string)) {
	last := len(path) - 1
	f(valueAt(v, path[:last]).(object), path[last].(string))
}

// A neutral member is one whose value means the same as its absence, or whose
// effect cannot be seen in the body of a translation.
type neutralMember struct {
	shape  string // in plain names
	value  string // JSON; empty means any
	reason string
}

var neutralMembers = []neutralMember{
	{".model", "", "translations use another model"},
	{".stream", "", "false is the default; true may be in the URL"},
	{".contents[].role", `"user"`, "the default"},
	{".systeminstruction.role", "", "the vendor ignores the role of a system instruction"},
	{".systeminstruction.parts.text", `""`, "no text"},
	{".contents[].parts[].functionresponse.id", "", "responses without one pair with calls by their order"},
	{".contents[].parts[].functionresponse.name", "", "responses without one pair with calls by their order"},
	{".generationconfig", `{"responseModalities":["TEXT"]}`, "the default"},
	{".generationconfig.responsemodalities", `["TEXT"]`, "the default"},
	{".generationconfig.thinkingconfig", `{"includeThoughts":false}`, "the default"},
	{".generationconfig.thinkingconfig.includethoughts", "false", "the default"},
	{".messages[].content[].iserror", "false", "the default"},
	{".thinking.display", `"summarized"`, "other formats show summaries of thinking"},
	{".tools[].strict", "false", "the default"},
	{".mcpservers[].toolconfiguration.enabled", "true", "the default"},
	{".tools[].type", `"custom"`, "the default"},
}

// meansNothing reports whether removing a member may have no effect.
func meansNothing(path step, v any) bool {
	if v == nil {
		return true
	}
	shape := plainShape(path)
	if list, ok := v.([]any); ok && len(list) < 2 && strings.HasSuffix(shape, ".propertyordering") {
		return true // an order of one property
	}
	text := encodeJSON(v)
	return slices.ContainsFunc(neutralMembers, func(n neutralMember) bool {
		return n.shape == shape && (n.value == "" || n.value == text)
	})
}

// allowsAll reports whether a member is a list of the functions that may be called
// which names every declared one: that is the same as no list.
func allowsAll(path step, v, source any) bool {
	list, ok := v.([]any)
	if !ok || plainShape(path) != ".toolconfig.functioncallingconfig.allowedfunctionnames" {
		return false
	}
	allowed := make(map[any]bool)
	for _, name := range list {
		allowed[name] = true
	}
	root, _ := source.(object)
	tools, _ := member(root, "tools").([]any)
	declared := 0
	for _, t := range tools {
		o, _ := t.(object)
		declarations, _ := member(o, "functionDeclarations").([]any)
		for _, d := range declarations {
			declared++
			if !allowed[at(d, "name")] {
				return false
			}
		}
	}
	return declared > 0
}

// plainShape is a path without indexes, in plain names.
func plainShape(path step) string {
	var b strings.Builder
	for _, x := range path {
		if name, ok := x.(string); ok {
			b.WriteString("." + plainName(name))
		} else {
			b.WriteString("[]")
		}
	}
	return b.String()
}

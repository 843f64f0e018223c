package lower

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

const own, other content.Format = "own", "other"

// plain accepts files of all kinds alike, and its signatures belong to their parts.
var plain = Target{
	Format:       own,
	Conversation: Conversation{JoinUser: JoinResults, EmptyTexts: true, AssistantFiles: true, Prefill: true},
	Calls:        Calls{NoInput: true},
	Results:      Results{AsTheyCame: true, TextFirst: true, Files: true, Objects: true, Names: true, Errors: true},
	Thoughts:     Thoughts{Unsigned: UnsignedOnly},
	Files:        Files{Alike: true, Keep: true, Stores: func(id string) bool { return id == "own/1" }},
	Own:          Own{Members: true, Calls: true, Vendor: true},
}

// with returns a copy of plain that f has changed.
func with(f func(t *Target)) *Target {
	t := plain
	f(&t)
	return &t
}

// describe returns turns as text, one line for each.
func describe(turns []content.Turn) string {
	var b strings.Builder
	for i := range turns {
		b.WriteString(string(turns[i].Role[0]) + ":")
		for _, p := range turns[i].Parts {
			b.WriteString(" " + describePart(p))
		}
		if x := turns[i].Extra; x != nil {
			b.WriteString(" " + x.JSON)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func describePart(p content.Part) string {
	signed := func(s content.Signature) string {
		if s.Data == "" {
			return ""
		}
		return "/" + s.Data
	}
	switch p := p.(type) {
	case *content.Text:
		return strconv.Quote(p.Text) + signed(p.Signature)
	case *content.Thinking:
		return "thinking(" + p.Text + ")" + signed(p.Signature)
	case *content.ToolUse:
		return "call(" + p.ID + " " + p.Name + p.Input + ")" + signed(p.Signature)
	case *content.ToolResult:
		s := "result(" + p.ID + " " + p.Name + p.Object
		if p.Error {
			s += " failed"
		}
		for _, q := range p.Parts {
			s += " " + describePart(q)
		}
		return s + ")"
	case *content.Image:
		return "image(" + describeSource(p.Source) + ")" + signed(p.Signature)
	case *content.Document:
		return "document(" + p.Title + describeSource(p.Source) + ")" + signed(p.Signature)
	case *content.Media:
		return "media(" + describeSource(p.Source) + ")" + signed(p.Signature)
	case *content.Unknown:
		return p.Kind
	}
	return "?"
}

func describeSource(s content.Source) string {
	switch s := s.(type) {
	case *content.Base64:
		return s.MediaType
	case *content.PlainText:
		return s.Text
	case *content.URL:
		return s.URL + " " + s.MediaType
	case *content.File:
		return s.ID
	}
	return "?"
}

// reports returns losses as texts: severity, path and feature.
func reports(losses []Report) (list []string) {
	for _, x := range each(losses) {
		list = append(list, x.Rule.Severity.String()+" "+x.Path.String())
	}
	return list
}

func text(s string) *content.Text { return &content.Text{Text: s} }

func user(parts ...content.Part) content.Turn {
	return content.Turn{Role: content.RoleUser, Parts: parts}
}

func assistant(parts ...content.Part) content.Turn {
	return content.Turn{Role: content.RoleAssistant, Parts: parts}
}

func system(parts ...content.Part) content.Turn {
	return content.Turn{Role: content.RoleSystem, Parts: parts}
}

func signedBy(f content.Format, data string) content.Signature {
	return content.Signature{Format: f, Data: data}
}

func answer(id, name string, parts ...content.Part) *content.ToolResult {
	return &content.ToolResult{ID: id, Name: name, Parts: parts}
}

var (
	signing = with(func(t *Target) { t.Calls.Signature = "none" })
	apart   = with(func(t *Target) { t.Results.Files = false })
	loads   = with(func(t *Target) { t.Files.Keep = false })
	typed   = with(func(t *Target) {
		t.Files.Accepts = func(kind string) bool { return kind == "image/png" || kind == "text/html" }
	})

	png  = &content.Image{Source: &content.Base64{MediaType: "image/png", Data: "AAAA"}}
	pdf  = &content.Document{Source: &content.Base64{MediaType: "application/pdf", Data: "AAAA"}}
	link = &content.Image{Source: &content.URL{URL: "https://a.example/x.WEBP?q"}}

	untyped = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB" // the first bytes of a PNG
)

// turnTests have conversations, and what they become. A violation is the path of one.
var turnTests = []struct {
	name      string
	target    *Target
	turns     []content.Turn
	want      string
	losses    []string
	violation string
}{
	{name: "nothing to do", turns: []content.Turn{user(text("q")), assistant(text("a"), useOf("1", "f")), user(answer("1", "f", text("r")), text("b"))},
		want: "u: \"q\"\na: \"a\" call(1 f)\nu: result(1 f \"r\") \"b\"\n"},
	{name: "system turn", turns: []content.Turn{user(text("q")), system(text("s"), png), user(text("b"))},
		want: "u: \"q\"\nu: \"s\"\nu: \"b\"\n", losses: []string{"degraded turns.1", "dropped turns.1.parts.1"}},
	{name: "results in several turns", turns: []content.Turn{user(text("q")), assistant(useOf("1", "f"), useOf("2", "g")), user(answer("2", "", text("b"))),
		user(answer("1", "", text("a")), text("c")), user(text("d"))},
		want: "u: \"q\"\na: call(1 f) call(2 g)\nu: result(2 g \"b\") result(1 f \"a\") \"c\"\nu: \"d\"\n", losses: []string{"hint turns.3"}},
	{name: "result behind another turn", turns: []content.Turn{user(text("q")), assistant(useOf("1", "f"), useOf("2", "g")), user(answer("1", "")), user(text("a")),
		user(answer("2", ""), text("b"))},
		want: "u: \"q\"\na: call(1 f) call(2 g)\nu: result(1 f) result(2 g)\nu: \"a\"\nu: \"b\"\n", losses: []string{"hint turns.4.parts.0"}},
	{name: "calls without ids", turns: []content.Turn{user(text("q")), assistant(useOf("", "f"), useOf("", "g"), useOf("", "f")), user(answer("", "g"), answer("", ""), answer("", ""))},
		want: "u: \"q\"\na: call( f) call( g) call( f)\nu: result( g) result( f) result( f)\n"},
	{name: "result with an unknown id and the name of a call", turns: []content.Turn{user(text("q")), assistant(useOf("1", "f"), useOf("2", "g")), user(answer("x", "g"), answer("1", ""))},
		want: "u: \"q\"\na: call(1 f) call(2 g)\nu: result(x g) result(1 f)\n"},
	{name: "missing result and result of another turn", turns: []content.Turn{user(text("q")), assistant(useOf("1", "f")), user(text("a")), assistant(text("b")), user(answer("1", "f", text("r")))},
		want:   "u: \"q\"\na: call(1 f)\nu: result(1 f failed \"There is no result of this call.\")\nu: \"a\"\na: \"b\"\nu: \"Result of the tool f:\" \"r\"\n",
		losses: []string{"degraded turns.1.parts.0", "degraded turns.4.parts.0"}},
	{name: "empty texts", turns: []content.Turn{user(text(""), text("")), assistant(text("a"), text("")), user(text(""), text("b"))},
		want: "u: \"\"\na: \"a\"\nu: \"b\"\n", losses: []string{"hint turns.0.parts.1", "hint turns.1.parts.1", "hint turns.2.parts.0"}},
	{name: "turn of which everything was dropped", turns: []content.Turn{user(&content.Unknown{Format: other, Kind: "x"}), assistant(text("a")), user(text("b"))},
		want: "u: \"[Here was something that you cannot be shown.]\"\na: \"a\"\nu: \"b\"\n", losses: []string{"degraded turns.0", "dropped turns.0.parts.0"}},

	{name: "first call of a step without a signature", target: signing, turns: []content.Turn{user(text("q")), assistant(useOf("1", "f")), assistant(useOf("2", "g")),
		user(answer("1", "f"), answer("2", "g")), assistant(text("a")), user(text("b")), assistant(useOf("3", "f")), user(answer("3", "f"))},
		want:   "u: \"q\"\na: call(1 f)/none call(2 g)\nu: result(1 f) result(2 g)\na: \"a\"\nu: \"b\"\na: call(3 f)/none\nu: result(3 f)\n",
		losses: []string{"hint turns.1.parts.0.signature", "hint turns.2", "degraded turns.6.parts.0.signature"}},
	{name: "signed call", target: signing, turns: []content.Turn{user(text("q")),
		assistant(&content.ToolUse{ID: "1", Name: "f", Signature: signedBy(own, "s")}, useOf("2", "g")), user(answer("1", "f"), answer("2", "g"))},
		want: "u: \"q\"\na: call(1 f)/s call(2 g)\nu: result(1 f) result(2 g)\n"},
	{name: "call with another vendor's signature", target: signing, turns: []content.Turn{user(text("q")),
		assistant(&content.ToolUse{ID: "1", Name: "f", Signature: signedBy(other, "s")}), user(answer("1", "f"))},
		want: "u: \"q\"\na: call(1 f)/none\nu: result(1 f)\n", losses: []string{"hint turns.1.parts.0.signature", "degraded turns.1.parts.0.signature"}},
	{name: "thinking and signatures", turns: []content.Turn{user(text("q")), assistant(&content.Thinking{Text: "a"}, &content.Thinking{Text: "b", Signature: signedBy(own, "s")},
		&content.Thinking{Text: "c", Signature: signedBy(other, "s")}, &content.Text{Signature: signedBy(own, "t")}, &content.Image{Source: png.Source, Signature: signedBy(own, "i")},
		&content.Document{Source: pdf.Source, Signature: signedBy(own, "d")})},
		want: "u: \"q\"\na: thinking(a) thinking(b)/s \"\"/t image(image/png)/i document(application/pdf)/d\n", losses: []string{"hint turns.1.parts.2"}},

	{name: "texts and files of a result", turns: []content.Turn{user(text("q")), assistant(useOf("1", "f")), user(answer("1", "f", png, text("a"), pdf, text("b")))},
		want: "u: \"q\"\na: call(1 f)\nu: result(1 f \"a\\n\\nb\" image(image/png) document(application/pdf))\n", losses: []string{"hint turns.2.parts.0"}},
	{name: "files behind results", target: apart, turns: []content.Turn{user(text("q")), assistant(useOf("1", "f"), useOf("", "g")),
		user(answer("1", "f", png), answer("", "g", text("a"), pdf)), user(text("b"))},
		want:   "u: \"q\"\na: call(1 f) call( g)\nu: result(1 f) result( g \"a\") \"Files of the result of the call 1 of f:\" image(image/png) \"Files of the result of the call of g:\" document(application/pdf)\nu: \"b\"\n",
		losses: []string{"degraded turns.2.parts.0.parts.0", "degraded turns.2.parts.1.parts.1"}},

	{name: "documents", turns: []content.Turn{user(
		&content.Document{Title: "T", Context: "C", Citations: true, Source: &content.PlainText{Text: "a"}},
		&content.Document{Source: &content.Parts{Parts: []content.Part{text("b"), png}}}, &content.Document{Source: &content.PlainText{}})},
		want:   "u: \"Document: T\\nAbout the document: C\" document(a) \"b\" image(image/png)\n",
		losses: []string{"dropped turns.0.parts.0.citations", "degraded turns.0.parts.0", "degraded turns.0.parts.1.source", "hint turns.0.parts.2"}},
	{name: "media types", turns: []content.Turn{user(&content.Media{Source: &content.Base64{Data: untyped}}, link, &content.Document{Source: &content.URL{URL: "https://a.example/x"}},
		&content.Media{Source: &content.URL{URL: "https://a.example/y"}})},
		want:   "u: media(image/png) image(https://a.example/x.WEBP?q image/webp) document(https://a.example/x application/pdf) media(https://a.example/y )\n",
		losses: []string{"hint turns.0.parts.0.source.media_type", "degraded turns.0.parts.1.source.media_type"}},
	{name: "stored files", turns: []content.Turn{user(&content.Document{Source: &content.File{ID: "own/1"}}, &content.Document{Source: &content.File{ID: "own/"}})},
		want: "u: document(own/1)\n", losses: []string{"dropped turns.0.parts.1.source"}},
	{name: "files that must be loaded", target: loads, turns: []content.Turn{user(link, &content.Document{Source: &content.File{ID: "x"}})},
		want: "u: image(https://a.example/x.WEBP?q ) document(x)\n"},
	{name: "accepted media types", target: typed, turns: []content.Turn{user(png, &content.Document{Source: &content.Base64{MediaType: "text/html", Data: "AAAA"}})},
		want: "u: image(image/png) document(text/html)\n"},
	{name: "media type that is not accepted", target: typed, turns: []content.Turn{user(text("q"), pdf)}, want: "u: \"q\"\n", violation: "turns.0.parts.1.source"},
	{name: "file without a source", turns: []content.Turn{user(text("q"), &content.Image{})}, want: "u: \"q\"\n", violation: "turns.0.parts.1.source"},
}

func TestTurns(t *testing.T) {
	for _, tt := range turnTests {
		t.Run(tt.name, func(t *testing.T) {
			target := tt.target
			if target == nil {
				target = &plain
			}
			n := &upstream.Request{Turns: tt.turns}
			before := n.Clone()
			to, losses, err := Lower(n, target, false)
			if diff := cmp.Diff(tt.want, describe(to.Turns)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.losses, reports(losses)); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
			if list, _ := content.Violations(err); tt.violation == "" && err != nil || tt.violation != "" && (len(list) != 1 || list[0].Path != tt.violation) {
				t.Errorf("violations: %v", err)
			}
			if diff := cmp.Diff(before, n.Clone()); diff != "" {
				t.Errorf("the request was changed (-before +after):\n%s", diff)
			}
			again, losses, _ := Lower(&to.Request, target, false)
			if diff := cmp.Diff(to.Turns, again.Turns); diff != "" || len(losses) > 0 {
				t.Errorf("lowered again: %v (-first +second):\n%s", reports(losses), diff)
			}
		})
	}
}

// TestLoaded checks the files of a request after others have been loaded.
func TestLoaded(t *testing.T) {
	n := &upstream.Request{Turns: []content.Turn{user(&content.Document{Source: &content.File{ID: "own/1"}}, link)}}
	if to, _, err := Lower(n, loads, false); !to.Load || err != nil {
		t.Errorf("before loading: Load is %v, with %v", to.Load, err)
	}
	to, _, err := Lower(n, loads, true)
	if list, _ := content.Violations(err); to.Load || len(list) != 1 || list[0].Path != "turns.0.parts.1.source" {
		t.Errorf("after loading: Load is %v, with %v", to.Load, err)
	}
	n.ForwardLinks = true
	if to, _, err := Lower(n, loads, true); err != nil || describe(to.Turns) != "u: document(own/1) image(https://a.example/x.WEBP?q image/webp)\n" {
		t.Errorf("with links: %s, %v", describe(to.Turns), err)
	}
}

// A talk generates conversations.
type talk struct {
	*rand.Rand
	calls int
}

func (r *talk) part() content.Part {
	return []content.Part{text("a"), text(""), png, pdf, link, &content.Document{Title: "T", Source: &content.PlainText{Text: "d"}},
		&content.Unknown{Format: other, Kind: "x"}, &content.SearchResult{Title: "t", Parts: []content.Part{text("s")}}}[r.IntN(8)]
}

func (r *talk) parts() (list []content.Part) {
	for range r.IntN(3) {
		list = append(list, r.part())
	}
	return list
}

// step returns turns of the assistant and the turns of the user behind them.
func (r *talk) step() []content.Turn {
	list := []content.Turn{assistant(r.parts()...)}
	if r.IntN(4) == 0 {
		list = append(list, assistant(r.parts()...))
	}
	at, behind := len(list)-1, user()
	for range r.IntN(3) {
		r.calls++
		id := []string{"", strconv.Itoa(r.calls), strconv.Itoa(r.calls % 3)}[r.IntN(3)]
		call := &content.ToolUse{ID: id, Name: "f" + strconv.Itoa(r.IntN(2))}
		call.Signature = []content.Signature{{}, signedBy(own, "s"), signedBy(other, "s")}[r.IntN(3)]
		list[at].Parts = append(append(list[at].Parts, &content.Thinking{Text: "h"}, call), r.parts()...)
		if result := answer(id, []string{"", call.Name}[r.IntN(2)], r.parts()...); r.IntN(5) > 0 {
			behind.Parts = append(behind.Parts, result)
		}
		if r.IntN(4) == 0 {
			list = append(list, behind)
			behind = user()
		}
	}
	r.Shuffle(len(behind.Parts), func(i, j int) { behind.Parts[i], behind.Parts[j] = behind.Parts[j], behind.Parts[i] })
	return append(list, behind, user(append(r.parts(), text("q"))...))
}

// TestLowerTwice checks that lowering removes what it reports, and that the lowered
// beginning of a conversation does not depend on later turns.
func TestLowerTwice(t *testing.T) {
	for seed := range uint64(400) {
		r := &talk{Rand: rand.New(rand.NewPCG(seed, 18))}
		target := []*Target{&plain, signing, apart, loads}[seed%4]
		n := &upstream.Request{Turns: []content.Turn{user(text("q"))}}
		before := ""
		for range 4 {
			n.Turns = append(n.Turns, r.step()...)
			to, _, err := Lower(n, target, false)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			is := describe(to.Turns)
			if !strings.HasPrefix(is, before) {
				t.Fatalf("seed %d has another beginning:\n%s\n%s", seed, before, is)
			}
			before = is
			again, losses, err := Lower(&to.Request, target, false)
			if diff := cmp.Diff(to.Turns, again.Turns); diff != "" || len(losses) > 0 || err != nil {
				t.Fatalf("seed %d, lowered again: %v, %v (-first +second):\n%s\n%s", seed, reports(losses), err, diff, is)
			}
		}
	}
}

// chatty is a target in which texts precede tool calls, and a result is one text.
var chatty = with(func(t *Target) {
	t.Conversation = Conversation{TextsFirst: true}
	t.Files, t.Results, t.Thoughts = Files{}, Results{OneText: true}, Thoughts{Carried: true}
})

// TestNilSources checks that files without a source are refused, also if the source is a
// nil pointer.
func TestNilSources(t *testing.T) {
	citing := with(func(t *Target) { t.Files = Files{Citable: true, Audio: map[string]string{"audio/wav": "audio/wav"}} })
	for _, s := range []content.Source{nil, (*content.Base64)(nil), (*content.URL)(nil), (*content.File)(nil), (*content.PlainText)(nil), (*content.Parts)(nil)} {
		for _, p := range []content.Part{&content.Image{Source: s}, &content.Document{Source: s}, &content.Media{Source: s}} {
			for i, target := range []*Target{&plain, chatty, citing} {
				if _, isMedia := p.(*content.Media); isMedia && target == chatty {
					continue // it accepts none
				}
				_, _, err := Lower(&upstream.Request{Turns: []content.Turn{user(p, text("q"))}}, target, false)
				if list, _ := content.Violations(err); len(list) != 1 || list[0].Path != "turns.0.parts.0.source" {
					t.Errorf("%T with %T, target %d: %v", p, s, i, err)
				}
			}
		}
	}
}

// TestTextsFirst checks texts behind tool calls: they are moved and reported, and a line
// separates them from the text that was in front of the call.
func TestTextsFirst(t *testing.T) {
	summary := &content.Unknown{Format: "messages", Kind: "compaction", Raw: `{"type":"compaction","content":"s"}`}
	for _, tt := range []struct {
		name   string
		parts  []content.Part
		want   string
		losses []string
	}{
		{"calls at the end", []content.Part{text("a"), useOf("1", "f"), useOf("2", "f")}, `"a" call(1 f) call(2 f)`, nil},
		{"text behind a call", []content.Part{useOf("1", "f"), text("a"), text("b")}, `"a" "b" call(1 f)`,
			[]string{"degraded turns.1.parts.1", "degraded turns.1.parts.2"}},
		{"texts around calls", []content.Part{text("a"), useOf("1", "f"), useOf("2", "f"), text("b"), text("c"), useOf("3", "f"), text("d")},
			`"a" "\n\n" "b" "c" "\n\n" "d" call(1 f) call(2 f) call(3 f)`,
			[]string{"degraded turns.1.parts.3", "degraded turns.1.parts.4", "degraded turns.1.parts.6"}},
		{"part that becomes text", []content.Part{text("a"), useOf("1", "f"), summary}, `"a" "\n\n" "Summary of the conversation so far:\n\ns" call(1 f)`,
			[]string{"degraded turns.1.parts.2", "degraded turns.1.parts.2"}},
	} {
		n := &upstream.Request{Turns: []content.Turn{user(text("q")), assistant(tt.parts...), user(answer("1", ""), answer("2", ""), answer("3", ""))}}
		to, losses, err := Lower(n, chatty, false)
		if diff := cmp.Diff("a: "+tt.want+"\n", describe(to.Turns[1:2])); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
		}
		var got []string
		for _, x := range reports(losses) {
			if strings.Contains(x, "turns.1") {
				got = append(got, x)
			}
		}
		if diff := cmp.Diff(tt.losses, got); diff != "" {
			t.Errorf("%s: losses (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestManyParts lowers conversations that take minutes if the time is quadratic in the
// number of calls, of texts in a result, or of turns.
func TestManyParts(t *testing.T) {
	const n = 200_000
	t.Run("texts between calls", func(t *testing.T) {
		var parts []content.Part
		for i := range n {
			parts = append(parts, useOf("a"+strconv.Itoa(i), "f"))
		}
		for i := range n {
			parts = append(parts, text("x"), useOf("b"+strconv.Itoa(i), "f"))
		}
		to, _, _ := Lower(&upstream.Request{Turns: []content.Turn{user(text("q")), assistant(parts...)}}, chatty, false)
		if got, want := len(to.Turns[1].Parts), 4*n-1; got != want { // a line between two texts
			t.Errorf("%d parts, want %d", got, want)
		}
	})
	t.Run("texts of a result with an object", func(t *testing.T) {
		object := strings.Builder{}
		parts := make([]content.Part, n)
		for i := range parts {
			parts[i] = text(strconv.Itoa(i))
			object.WriteString(`,"` + strconv.Itoa(i) + `":"x` + strconv.Itoa(i) + `"`)
		}
		parts = append(parts, text("x7"))
		r := &content.ToolResult{ID: "1", Object: "{" + object.String()[1:] + "}", Parts: parts}
		to, _, _ := Lower(&upstream.Request{Turns: []content.Turn{user(text("q")), assistant(useOf("1", "f")), user(r)}}, chatty, false)
		got := to.Turns[2].Parts[0].(*content.ToolResult).Parts[0].(*content.Text).Text
		if !strings.HasSuffix(got, "\n\n"+strconv.Itoa(n-1)) {
			t.Error("the text that the object repeats was sent twice")
		}
	})
	t.Run("turns behind a result", func(t *testing.T) {
		first := make([]content.Part, n)
		for i := range first {
			first[i] = text("x")
		}
		turns := []content.Turn{user(append(first, answer("1", "f"))...)}
		for range n {
			turns = append(turns, assistant(), user(text("x")))
		}
		to, _, _ := Lower(&upstream.Request{Turns: turns}, with(func(t *Target) {
			t.Conversation = Conversation{JoinUser: JoinSection, Continues: true}
		}), false)
		if len(to.Turns) != 1 || len(to.Turns[0].Parts) != 2*n+1 {
			t.Errorf("%d turns, the first with %d parts", len(to.Turns), len(to.Turns[0].Parts))
		}
	})
}

// TestDeclaredCalls checks that declaring the tools of earlier calls does not write to the
// memory behind an empty list of tools.
func TestDeclaredCalls(t *testing.T) {
	tools := []content.Tool{{Name: "other"}}
	n := &upstream.Request{Tools: tools[:0], Turns: []content.Turn{user(text("q")), assistant(useOf("1", "f")), user(answer("1", "f"))}}
	to, _, err := Lower(n, with(func(t *Target) { t.Tools.DeclareCalls = true }), false)
	if len(to.Tools) != 1 || to.Tools[0].Name != "f" || err != nil {
		t.Errorf("declared %v, %v", to.Tools, err)
	}
	if tools[0].Name != "other" {
		t.Errorf("the tool of the host was changed to %q", tools[0].Name)
	}
}

package lower

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/partfield"
)

// Results describes tool results.
type Results struct {
	AsTheyCame bool // in the order of the conversation, not in that of the calls
	OneText    bool // a result is one text; several are joined, unless there are files among them
	TextFirst  bool // a result has one text at most, and its files behind it
	Files      bool // a result may contain files; otherwise they follow all results
	Objects    bool // a result may be an object
	Names      bool // a result has the name of the tool
	Errors     bool // there is a flag for failed calls
	Marks      bool // a result and its parts may have cache marks
	MarkLast   bool // the mark of a result is on its last part
}

// A call is a tool call of the assistant.
type call struct {
	part *content.ToolUse
	at   spot
}

// A result is a tool result behind the calls.
type result struct {
	part *content.ToolResult
	at   spot
	call int  // index of its call, or -1
	late bool // something else of the user precedes it
}

// missingParts is the result of a call that has none.
var missingParts = []content.Part{&content.Text{Text: "There is no result of this call."}}

// pairResults finds the tool call of each result in the turns behind the calls. Of
// several results of a call, the first counts.
func (l *lowering) pairResults(turns []content.Turn, first int) {
	l.results, l.taken = l.results[:0], 0
	if len(l.calls) == 0 {
		return
	}
	l.callIndex = nil
	if !l.pairByID(turns, first) {
		l.results = l.results[:0]
		l.pairByName(turns, first)
	}
}

// pairByID finds calls by their ids. It returns false if a result without a call may
// belong to one by its name or its position, in a format that does without ids.
func (l *lowering) pairByID(turns []content.Turn, first int) bool {
	taken := make([]bool, len(l.calls))
	late, next := false, 0
	for k := range turns {
		if turns[k].Role == content.RoleSystem {
			continue
		}
		for i, p := range turns[k].Parts {
			r, ok := p.(*content.ToolResult)
			if !ok || r == nil {
				late = true
				continue
			}
			c := -1
			if r.ID != "" {
				c = l.callOf(r.ID, next)
			}
			if c < 0 || taken[c] {
				if l.t.Results.Names && (r.ID == "" || r.Name != "") {
					return false
				}
				late = true
				continue
			}
			taken[c], next = true, c+1
			l.results = append(l.results, result{part: r, at: spot{int32(first + k), int32(i)}, call: c, late: late})
		}
	}
	return true
}

// pairByName finds calls by ids, names and positions: see [Pairing].
func (l *lowering) pairByName(turns []content.Turn, first int) {
	calls := make([]*content.ToolUse, len(l.calls))
	for i := range l.calls {
		calls[i] = l.calls[i].part
	}
	l.pairs.Reset()
	l.pairs.Open(calls)
	late := false
	for k := range turns {
		if turns[k].Role == content.RoleSystem {
			continue
		}
		list := l.pairs.Pair(turns[k].Parts)
		for i, p := range turns[k].Parts {
			if list[i] < 0 {
				late = true
				continue
			}
			l.results = append(l.results, result{part: p.(*content.ToolResult), at: spot{int32(first + k), int32(i)}, call: list[i], late: late})
		}
	}
}

// callOf returns the index of the call with an id, or -1. Usually it is the next one.
func (l *lowering) callOf(id string, next int) int {
	if next < len(l.calls) && l.calls[next].part.ID == id {
		return next
	}
	if l.callIndex == nil {
		l.callIndex = make(map[string]int, len(l.calls))
		for i, c := range slices.Backward(l.calls) {
			l.callIndex[c.part.ID] = i
		}
	}
	if i, ok := l.callIndex[id]; ok {
		return i
	}
	return -1
}

// takeResult reports whether a result is placed behind its call. Results are taken in
// the order of the conversation.
func (l *lowering) takeResult(r *content.ToolResult) bool {
	if l.taken == len(l.results) || l.results[l.taken].part != r {
		return false
	}
	l.taken++
	return true
}

// pushResults pushes the results of all calls, then the files that they could not hold.
func (l *lowering) pushResults(turns []content.Turn, first int) {
	if len(l.calls) == 0 {
		return
	}
	list := l.results
	inOrder := slices.IsSortedFunc(list, func(a, b result) int { return a.call - b.call })
	if !inOrder && !l.t.Results.AsTheyCame {
		list = slices.Clone(list)
		slices.SortFunc(list, func(a, b result) int { return a.call - b.call })
	}
	if len(list) == len(l.calls) {
		for i := range list {
			l.result(&list[i])
		}
		return
	}
	answered := make([]*result, len(l.calls))
	for i := range list {
		answered[list[i].call] = &list[i]
	}
	if l.t.Results.AsTheyCame {
		for i := range list {
			l.result(&list[i])
		}
	}
	for i := range l.calls {
		switch r := answered[i]; {
		case r == nil:
			l.lose(ResultMissing, l.calls[i].at.path())
			l.push(l.missingResult(l.calls[i].part))
		case !l.t.Results.AsTheyCame:
			l.result(r)
		}
	}
}

// missingResult returns the result of a call that has none.
func (l *lowering) missingResult(c *content.ToolUse) *content.ToolResult {
	r := &content.ToolResult{ID: c.ID, Error: l.t.Results.Errors, Parts: missingParts}
	if l.t.Results.Names {
		r.Name = c.Name
	}
	return r
}

// result pushes a result of a call. Files that it cannot hold are moved.
func (l *lowering) result(r *result) {
	c, at := l.calls[r.call].part, r.at.path()
	if r.late {
		l.lose(ResultOrder, at)
	}
	q, files := l.resultContent(r.part, at, c.Name)
	l.push(q)
	if len(files) > 0 {
		id := c.ID
		if id != "" {
			id += " "
		}
		l.moved = append(l.moved, &content.Text{Text: "Files of the result of the call " + id + "of " + c.Name + ":"})
		l.moved = append(l.moved, files...)
	}
}

// orphan pushes a result without a call as text.
func (l *lowering) orphan(r *content.ToolResult, at Path) {
	l.lose(ResultOrphan, at)
	head := "Result of a tool:"
	if r.Name != "" {
		head = "Result of the tool " + r.Name + ":"
	}
	l.push(&content.Text{Text: head})
	q, files := l.resultContent(r, at, "")
	l.stack = append(append(l.stack, q.Parts...), files...)
}

// resultContent returns a result that the target accepts, and the files that it cannot
// hold, with their names. name is that of the tool.
func (l *lowering) resultContent(r *content.ToolResult, at Path, name string) (q *content.ToolResult, files []content.Part) {
	own := &l.t.Results
	to := *r
	to.Extra = l.extra(r.Extra, at, l.t.Own.Members, foreign.Part)
	to.Cache = l.mark(r.Cache, at, InResult)
	if own.Names && to.Name == "" {
		to.Name = name
	}
	start := l.begin()
	if r.Object != "" && !own.Objects {
		l.push(&content.Text{Text: r.Object}) // it contains more than the texts
	}
	marked := l.resultParts(r, at)
	if marked != nil && to.Object != "" && !own.Objects {
		l.markPart(start, marked)
	}
	if !own.Files {
		files = l.splitFiles(start, at)
	}
	l.joinTexts(start, at)
	if !own.Objects {
		to.Object = ""
	}
	if r.Error && !own.Errors {
		to.Error = false
		l.errorText(start, at)
	}
	if len(files) > 0 && len(l.stack) == start && own.OneText {
		l.push(&content.Text{Text: "The result is in the files that the next message of the user holds."})
	}
	if to.Cache != nil && own.MarkLast {
		if len(l.stack) > start {
			l.markPart(len(l.stack)-1, to.Cache)
		} else {
			l.lose(EmptyMark, at.Member("cache"))
		}
		to.Cache = nil
	}
	to.Parts = l.pop(start, r.Parts)
	if sameResult(&to, r) {
		return r, files
	}
	return new(to), files // only a copy that is needed is allocated
}

// sameResult reports whether a copy of a result has the same fields.
func sameResult(a, b *content.ToolResult) bool {
	return a.Name == b.Name && a.Extra == b.Extra && a.Cache == b.Cache && a.Object == b.Object && a.Error == b.Error &&
		isSameList(a.Parts, b.Parts)
}

// isSameList reports whether two lists share their parts.
func isSameList(a, b []content.Part) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// resultParts pushes the parts of a result, except texts that its object repeats. It
// returns the cache mark of one of these texts, if there is one.
func (l *lowering) resultParts(r *content.ToolResult, at Path) (marked *content.Cache) {
	l.names = strings.Contains(r.Object, `"$ref"`)
	var repeated map[string]bool
	for i, p := range r.Parts {
		before := len(l.stack)
		l.part(p, at.In(Parts, i), InResult)
		t, ok := p.(*content.Text)
		if !ok || len(l.stack) == before || l.t.Results.Objects || r.Object == "" {
			continue
		}
		if repeated == nil {
			repeated = objectTexts(r.Object)
		}
		if repeated[t.Text] {
			if c := partfield.CacheOf(l.stack[before]); c != nil {
				marked = c
			}
			l.stack = l.stack[:before]
		}
	}
	l.names = false
	return marked
}

// objectTexts returns the texts that an object repeats: itself, and its members.
func objectTexts(object string) map[string]bool {
	texts := map[string]bool{object: true}
	doc, err := jsonwire.Parse(object, codec.UnlimitedJSON)
	if err != nil {
		return texts
	}
	defer doc.Close()
	for _, x := range doc.Root().Members() {
		texts[strings.Clone(x.Str())], texts[x.Raw()] = true, true
	}
	return texts
}

// splitFiles removes the files of a result and their names from the stack and returns
// them.
func (l *lowering) splitFiles(start int, at Path) (files []content.Part) {
	kept := l.stack[:start]
	list := l.stack[start:]
	for i, p := range list {
		label := l.isLabel(p) && i+1 < len(list) && isFile(list[i+1])
		if label || isFile(p) {
			files = append(files, p)
		} else {
			kept = append(kept, p)
		}
	}
	l.stack = kept
	return files
}

func isFile(p content.Part) bool { return partfield.Of(p).Source != nil }

// joinTexts joins the texts of a result if it can have one only.
func (l *lowering) joinTexts(start int, at Path) {
	list := l.stack[start:]
	if len(list) < 2 {
		return
	}
	if l.t.Results.TextFirst {
		l.textFirst(start, at)
		return
	}
	if !l.t.Results.OneText {
		return
	}
	texts := make([]string, len(list))
	var mark *content.Cache
	for i, p := range list {
		t, ok := p.(*content.Text)
		if !ok {
			return // with files, the server accepts a list
		}
		texts[i] = t.Text
		if t.Cache != nil {
			mark = t.Cache
		}
	}
	l.lose(ResultParts, at)
	l.stack = append(l.stack[:start], &content.Text{Text: strings.Join(texts, "\n\n"), Cache: mark})
}

// textFirst joins the texts of a result and puts them before its files.
func (l *lowering) textFirst(start int, at Path) {
	list := l.stack[start:]
	var texts []string
	first := true // the texts are at the beginning
	for i, p := range list {
		if t, ok := p.(*content.Text); ok {
			first = first && i == len(texts)
			texts = append(texts, t.Text)
		}
	}
	if len(texts) == 0 || len(texts) == 1 && first {
		return
	}
	l.lose(ResultParts, at)
	others := slices.DeleteFunc(list, func(p content.Part) bool { _, ok := p.(*content.Text); return ok })
	l.stack = slices.Insert(l.stack[:start+len(others)], start, content.Part(&content.Text{Text: strings.Join(texts, "\n\n")}))
}

// errorText marks a result as that of a failed call.
func (l *lowering) errorText(start int, at Path) {
	l.lose(ResultError, at.Member("error"))
	if len(l.stack) > start {
		if t, ok := l.stack[start].(*content.Text); ok {
			q := *t
			q.Text = "Error: " + t.Text
			l.stack[start] = &q
			return
		}
	}
	l.stack = slices.Insert(l.stack, start, content.Part(&content.Text{Text: "Error"}))
}

// markPart sets the cache mark of a part on the stack.
func (l *lowering) markPart(i int, c *content.Cache) {
	if p, f := partfield.Copy(l.stack[i]); f.Cache != nil {
		*f.Cache, l.stack[i] = c, p
	}
}

func isNoResult(p content.Part) bool { return !isResult(p) }

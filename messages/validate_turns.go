package messages

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

const nextUserMessage = "next_user_message"

var roles = []string{string(content.RoleUser), string(content.RoleAssistant), string(content.RoleSystem)}

// system checks the system prompt, a list of texts.
func (v *validator) system() {
	parts := v.r.System
	if len(parts) == 0 {
		return
	}
	v.path.Push("system")
	v.texts(parts, true)
	v.path.Truncate(0)
}

// texts checks a list that may hold texts only, and is no union.
func (v *validator) texts(parts []content.Part, system bool) {
	for i, p := range parts {
		v.path.PushIndex(i)
		switch t, ok := p.(*content.Text); {
		case content.IsNil(p):
			v.violation(content.CodeMissing, textRequired)
		case !ok:
			if u, raw := p.(*content.Unknown); !raw || u.Kind != "" || v.made {
				v.violation(content.CodeValue, "Input should be 'text'", "type")
			}
		default:
			if t.Text == "" && !v.isUnread(t) {
				v.violation(content.CodeRange, textNotEmpty, "text")
				v.emptyMark(t)
			}
			v.citations(t)
			if !system && v.is2026() && len(t.Citations) > 0 {
				v.violation(content.CodeUnsupported, textUserCitations, "citations")
			}
			v.mark(t.Cache)
			v.extra(t.Extra, nil)
		}
		v.path.Pop()
	}
}

// messages checks every message by itself, then what they are together.
func (v *validator) messages() {
	v.path.Push("messages")
	for i := range v.r.Messages {
		v.path.PushIndex(i)
		v.message(i, &v.r.Messages[i])
		v.path.Pop()
	}
	v.path.Truncate(0)
	v.placing()
	v.pairing()
	v.lastText()
	if v.files > v.lim.Files {
		v.whole(content.CodeLimit, "messages", "too many files in the request: "+
			counted(v.files, "file")+" > "+counted(v.lim.Files, "file"))
	}
	if v.hasCalls && !v.hasTools() {
		v.whole(content.CodeMissing, "", "Requests which include `tool_use` or `tool_result` blocks must define tools.")
	}
}

func (v *validator) message(i int, t *content.Turn) {
	where := inUser | inAssistant | inSystem
	switch t.Role {
	case content.RoleUser:
		where = inUser
	case content.RoleAssistant:
		where = inAssistant
	case content.RoleSystem:
		where = inSystem
	default:
		if v.need(string(t.Role), "role") {
			v.violation(content.CodeValue, textOneOf(roles), "role")
		}
	}
	scoped := v.turnMembers(t)
	if v.empty(t) {
		last := t.Role == content.RoleAssistant && i == len(v.r.Messages)-1
		if !last && !configures(t) && (v.violations.Len() >= content.MaxViolations || !v.r.violated(v.path.At("content"))) {
			v.violation(content.CodeRange, "all messages must have non-empty content except for the optional final assistant message")
		}
		return
	}
	v.path.Push("content")
	for k, p := range t.Parts {
		v.path.PushIndex(k)
		if scoped {
			v.scoped(p)
		}
		v.part(p, where)
		v.path.Pop()
	}
	v.path.Pop()
}

// empty reports whether a message says nothing.
func (v *validator) empty(t *content.Turn) bool {
	return len(t.Parts) == 0
}

// configures reports whether a message may be empty, and stand anywhere,
// because it sets something.
func configures(t *content.Turn) bool {
	if t.Role != content.RoleSystem || t.Extra == nil {
		return false
	}
	text, found := memberText(t.Extra.JSON, "output_config")
	return found && text != "null"
}

// turnMembers checks the members that only a system message has, and reports
// whether it ends with the turn.
func (v *validator) turnMembers(t *content.Turn) (scoped bool) {
	if t.Extra == nil {
		return false
	}
	v.extra(t.Extra, messageFields)
	for _, name := range []string{"clear_at", "output_config"} {
		text, found := memberText(t.Extra.JSON, name)
		if found && t.Role != content.RoleSystem {
			v.violation(content.CodeOrder, name+" is only permitted on role 'system' messages", name)
		}
		scoped = scoped || name == "clear_at" && text == `"`+nextUserMessage+`"`
	}
	if scoped = scoped && t.Role == content.RoleSystem; scoped && configures(t) {
		v.violation(content.CodeConflict,
			"output_config is not permitted on a turn-scoped system message (clear_at: 'next_user_message')", "output_config")
	}
	return scoped
}

// scoped checks a part of a system message that ends with the turn.
func (v *validator) scoped(p content.Part) {
	t, ok := p.(*content.Text)
	if !ok {
		v.whole(content.CodeOrder, v.place(),
			"a turn-scoped system message supports text blocks only (clear_at: 'next_user_message')")
	} else if t != nil && t.Cache != nil {
		v.violation(content.CodeConflict,
			"cache_control is not permitted on a turn-scoped system message (clear_at: 'next_user_message')")
	}
}

// placing checks who speaks first, and where system messages stand.
func (v *validator) placing() {
	turns := v.r.Messages
	first := 0
	for first < len(turns) && configures(&turns[first]) && len(turns[first].Parts) == 0 {
		first++
	}
	if first < len(turns) {
		// Current models accept a conversation that begins with the assistant.
		if role := turns[first].Role; role == content.RoleSystem {
			v.whole(content.CodeOrder, "messages", `first message must use the "user" role`)
		}
	}
	var before *content.Turn // the last message that is no system message
	for i := first; i < len(turns); i++ {
		if turns[i].Role != content.RoleSystem {
			before = &turns[i]
			continue
		}
		from, instructs := i, false
		for ; i < len(turns) && turns[i].Role == content.RoleSystem; i++ {
			instructs = instructs || len(turns[i].Parts) > 0 || !configures(&turns[i])
		}
		var after *content.Turn
		if i < len(turns) {
			after = &turns[i]
		}
		if instructs && before != nil && !fits(before, after) {
			v.path.Push("messages")
			v.path.PushIndex(from)
			v.violation(content.CodeOrder, "a system message must follow a user turn, or an assistant turn that ends in"+
				" a server tool result, and be last or followed by an assistant turn")
			v.path.Truncate(0)
		}
		i--
	}
}

// fits reports whether a system message may stand between two turns.
func fits(before, after *content.Turn) bool {
	if after != nil && after.Role == content.RoleUser {
		return false
	}
	if before.Role == content.RoleAssistant {
		if len(before.Parts) == 0 {
			return false
		}
		last := before.Parts[len(before.Parts)-1]
		_, ok := last.(*content.ServerToolResult)
		if u, raw := last.(*content.Unknown); raw && u != nil {
			ok = strings.HasSuffix(u.Kind, "_tool_result")
		}
		return ok
	}
	return true
}

// lastText checks the text that the model is to go on with.
func (v *validator) lastText() {
	turns := v.r.Messages
	if len(turns) == 0 || turns[len(turns)-1].Role != content.RoleAssistant {
		return
	}
	parts := turns[len(turns)-1].Parts
	if len(parts) == 0 {
		return
	}
	t, ok := parts[len(parts)-1].(*content.Text)
	if ok && t != nil && len(strings.TrimRightFunc(t.Text, unicode.IsSpace)) < len(t.Text) {
		v.whole(content.CodeValue, "messages", "final assistant content cannot end with trailing whitespace")
	}
}

// mark checks and counts a cache mark of the node that the path is at.
func (v *validator) mark(c *content.Cache) {
	if c == nil {
		return
	}
	v.path.Push(cacheName)
	v.oneOf(c.TTL, ttls, "ttl")
	v.countMark(c.TTL)
	v.extra(c.Extra, nil)
	v.path.Pop()
}

// markRaw counts a mark that has been checked.
func (v *validator) markRaw(x jsonwire.Value) {
	v.path.Push(cacheName)
	v.countMark(x.Get("ttl").Str())
	v.path.Pop()
}

func (v *validator) countMark(ttl string) {
	v.marks++
	switch {
	case orDefaultTTL(ttl) == "5m":
		v.short = true
	case ttl == "1h" && v.short:
		v.violation(content.CodeOrder, "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block."+
			" Note that blocks are processed in the following order: `tools`, `system`, `messages`.", "ttl")
	}
}

// emptyMark reports a mark on an empty text.
func (v *validator) emptyMark(t *content.Text) {
	if t.Cache != nil {
		v.violation(content.CodeConflict, "cache_control cannot be set for empty text blocks")
	}
}

// marksInAll checks the mark of the top level, and how many there are.
func (v *validator) marksInAll() {
	if c := v.r.CacheControl; c != nil {
		if last := v.lastMark(); last != nil && orDefaultTTL(last.TTL) != orDefaultTTL(c.TTL) {
			v.whole(content.CodeConflict, cacheName, "the last block is marked already, with another ttl")
		}
		v.mark(c)
	}
	if v.marks > 4 {
		v.whole(content.CodeLimit, "", "A maximum of 4 blocks with cache_control may be provided. Found "+
			strconv.Itoa(v.marks)+".")
	}
}

func orDefaultTTL(ttl string) string {
	if ttl == "" {
		return "5m"
	}
	return ttl
}

// lastMark returns the mark on the last block of the request, or nil.
func (v *validator) lastMark() *content.Cache {
	turns := v.r.Messages
	if len(turns) == 0 || len(turns[len(turns)-1].Parts) == 0 {
		return nil
	}
	parts := turns[len(turns)-1].Parts
	return cacheOf(parts[len(parts)-1])
}

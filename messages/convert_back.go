package messages

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/loss"
	dialects "github.com/polywire/polywire/internal/schema"
	"github.com/polywire/polywire/upstream"
)

// RequestFromUpstream returns the Messages request that says what n says, and a list of
// what it cannot say, or only in another way. It shares the parts of n; what
// has to be said differently is a copy. Without losses the way from a [Request]
// to its neutral form and back gives an equal request.
//
// It minds what the format asks of every request, whatever the model: results
// come first in the turn behind their calls, nothing is empty, schemas are in
// the format's dialect, thoughts that a signature of this format stands for are
// put back in their places. Turns of one side are joined where they hold calls,
// results or thoughts; a call without a result gets one that says so. What only
// some models take is left to whoever knows the model, and names and ids are as
// they were.
//
// MaxTokens stays nil if n has none, although the format requires it: what is
// a good number depends on the model.
func RequestFromUpstream(n *upstream.Request) (*Request, []content.Loss) {
	c := converter{Losses: codec.Losses{Format: Format}, from: n, to: fragment(n.Extra)}
	r := c.to
	c.Foreign(n.Extra, "extra")
	r.Model, r.MaxTokens, r.Stream = n.Model, n.MaxTokens, n.Stream
	c.sampling()
	r.System = c.system(n.System)
	r.Messages = c.turns(n.Turns)
	r.Tools = c.tools(n.Tools)
	r.ToolChoice = c.choice()
	r.Thinking = c.thinking()
	c.output()
	c.userID()
	c.tier()
	c.unsaid()
	return r, loss.Unique(c.Losses.Losses)
}

// fragment reads back what leftover has made. Whoever writes an Extra by hand
// can have anything in it; what is no good is left zero.
func fragment(x *content.Extra) *Request {
	w := &whole{}
	if doc := codec.Open(x, Format); doc != nil {
		defer doc.Close()
		p := parser{size: 1}
		p.request(doc.Root(), w)
	}
	return &w.request
}

type converter struct {
	codec.Losses
	from *upstream.Request
	to   *Request
	dialogue
	schemas dialects.Spare
	served  []content.Tool  // another vendor's own tools that this one's stand for
	named   map[string]bool // the names of functions and of this vendor's own tools, by need
}

// sampling sets what steers the choice of words, as far as the format has it.
func (c *converter) sampling() {
	n, r := c.from, c.to
	r.Temperature, r.TopP, r.TopK = n.Temperature, n.TopP, n.TopK
	if t := n.Temperature; t != nil && (*t > 1 || *t < 0) {
		within := max(0, min(1, *t))
		r.Temperature = &within
		c.lose(lostTemperature, "temperature")
	}
	if p := n.TopP; p != nil && (*p > 1 || *p < 0) {
		r.TopP = nil
		c.lose(lostTopP, "top_p")
	}
	if k := n.TopK; k != nil && *k < 0 {
		r.TopK = nil
		c.lose(lostTopK, "top_k")
	}
	r.StopSequences = n.StopSequences
	if slices.ContainsFunc(n.StopSequences, isBlank) {
		r.StopSequences = slices.DeleteFunc(slices.Clone(n.StopSequences), isBlank)
		c.lose(lostStop, "stop_sequences")
	}
}

// unsaid reports what the format has no word for.
func (c *converter) unsaid() {
	n := c.from
	for _, x := range [...]struct {
		set  bool
		path string
		rule int
	}{
		{n.Seed != nil, "seed", lostSeed},
		{weighs(n.PresencePenalty), "presence_penalty", lostPresence},
		{weighs(n.FrequencyPenalty), "frequency_penalty", lostFrequency},
		{n.Candidates > 1, "candidates", lostCandidates},
		{n.Output.AspectRatio != "", "output.aspect_ratio", lostImageOutput},
		{n.Output.ImageSize != "", "output.image_size", lostImageOutput},
		{slices.ContainsFunc(n.Output.Modalities, func(m string) bool { return m != "text" }), "output.modalities", lostModalities},
	} {
		if x.set {
			c.lose(x.rule, x.path)
		}
	}
}

// weighs reports whether a penalty is one: 0 is what there is without it.
func weighs(penalty *float64) bool { return penalty != nil && *penalty != 0 }

func (c *converter) thinking() *Thinking {
	n := &c.from.Thinking
	c.Foreign(n.Extra, "thinking.extra")
	t := &Thinking{BudgetTokens: n.Budget, Display: n.Display, Extra: c.Own(n.Extra)}
	switch n.Mode {
	case upstream.ThinkingBudget:
		t.Type = "enabled"
	case upstream.ThinkingAuto:
		t.Type = "adaptive"
	case upstream.ThinkingOff:
		t.Type = "disabled"
	case upstream.ThinkingBetweenTools:
		t.Type = "between_tools"
	case "":
		if old := c.to.Thinking; old != nil {
			return old
		}
		if n.Budget != nil {
			c.lose(lostBudget, "thinking.budget")
		}
		c.undisplayed(false)
		return nil
	default:
		c.lose(lostMode, "thinking.mode")
		return nil
	}
	switch {
	case n.Display == "full":
		t.Display = "summarized"
		c.lose(lostFullDisplay, "thinking.display")
	case !shows(t.Type):
		t.Display = ""
		c.undisplayed(t.Type == "between_tools")
	}
	return t
}

// undisplayed reports that it cannot be said whether thoughts are shown. Not to
// show them is no loss where there are none.
func (c *converter) undisplayed(thinks bool) {
	if d := c.from.Thinking.Display; d != "" && (thinks || d != "omitted") {
		c.lose(lostDisplay, "thinking.display")
	}
}

// shows reports whether a thinking mode has a display.
func shows(mode string) bool { return mode == "enabled" || mode == "adaptive" }

func (c *converter) effort() string {
	switch e := c.from.Thinking.Effort; e {
	case "", "low", "medium", "high", "xhigh", "max":
		return e
	case "minimal":
		c.lose(lostLeastEffort, "thinking.effort")
		return "low"
	}
	c.lose(lostEffort, "thinking.effort")
	return ""
}

// mostUserID bounds the name of a user, in characters.
const mostUserID = 512

func (c *converter) userID() {
	id := c.from.UserID
	if id == "" {
		return
	}
	if len(id) > mostUserID && utf8.RuneCountInString(id) > mostUserID {
		sum := sha256.Sum256([]byte(id))
		id = "sha256-" + hex.EncodeToString(sum[:])
		c.lose(lostUserID, "user_id")
	}
	if c.to.Metadata == nil {
		c.to.Metadata = &Metadata{}
	}
	c.to.Metadata.UserID = id
}

func (c *converter) tier() {
	switch t := c.from.ServiceTier; t {
	case "", "auto", "standard_only":
		c.to.ServiceTier = t
	case "unspecified": // no more than no word
	default:
		c.lose(lostTier, "service_tier")
	}
}

package echo

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// maxQuote is how many characters of a tool's result are quoted.
const maxQuote = 4096

// maxResults is how many bytes of all results are quoted.
const maxResults = 1 << 20

// quote repeats what the caller's tools answered.
func (d *description) quote(parts []content.Part) {
	for i, p := range parts {
		t, ok := p.(*content.ToolResult)
		if !ok || t == nil {
			continue
		}
		if d.results.Len() > maxResults {
			d.results.WriteString("…\n")
			return
		}
		d.results.WriteString(d.toolName(t, i))
		if t.Error {
			d.results.WriteString(" failed")
		} else {
			d.results.WriteString(" answered")
		}
		said := false
		for _, p := range t.Parts {
			if text, ok := p.(*content.Text); ok && text != nil && d.results.Len() <= maxResults {
				d.results.WriteString(": ")
				d.results.WriteString(clip(text.Text, maxQuote))
				said = true
			}
		}
		if !said && t.Object != "" {
			d.results.WriteString(": ")
			d.results.WriteString(clip(t.Object, maxQuote))
		}
		d.results.WriteByte('\n')
	}
}

// toolName finds out which tool a result is of: formats that pair by id leave
// the name to the call.
func (d *description) toolName(t *content.ToolResult, i int) string {
	if t.Name != "" {
		return t.Name
	}
	if d.called == nil {
		d.called = map[string]string{}
		for n := range d.req.Turns {
			for _, p := range d.req.Turns[n].Parts {
				if u, ok := p.(*content.ToolUse); ok && u != nil {
					d.called[u.ID] = u.Name
				}
			}
		}
	}
	if name := d.called[t.ID]; name != "" && t.ID != "" {
		return name
	}
	return "tool " + strconv.Itoa(i)
}

func (d *description) tools() {
	r := d.req
	for i := range r.Tools {
		t := &r.Tools[i]
		kind := ""
		if t.Kind != "" {
			kind = d.say(strings.TrimSpace(string(t.Format)+" "+t.Kind), t.Raw)
		}
		d.line(at("tools", i), "tool "+t.Name, kind, d.named("description", t.Description),
			d.schema("input", t.Input), d.schema("output", t.Output), flag(t.Strict, "strict"),
			cache(t.Cache), extra(t.Extra))
	}
	c := &r.Choice
	if c.Mode != "" || len(c.Names) > 0 || c.NoParallel || c.Extra != nil {
		names := ""
		if len(c.Names) > 0 {
			names = "only " + list(c.Names)
		}
		d.line("choice", string(c.Mode), names, flag(c.NoParallel, "one at a time"), extra(c.Extra))
	}
}

func (d *description) schema(kind string, s content.Schema) string {
	if s.OpenAPI {
		kind += " in OpenAPI"
	}
	return d.named(kind, s.JSON)
}

// parameters describes everything that is no turn and no tool.
func (d *description) parameters() {
	r := d.req
	d.whole("max_tokens", r.MaxTokens)
	d.float("temperature", r.Temperature)
	d.float("top_p", r.TopP)
	d.whole("top_k", r.TopK)
	d.whole("seed", r.Seed)
	d.float("presence_penalty", r.PresencePenalty)
	d.float("frequency_penalty", r.FrequencyPenalty)
	if len(r.StopSequences) > 0 {
		d.line("stop_sequences", list(r.StopSequences))
	}
	if r.Candidates != 0 {
		d.line("candidates", strconv.Itoa(r.Candidates))
	}
	if t := &r.Thinking; *t != (upstream.Thinking{}) {
		budget := ""
		if t.Budget != nil {
			budget = "up to " + count(int(*t.Budget), "token")
		}
		d.line("thinking", string(t.Mode), budget, label("effort", t.Effort), label("display", t.Display), extra(t.Extra))
	}
	d.output(&r.Output)
	if r.UserID != "" {
		d.line("user_id", strconv.Quote(clip(r.UserID, 80)))
	}
	if r.ServiceTier != "" {
		d.line("service_tier", clip(r.ServiceTier, 80))
	}
	if r.Extra != nil {
		d.line("extra", strings.TrimPrefix(extra(r.Extra), "extra "))
	}
}

func (d *description) output(o *upstream.Output) {
	modalities := ""
	if len(o.Modalities) > 0 {
		modalities = "modalities " + list(o.Modalities)
	}
	facts := []string{modalities, o.MediaType, d.schema("schema", o.Schema),
		label("aspect ratio", o.AspectRatio), label("size", o.ImageSize), extra(o.Extra)}
	for _, f := range facts {
		if f != "" {
			d.line("output", facts...)
			return
		}
	}
}

func (d *description) whole(name string, n *int64) {
	if n != nil {
		d.line(name, strconv.FormatInt(*n, 10))
	}
}

func (d *description) float(name string, f *float64) {
	if f != nil {
		d.line(name, strconv.FormatFloat(*f, 'g', -1, 64))
	}
}

func label(name, value string) string {
	if value == "" {
		return ""
	}
	return name + " " + clip(value, 80)
}

// list quotes up to a screenful of words.
func list(words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if i == 20 {
			b.WriteString("and " + strconv.Itoa(len(words)-i) + " more")
			break
		}
		b.WriteString(strconv.Quote(clip(w, 80)))
	}
	return b.String()
}

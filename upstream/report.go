package upstream

import (
	"cmp"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
)

// LogValue returns the report as a group for [log/slog]: what a line of a log needs, without content,
// and without Err, which may quote the client and which the handler has logged with the same id of
// the request. Empty texts are left out. Losses appear as the numbers of their reasons by severity.
// To add attributes at the same level, use LogValue().Group().
func (r *Report) LogValue() slog.Value {
	const maxModel = 100 // bytes of a name that the client chose
	var attrs []slog.Attr
	add := func(name, text string) {
		if text != "" {
			attrs = append(attrs, slog.String(name, text))
		}
	}
	add("request", r.ID)
	add("format", string(r.Format))
	add("method", r.Method)
	add("path", r.Path)
	add("mode", r.Mode)
	attrs = append(attrs, slog.Int("status", r.Status), slog.Duration("duration", r.Duration),
		slog.Int64("input_tokens", r.Usage.Prompt()), slog.Int64("output_tokens", r.Usage.Completion()))
	add("model", r.Model[:min(len(r.Model), maxModel)])
	if r.ResponseModel != r.Model {
		add("response_model", r.ResponseModel[:min(len(r.ResponseModel), maxModel)])
	}
	add("upstream", r.Upstream)
	add("upstream_request", r.UpstreamID)
	add("error", string(r.Code)) // also of a failed stream with status 200
	if len(r.Attempts) > 1 {
		add("attempts", attemptsText(r.Attempts))
	}
	var count [content.LossDropped + 1]int
	for i := range r.Losses {
		count[min(r.Losses[i].Severity, content.LossDropped)]++
	}
	for s := content.LossDropped; s >= content.LossHint; s-- {
		if n := count[s]; n > 0 {
			attrs = append(attrs, slog.Int("losses_"+s.String(), n))
		}
	}
	return slog.GroupValue(attrs...)
}

// attemptsText returns attempts such as "claude: overloaded after 1.2s; gemini: ok after 3s". An
// upstream of unknown name appears as its number.
func attemptsText(list []Attempt) string {
	items := make([]string, len(list))
	for i, a := range list {
		name := cmp.Or(a.Upstream, fmt.Sprint("upstream ", a.Index+1))
		items[i] = fmt.Sprintf("%s: %s after %v", name, cmp.Or(string(a.Code), "ok"), a.Duration.Round(100*time.Microsecond))
	}
	return strings.Join(items, "; ")
}

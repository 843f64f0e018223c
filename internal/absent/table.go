// Package absent has the table of what a request means that does not have a setting: what the vendor
// of its format does then, by model where that differs. Formats give requests their row. Adapters
// compare it with what their own models do.
package absent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// A claudeRow is for Claude models since a version.
type claudeRow struct {
	since    int
	thinking upstream.ThinkingMode
}

// claude has the rows of Claude models, the newest first. Names of other vendors' models mean the last
// row: by default the format has no thinking. The source is the vendor's documentation of November
// 2026.
var claude = [...]claudeRow{
	{50, upstream.ThinkingAuto},
	{0, upstream.ThinkingOff},
}

// Defaults returns what a request for the model means in the format f of its vendor. The display is an
// exception: the vendor's models since 4.7 omit the text unless the client asks for it, but clients that
// turn thinking on over other models expect to see it.
func (m Claude) Defaults(f content.Format) upstream.Defaults {
	for _, x := range claude {
		if m.Version >= x.since || m.AlwaysThinks() {
			return upstream.Defaults{Format: f, Thinking: x.thinking, Display: "summarized"}
		}
	}
	return upstream.Defaults{Format: f}
}

// ForGemini returns what a request means in the format f of the vendor of Gemini. Whether a model
// thinks depends on the model.
func ForGemini(f content.Format) upstream.Defaults {
	return upstream.Defaults{Format: f, Display: "omitted"}
}

// ForGPT returns what a request means in a format f of the vendor of GPT. Whether a model thinks
// depends on the model.
func ForGPT(f content.Format) upstream.Defaults {
	return upstream.Defaults{Format: f, Display: "omitted", LooseOutput: true}
}

package generatecontent

import (
	"math"

	"github.com/tidwall/sjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/schema"
	"github.com/polywire/polywire/upstream"
)

// withSettings returns t with what a server accepts beside conversations that supports the
// whole format.
func withSettings(t lower.Target) lower.Target {
	t.Members = lower.MemberRules{Headers: true}
	t.Tools = lower.ToolRules{
		Schema: schema.GeminiJSON, OpenAPISchema: schema.GeminiSchema, OpenAPI: true, Results: true, Members: true,
		Vendor: ownTool, VendorFree: true, VendorMember: withServerTools,
	}
	t.Choice = lower.ChoiceRules{Kind: lower.ChoiceFunctions, Members: true}
	t.Output = lower.OutputRules{
		Types: mimeTypes, Schema: schema.GeminiJSON, OpenAPISchema: schema.GeminiSchema, OpenAPI: true, OwnSchema: hasOwnFormat,
		Modalities: []string{"image", "audio", "video"}, EachModality: true, AspectRatios: aspectRatios, ImageSizes: imageSizes,
	}
	t.Limit = lower.LimitRules{Max: math.MaxInt32, Zero: true}
	t.Thinking = lower.ThinkingRules{Levels: &lower.Levels{Own: hasOwnThinking}, Members: true}
	t.Sampling = lower.SamplingRules{
		Temperature: lower.Number{Range: true, High: 2},
		TopP:        lower.Number{Range: true, High: 1},
		TopK:        lower.Number{Range: true, Low: 1, High: math.MaxInt32},
		Seed:        lower.Number{Range: true, Low: math.MinInt32, High: math.MaxInt32},
		Presence:    penalties,
		Frequency:   penalties,
		Stops:       lower.Stops{NoEmpty: true, Max: maxStops},
		Candidates:  true,
	}
	t.Identity = lower.IdentityRules{Tiers: targetTiers}
	return t
}

// penalties are the accepted penalties. The vendor excludes 2.
var penalties = lower.Number{Range: true, Low: -2, High: math.Nextafter(2, 0)}

// targetTiers maps service tiers to this format's. The tier "auto" is the same as none.
var targetTiers = map[string]string{
	"auto": "", "standard_only": "standard", "default": "standard",
	"unspecified": "unspecified", "standard": "standard", "flex": "flex", "priority": "priority",
}

// hasOwnFormat reports whether the members of x have the form o of the response.
func hasOwnFormat(x *content.Extra, o *upstream.Output) bool {
	c := requestFromExtra(x).GenerationConfig
	if c == nil {
		return false
	}
	mediaType, text := textFormat(c.ResponseFormat)
	return mediaType != "" && o.MediaType == mediaType && o.Schema == content.Schema{JSON: text}
}

// hasOwnThinking reports whether the members of x have the settings t.
func hasOwnThinking(x *content.Extra, t *upstream.Thinking) bool {
	c := requestFromExtra(x).GenerationConfig
	return c != nil && c.ThinkingConfig != nil && c.ThinkingConfig.equalsNeutral(t)
}

// ownTool returns this vendor's built-in tool that is similar to another vendor's.
func ownTool(t *content.Tool) (own content.Tool, losses []*loss.Rule) {
	i := substituteOf(t.Kind)
	if i < 0 {
		return own, nil
	}
	if doc, err := jsonwire.Parse(t.Raw, codec.UnlimitedJSON); err == nil {
		defer doc.Close()
		for name, x := range doc.Root().Members() {
			if r := lower.ToolMember(name, x); r != nil && x.Kind() != jsonwire.Null {
				losses = append(losses, r)
			}
		}
	}
	return content.Tool{Kind: substitutes[i].kind, Format: Format, Raw: "{}"}, losses
}

// withServerTools returns members of a request with that for built-in tools beside
// functions.
func withServerTools(members string) string {
	with, err := sjson.SetRaw(members, "toolConfig.includeServerSideToolInvocations", "true")
	if err != nil {
		return members
	}
	return with
}

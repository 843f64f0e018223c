package openaiformat

import (
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/schema"
	"github.com/polywire/polywire/upstream"
)

// BaseTarget returns what all servers of both formats accept. The caller may change it.
func BaseTarget(f content.Format) *lower.Target {
	return &lower.Target{
		Format:  f,
		Members: lower.MemberRules{Foreign: foreignMembers},
		Tools:   lower.ToolRules{Schema: schema.JSONSchema, StrictSchema: schema.OpenAIStrict, Strict: lower.StrictEqual},
		Output:  lower.OutputRules{Objects: true, Schema: schema.JSONSchema, Strict: true, StrictSchema: schema.OpenAIStrict, Names: schemaNames},
	}
}

// schemaNames are the valid names of the schema of the response.
var schemaNames = &lower.Charset{MaxBytes: 64, Punctuation: "_-"}

// mediaResolution is a member of generateContent that has another form here.
const mediaResolution = "generationConfig.mediaResolution"

var foreignMembers = []lower.ForeignMember{{Name: mediaResolution, Detail: noDetail}}

// VendorForeignMembers are the members of other formats that have a form at the vendor's own
// servers, which accept the resolution of images.
var VendorForeignMembers = []lower.ForeignMember{{Name: mediaResolution, Detail: defaultDetail}}

// CopiedMember returns the rule for a member of the vendor's other format that servers of the
// format to have under the same name.
func CopiedMember(name string, from, to content.Format) lower.ForeignMember {
	return lower.ForeignMember{Name: name, From: from, Set: func(r *upstream.Request, value string) bool {
		x := content.Extra{Format: to, JSON: "{}"}
		if r.Extra != nil {
			x = *r.Extra
		}
		var w jsonwire.Writer
		w.BeginObject()
		w.Members(x.JSON)
		w.RawMember(name, value)
		w.EndObject()
		x.JSON, r.Extra = w.Text(), &x
		return true
	}}
}

// VerbosityMember returns the rule for the member of the vendor's other format that has the
// verbosity of text.
func VerbosityMember(name string, from content.Format) lower.ForeignMember {
	return lower.ForeignMember{Name: name, From: from, Set: func(r *upstream.Request, value string) bool {
		v := gjson.Parse(value)
		if v.Type != gjson.String || r.Output.Verbosity != "" {
			return false
		}
		r.Output.Verbosity = v.Str
		return true
	}}
}

func noDetail(*content.Extra) string { return "" }

// defaultDetail returns the member for the resolution of all files of a request.
func defaultDetail(x *content.Extra) string {
	return details[gjson.Get(x.JSON, mediaResolution).Str]
}

// details maps resolutions of generateContent to members of files.
var details = map[string]string{"MEDIA_RESOLUTION_LOW": `{"detail":"low"}`, "MEDIA_RESOLUTION_HIGH": `{"detail":"high"}`}

// DetailOf returns the function that translates the resolution of a file for servers of a format.
// It has the same member in the vendor's other format. vendor reports that the server is one of the vendor, which accepts resolutions of other formats.
func DetailOf(f, other content.Format, vendor bool) func(*content.Extra) (json string, rest bool) {
	return func(x *content.Extra) (json string, rest bool) {
		if x.Format == f || x.Format == other || x.Format == "" {
			level := gjson.Get(x.JSON, "detail")
			if level.Str == "" {
				return "", true
			}
			return `{"detail":` + level.Raw + `}`, codec.MemberCount(x.JSON) > 1
		}
		resolution := gjson.Get(x.JSON, "mediaResolution")
		json = details[resolution.Get("level").Str]
		if json == "" || !vendor {
			return "", true
		}
		return json, codec.MemberCount(x.JSON) > 1 || codec.MemberCount(resolution.Raw) > 1
	}
}

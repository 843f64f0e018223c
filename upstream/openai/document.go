package openai

import (
	"context"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/internal/snapshot"
)

// OpenAI's own server, and Azure's with the API that has no dated versions, get the document of a client of
// their format as it is. All other servers get documents that are written for them: they accept only a
// part of the format, and a dated version has only the members of its time.

// forwardsDocuments reports whether the server accepts what clients of OpenAI's own send, and no
// option changes requests.
func (o Options) forwardsDocuments() bool {
	d := &o.Dialect // Files and Links are for compatible servers
	isDated := o.APIVersion != "" || strings.Contains(o.BaseURL, "api-version=")
	return o.isOpenAI() && !isDated && d.Efforts == nil && d.Reasoning == "" && d.ThinkTags == ThinkTagsOff && d.Thinking == "" &&
		!d.ShortIDs && !d.StrictRoles && !d.TextOnly && !d.CacheControl && !d.DescribeUnreadable
}

// document returns the document that is sent, or nil if the request is encoded. A request is
// encoded for a model of which the server has refused a member before.
func (p *plan) document() *document.Document {
	if !p.client.forwards || p.target.refusals != (refusals{}) {
		return nil
	}
	return snapshot.DocumentOf(p.Source, p.client.format)
}

// body returns the document to send.
func (p *plan) body(ctx context.Context) adapter.Body {
	if p.Document == nil {
		return adapter.Written{Writer: p.write(ctx)}
	}
	return p.splice(ctx)
}

// splice returns the original document with the model, for which its limit may have another name, and
// with the stream members if the host has changed them. A stream of Chat Completions has the usage, which the report needs.
func (p *plan) splice(ctx context.Context) adapter.Body {
	var members []adapter.Member
	if p.Model != "" && gjson.Parse(p.Document.Member("model")).Str != p.Model {
		members = append(members, adapter.Member{Name: "model", Value: string(jsonwire.AppendString(nil, p.Model))})
	}
	if limit := p.Document.Member("max_tokens"); limit != "" && p.target.family.noMaxTokens && len(members) > 0 {
		members = append(members, adapter.Member{Name: "max_completion_tokens", Value: limit}, adapter.Member{Name: "max_tokens"})
	}
	stream := p.Source.Stream
	changed := stream != (p.Document.Member("stream") == "true")
	switch {
	case changed && stream:
		members = append(members, adapter.Member{Name: "stream", Value: "true"})
	case changed:
		members = append(members, adapter.Member{Name: "stream", Value: "false"}, adapter.Member{Name: "stream_options"})
	}
	if options := p.Document.Member("stream_options"); stream && p.client.format == ChatFormat && !gjson.Get(options, "include_usage").Bool() {
		value := `{"include_usage":true}`
		if gjson.Parse(options).IsObject() {
			if s, err := sjson.Set(options, "include_usage", true); err == nil {
				value = s
			}
		}
		members = append(members, adapter.Member{Name: "stream_options", Value: value})
	}
	if _, has := codec.Own(p.Source.Extra, p.client.format).Get(openaiformat.CacheKeyName); !has && p.client.customKey != nil {
		if key := p.client.cacheKey(ctx, p.Source); key != "" {
			members = append(members, adapter.Member{Name: openaiformat.CacheKeyName, Value: string(jsonwire.AppendString(nil, key))})
		}
	}
	return adapter.Splice(p.Document, members...)
}

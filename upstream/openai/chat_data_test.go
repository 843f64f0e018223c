package openai_test

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// simple is a request of one text.
func simple(model, text string) *upstream.Request {
	return &upstream.Request{Model: model, Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: text}}}}}
}

var weather = []content.Tool{{
	Name: "weather", Description: "Tells the weather.",
	Input: content.Schema{JSON: `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`},
}}

// lossy loses something on its way to any server.
func lossy() *upstream.Request {
	r := simple("gpt-4.1", "hello")
	r.Tools = append(weather[:1:1], content.Tool{Kind: "web_search_20250305", Name: "web_search", Format: "messages", Raw: `{"type":"web_search_20250305","name":"web_search"}`})
	return r
}

// bad cannot be told in chat completions.
func bad() *upstream.Request {
	r := simple("gpt-4.1", "hello")
	r.Turns[0].Parts = append(r.Turns[0].Parts, &content.Media{Source: &content.Base64{MediaType: "video/mp4", Data: "AAAA"}})
	return r
}

package main

import (
	"bytes"
	"context"
	"io"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
)

// polywire returns the routes of this module. They validate each request by the vendor's
// rules, and validate each event of a stream.
func polywire() *contestant {
	// The defaults are valid.
	toMessages, _ := anthropic.New(nil)
	toGemini, _ := gemini.New(nil)
	toChat, _ := openai.New(nil)
	fromMessages := func(b []byte) (*upstream.Request, []content.Loss, error) { return messages.DecodeRequest(b, nil) }
	fromGemini := func(b []byte) (*upstream.Request, []content.Loss, error) {
		return generatecontent.DecodeRequest(b, nil)
	}
	return &contestant{name: "Polywire", module: "github.com/polywire/polywire", routes: map[route]translator{
		{formatMessages, formatGemini, false}: {translate: requestTo(toGemini, geminiModel, fromMessages)},
		{formatMessages, formatChat, false}:   {translate: requestTo(toChat, chatModel, fromMessages)},
		{formatGemini, formatMessages, false}: {translate: requestTo(toMessages, claudeModel, fromGemini)},
		{formatGemini, formatChat, false}:     {translate: requestTo(toChat, chatModel, fromGemini)},
		{formatChat, formatMessages, true}: {translate: streamTo(messages.NewStreamWriter, func(r io.Reader) upstream.FrameReader {
			return toChat.NewStreamReader(nil, r)
		})},
		{formatGemini, formatMessages, true}: {translate: streamTo(messages.NewStreamWriter, func(r io.Reader) upstream.FrameReader {
			return generatecontent.NewStreamReader(r, nil)
		})},
		{formatMessages, formatGemini, true}: {translate: streamTo(generatecontent.NewStreamWriter, func(r io.Reader) upstream.FrameReader {
			return messages.NewStreamReader(r, nil)
		})},
	}}
}

// requestTo returns a function that writes the request that up would send for a body.
func requestTo(up upstream.Upstream, model string, decode func([]byte) (*upstream.Request, []content.Loss, error)) func([]byte, io.Writer) error {
	return func(body []byte, out io.Writer) error {
		req, _, err := decode(body)
		if err != nil {
			return err
		}
		encoded, err := upstream.EncodeRequest(context.Background(), up, req.WithModel(model))
		if err != nil {
			return err
		}
		_, err = io.WriteString(out, encoded.Document)
		return err
	}
}

// streamTo returns a function that translates a stream.
func streamTo(newWriter func(io.Writer, *upstream.Request) upstream.StreamWriter, newReader func(io.Reader) upstream.FrameReader) func([]byte, io.Writer) error {
	return func(stream []byte, out io.Writer) error {
		req := &upstream.Request{Model: "m"}
		w := newWriter(out, req)
		return w.End(upstream.Run(context.Background(), upstream.Replay(newReader(bytes.NewReader(stream))), req, w))
	}
}

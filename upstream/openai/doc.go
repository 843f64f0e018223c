// Package openai implements [upstream.Upstream] for servers with OpenAI's Chat
// Completions or Responses API: OpenAI itself, and the many local and remote servers
// with a compatible API.
//
//	up, err := openai.New(&openai.Options{BaseURL: "http://localhost:8000/v1"})
//	http.Handle("/", messages.NewHandler(up, nil))
//
// [New] returns a client for Chat Completions, [NewResponses] one for the Responses
// API. OpenAI's newest models accept tools only in the Responses API. Most other
// servers support Chat Completions better.
//
// At Azure, a key is sent as "api-key", [Options.Deployments] maps models to deployments,
// and [Options.APIVersion] selects the dated API.
//
// A client converts each request to the format of the API. Before it sends the request,
// it reports the losses of the conversion: see [upstream.Writer.Loss].
//
// OpenAI's own server gets the document of a client of its format byte for byte, except for the
// model, for stream_options of Chat Completions, which ask for the usage, and for max_tokens, which has
// another name for newer models if the host has chosen one. The headers that the
// handler forwards are sent with it. If the server rejects the document, the client gets its error.
// A request is encoded anew if the host or a middleware has changed it, if it carries the state of
// another vendor, if the host has chosen another model, which does not accept what the model that the
// client named accepts, if [Options.Dialect] has more than a Kind, or if the server has rejected a member
// of an earlier request for the same model. Azure and compatible servers get no documents.
//
// The last user message is never replaced. If a part of it cannot be represented and
// nothing is left of the message, the request fails with a [content.Violation] that
// names the part. For a message that was empty from the start, a placeholder
// sentence is sent.
//
// # Without HTTP
//
// A program that exchanges documents with a server by other means, such as files of
// batches, uses the same client: [upstream.EncodeRequest] returns the document of a request,
// and [upstream.Preflight] its losses. DecodeResponse, NewStreamReader and DecodeError of
// [Client] and [Responses] decode what the server returns.
//
// # Prompt caches
//
// The encoding of a conversation's beginning does not change as the conversation grows. To
// OpenAI, Azure and some other servers the client sends a key of the conversation: see
// Options.CacheKey. Cache marks become the breakpoints of GPT-5.6 and later, and on servers
// that accept it, cache_control: see Dialect.CacheControl. The line that Claude Code puts
// before its system prompt is omitted: see Options.KeepAttribution.
//
// # Compatible servers
//
// A server is treated as compatible if its host is neither OpenAI's nor Azure's. The
// client omits members that only OpenAI's servers know, and sends some members under
// their older names. The client detects how a server responds: where it puts thinking,
// how it numbers and names tool calls, whether and where it reports usage, and how it
// ends a response. [Dialect] configures the rest: how to turn thinking on and off,
// which files the models read, and how to treat other files. The rules for
// the hosts of DeepSeek, Mistral, xAI, OpenRouter and Vercel's gateway are built in.
//
// If a server rejects a member by name, with status 400 or 422, the client sends the
// request again without it or with an equivalent. It does so before the response
// begins, at most four times per request, and only for members that do not change the
// task. It reports the loss. The client remembers the rejection for the model, so that
// later requests omit the member from the start and report the same loss. A client for
// the Responses API also sends a request again without earlier thinking if the server
// cannot read that thinking.
package openai

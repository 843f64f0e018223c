package openai

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/polywire/polywire/internal/test/fake"
)

var responseRules = []rule{
	{"stored", "§4.1", true, func(a *ask) *refusal {
		previous, conversation := a.doc.Get("previous_response_id") != nil, a.doc.Get("conversation") != nil
		if previous && conversation {
			return no("previous_response_id", "", "Only one of 'previous_response_id' and 'conversation' may be set.")
		}
		if store := a.doc.Get("store"); (previous || conversation || a.doc.True("background")) && store != nil && store.Str == "false" {
			return no("store", "", "'previous_response_id', 'conversation' and 'background' need 'store'.")
		}
		return nil
	}},
	{"logprobs", "§4.1", true, func(a *ask) *refusal {
		for _, v := range a.doc.List("include") {
			if v.Str == "message.output_text.logprobs" {
				return nil
			}
		}
		if a.doc.Get("top_logprobs") != nil {
			return no("top_logprobs", "", "'top_logprobs' needs 'message.output_text.logprobs' in 'include'.")
		}
		return nil
	}},
	{"assistant-empty", "§4.2 [report]", true, func(a *ask) *refusal {
		for i, n := range a.items() {
			if c := n.Get("content"); n.Text("role") == "assistant" && c != nil && c.Kind == fake.String && c.Str == "" {
				return no("input", "invalid_value", "Invalid value for 'input[%d].content': an assistant message must not be empty.", i)
			}
		}
		return nil
	}},
	{"image-source", "§4.2", true, func(a *ask) *refusal {
		for i, n := range a.items() {
			for _, p := range append(n.List("content"), n.List("output")...) {
				kind := p.Text("type")
				if kind == "input_image" && p.Get("image_url") == nil && p.Get("file_id") == nil ||
					kind == "input_file" && p.Get("file_data") == nil && p.Get("file_url") == nil && p.Get("file_id") == nil ||
					p.Get("file_data") != nil && p.Get("filename") == nil {
					return no("input", "missing_required_parameter", "Missing required parameter: the source of 'input[%d]'.", i)
				}
			}
		}
		return nil
	}},
	{"call-arguments", "§4.2", true, func(a *ask) *refusal {
		for i, n := range a.items() {
			if n.Text("type") != "function_call" {
				continue
			}
			if v, err := fake.Parse([]byte(n.Text("arguments"))); err != nil || v.Kind != fake.Object {
				return no("input", "invalid_value", "Invalid value for 'input[%d].arguments': not a JSON object.", i)
			}
		}
		return nil
	}},
	{"call-pairs", "§4.2 [report]", true, callPairs},
	{"reasoning-stored", "§4.4 [report]", true, func(a *ask) *refusal {
		for _, n := range a.items() {
			if n.Text("type") == "item_reference" || n.Text("type") == "reasoning" && n.Text("encrypted_content") == "" {
				if a.stateless() {
					return &refusal{status: 404, param: "input", message: "Item with id '" + n.Text("id") + "' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input."}
				}
			}
		}
		return nil
	}},
	{"reasoning-alone", "§4.4 [report]", true, func(a *ask) *refusal {
		items := a.items()
		for i, n := range items {
			if n.Text("type") != "reasoning" {
				continue
			}
			next := &fake.Node{}
			if i+1 < len(items) {
				next = items[i+1]
			}
			if kind := next.Text("type"); next.Text("role") != "assistant" && kind != "reasoning" && !strings.HasSuffix(kind, "_call") && kind != "program" {
				return no("input", "", "Item '%s' of type 'reasoning' was provided without its required following item.", n.Text("id"))
			}
		}
		return nil
	}},
	{"encrypted", "§4.4", true, func(a *ask) *refusal {
		for _, n := range a.items() {
			blob := n.Text("encrypted_content")
			if n.Text("type") == "reasoning" && blob != "" && !a.server.opts.TrustSignatures && !verify(blob, n.Text("id")) {
				return no("input", "invalid_encrypted_content", "The encrypted content for item %s could not be verified. Reason: Encrypted content could not be decrypted or parsed.", n.Text("id"))
			}
		}
		return nil
	}},
}

func (a *ask) items() []*fake.Node {
	if in := a.doc.Get("input"); in != nil && in.Kind == fake.Array {
		return in.Items
	}
	return nil
}

// addsTools reports whether an item has tools. Codex sends those of newer models so.
func (a *ask) addsTools() bool {
	return slices.ContainsFunc(a.items(), func(n *fake.Node) bool { return n.Text("type") == "additional_tools" })
}

func (a *ask) stateless() bool {
	v := a.doc.Get("store")
	return v != nil && v.Str == "false"
}

// callPairs checks that each call has an output and each output a call, except
// for calls whose output may come later.
func callPairs(a *ask) *refusal {
	var calls, later, answered []string
	for _, n := range a.items() {
		id := n.Text("call_id")
		switch n.Text("type") {
		case "function_call", "custom_tool_call":
			if slices.Contains(calls, id) {
				return no("input", "", "Duplicate call_id %s.", id)
			}
			calls = append(calls, id)
			if n.True("async") {
				later = append(later, id)
			}
		case "function_call_output", "custom_tool_call_output":
			if !slices.Contains(calls, id) {
				return no("input", "", "No tool call found for function call output with call_id %s.", id)
			}
			if slices.Contains(answered, id) {
				return no("input", "", "Duplicate output for call_id %s.", id)
			}
			answered = append(answered, id)
		}
	}
	for _, id := range calls {
		if !slices.Contains(answered, id) && !slices.Contains(later, id) {
			return no("input", "", "No tool output found for function call %s.", id)
		}
	}
	return nil
}

const sealMark = "\x80openai fake, reasoning: "

// seal returns the encrypted content of a reasoning item.
func seal(id string) string {
	h := hmac.New(sha256.New, []byte("the fake's own secret"))
	h.Write([]byte(id))
	return base64.URLEncoding.EncodeToString(append(h.Sum([]byte(sealMark)), id...))
}

// verify reports whether this package made the content for the item. Codex and opencode return it
// without the id, which the vendor accepts [recorded].
func verify(content, id string) bool {
	b, _ := base64.URLEncoding.DecodeString(content)
	if n := len(sealMark) + sha256.Size; id == "" && len(b) > n {
		id = string(b[n:])
	}
	return hmac.Equal([]byte(content), []byte(seal(id)))
}

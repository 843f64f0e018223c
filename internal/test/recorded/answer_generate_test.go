package recorded

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
)

// generateReasons are the finish reasons of generateContent.
var generateReasons = map[string]content.StopReason{
	"STOP":                    content.StopEnd,
	"MAX_TOKENS":              content.StopMaxTokens,
	"SAFETY":                  content.StopSafety,
	"RECITATION":              content.StopRecitation,
	"MODEL_ARMOR":             content.StopSafety,
	"MALFORMED_FUNCTION_CALL": content.StopMalformedCall,
	"UNEXPECTED_TOOL_CALL":    content.StopMalformedCall,
	"TOO_MANY_TOOL_CALLS":     content.StopPause,
}

// generateNumbers are the values of the enumeration FinishReason, which clients
// can ask for as numbers.
var generateNumbers = []string{"FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER",
	"BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL"}

func finishReason(c any) string {
	s := stringAt(c, "finishReason")
	if n, ok := at(c, "finishReason").(json.Number); ok {
		if i, err := strconv.Atoi(n.String()); err == nil && i < len(generateNumbers) {
			s = generateNumbers[i]
		}
	}
	if s == "FINISH_REASON_UNSPECIFIED" {
		return ""
	}
	return s
}

func generateStream(body string) (*answer, error) {
	var chunks []any
	for _, e := range splitEvents(body) {
		if e.data == "[DONE]" {
			continue
		}
		v, err := decodeJSON(e.data)
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, v)
	}
	return generateChunks(chunks), nil
}

func generateChunks(chunks []any) *answer {
	a := &answer{candidates: 1}
	var pieces *callPieces
	for _, v := range chunks {
		for _, c := range listAt(v, "candidates") {
			if i := int(numberAt(c, "index")); i > 0 {
				a.candidates = max(a.candidates, i+1)
				continue
			}
			for _, p := range listAt(c, "content", "parts") {
				pieces = generatePart(a, p, pieces)
			}
			if s := finishReason(c); s != "" {
				a.stop = s
			}
		}
		if s := stringAt(v, "promptFeedback", "blockReason"); s != "" {
			a.stop = "blocked: " + s
		}
		if u := at(v, "usageMetadata"); u != nil {
			a.usage = &usage{
				prompt: numberAt(u, "promptTokenCount") + numberAt(u, "toolUsePromptTokenCount"),
				output: numberAt(u, "candidatesTokenCount") + numberAt(u, "thoughtsTokenCount"),
				cached: numberAt(u, "cachedContentTokenCount"),
			}
		}
		if e := at(v, "error"); e != nil {
			a.failure = encodeJSON(e)
		}
	}
	switch {
	case a.stop == "STOP" && len(a.calls) > 0:
		a.reason = content.StopToolUse
	case strings.HasPrefix(a.stop, "blocked: "):
		a.reason = content.StopSafety
	default:
		a.reason = generateReasons[a.stop]
	}
	a.complete = a.stop != ""
	return a
}

// generatePart adds a part and returns the call that is still incomplete.
func generatePart(a *answer, p any, pieces *callPieces) *callPieces {
	thought, _ := at(p, "thought").(bool)
	if s := stringAt(p, "text"); thought {
		a.addThinking(s)
	} else {
		a.addText(s)
	}
	if d := at(p, "inlineData"); d != nil && !thought {
		a.addImage(stringAt(d, "data"))
	}
	f := at(p, "functionCall")
	if f == nil {
		return pieces
	}
	more, _ := at(f, "willContinue").(bool)
	parts := listAt(f, "partialArgs")
	if parts == nil && !more && pieces == nil {
		arguments := at(f, "args")
		if arguments == nil {
			arguments = object{}
		}
		a.addCall(call{stringAt(f, "id"), stringAt(f, "name"), canonical(arguments)})
		return nil
	}
	if name := stringAt(f, "name"); pieces == nil || name != "" {
		pieces = &callPieces{id: stringAt(f, "id"), name: name, arguments: object{}}
	}
	for _, q := range parts {
		pieces.arguments = putPiece(pieces.arguments, splitPath(stringAt(q, "jsonPath")), q)
	}
	if more {
		return pieces
	}
	a.addCall(call{pieces.id, pieces.name, canonical(pieces.arguments)})
	return nil
}

// callPieces is a tool call whose arguments arrive as partialArgs.
type callPieces struct {
	id, name  string
	arguments any
}

// splitPath splits a path such as $.a[0].b or $['a'].
func splitPath(path string) []string {
	path = strings.NewReplacer("['", ".", "']", "", `["`, ".", `"]`, "", "[", ".", "]", "").Replace(strings.TrimPrefix(path, "$"))
	return strings.Split(strings.TrimPrefix(path, "."), ".")
}

// putPiece puts one of partialArgs into a value.
func putPiece(v any, path []string, piece any) any {
	if len(path) == 0 {
		if s, ok := at(piece, "stringValue").(string); ok {
			before, _ := v.(string)
			return before + s
		}
		for _, name := range []string{"numberValue", "boolValue"} {
			if x := at(piece, name); x != nil {
				return x
			}
		}
		return nil
	}
	if i, err := strconv.Atoi(path[0]); err == nil {
		list, _ := v.([]any)
		for len(list) <= i {
			list = append(list, nil)
		}
		list[i] = putPiece(list[i], path[1:], piece)
		return list
	}
	o, _ := v.(object)
	if o == nil {
		o = object{}
	}
	o[path[0]] = putPiece(o[path[0]], path[1:], piece)
	return o
}

// generateOrder checks that a stream is in the order that the format demands.
func generateOrder(chunks []string) error {
	finished := make(map[int64]bool)
	ids := make(map[string]bool)
	for i, data := range chunks {
		fail := func(format string, args ...any) error {
			return fmt.Errorf("chunk %d: %s: %s", i, fmt.Sprintf(format, args...), clip(data, 160))
		}
		v, err := decodeJSON(data)
		if err != nil {
			return fail("%v", err)
		}
		if at(v, "error") != nil {
			return fail("an error")
		}
		if id := stringAt(v, "responseId"); id != "" {
			ids[id] = true
		}
		for _, c := range listAt(v, "candidates") {
			index := numberAt(c, "index")
			parts := listAt(c, "content", "parts")
			if finished[index] && len(parts) > 0 {
				return fail("candidate %d continues after its finishReason", index)
			}
			if len(parts) > 0 && stringAt(c, "content", "role") != "model" {
				return fail("the role is %q", stringAt(c, "content", "role"))
			}
			for _, p := range parts {
				o, _ := p.(object)
				if len(o) == 0 {
					return fail("an empty part")
				}
				if f := at(p, "functionCall"); f != nil && stringAt(f, "name") == "" && at(f, "partialArgs") == nil && at(f, "willContinue") == nil {
					return fail("a call without a name")
				}
			}
			if finishReason(c) != "" {
				finished[index] = true
			}
		}
		if stringAt(v, "promptFeedback", "blockReason") != "" {
			finished[0] = true
		}
	}
	switch {
	case len(finished) == 0:
		return fmt.Errorf("the stream has no finishReason")
	case len(ids) > 1:
		return fmt.Errorf("the chunks have %d values of responseId", len(ids))
	}
	return nil
}

// generateChunkTexts returns the chunks of a stream, an event stream or an array.
func generateChunkTexts(body string) ([]string, error) {
	if !strings.HasPrefix(strings.TrimSpace(body), "[") {
		var chunks []string
		for _, e := range splitEvents(body) {
			chunks = append(chunks, e.data)
		}
		return slices.DeleteFunc(chunks, func(s string) bool { return s == "[DONE]" }), nil
	}
	var raw []json.RawMessage
	if err := json.Unmarshal([]byte(body), &raw); err != nil {
		return nil, err
	}
	chunks := make([]string, len(raw))
	for i, m := range raw {
		chunks[i] = string(m)
	}
	return chunks, nil
}

package openai

import "github.com/polywire/polywire/internal/test/fake"

// responseBody is openai.md §4.1.
func responseBody() fake.Shape {
	return fake.Obj(fake.Fields{
		"model!":       literal,
		"input!":       fake.Forms(map[fake.Kind]fake.Shape{fake.String: text, fake.Array: fake.List(item, 0, 0)}),
		"instructions": fake.Or(text), "max_output_tokens": fake.Or(fake.Int(16, fake.Inf)), "max_tool_calls": fake.Or(count),
		"temperature": fake.Or(fake.Num(0, 2)), "top_p": fake.Or(fake.Num(0, 1)), "top_logprobs": fake.Or(fake.Int(0, 20)),
		"reasoning": fake.Or(fake.Obj(fake.Fields{
			"effort": effort, "summary": fake.Or(fake.Enum("auto", "concise", "detailed")),
			"context": fake.Enum("auto", "current_turn", "all_turns"), "mode": fake.Enum("standard", "pro"),
			"generate_summary": fake.Or(fake.Enum("auto", "concise", "detailed")),
		})),
		"text": fake.Obj(fake.Fields{"verbosity": verbosity, "format": textFormat()}),
		"tools": fake.List(fake.Tagged("type", map[string]fake.Shape{
			"function": fake.Obj(fake.Fields{
				"type!": literal, "name!": fake.Match(`^[a-zA-Z0-9_-]{1,128}$`), "parameters!": fake.Or(fake.FreeObject),
				"strict": flag, "description": fake.Or(text), "defer_loading": fake.Flag, "async": fake.Flag,
				"output_schema": fake.FreeObject, "allowed_callers": fake.List(text, 0, 0),
			}),
			"custom":     fake.Obj(fake.Fields{"type!": literal, "name!": literal, "description": text, "format": fake.FreeObject, "async": fake.Flag, "defer_loading": fake.Flag}),
			"namespace":  fake.Obj(fake.Fields{"type!": literal, "name!": literal, "description!": text, "tools!": fake.List(fake.FreeObject, 1, 0)}),
			"web_search": fake.FreeObject, "web_search_2025_08_26": fake.FreeObject, "web_search_preview": fake.FreeObject,
			"file_search": fake.FreeObject, "code_interpreter": fake.FreeObject, "image_generation": fake.FreeObject, "mcp": fake.FreeObject,
			"computer": fake.FreeObject, "computer_use_preview": fake.FreeObject, "shell": fake.FreeObject, "local_shell": fake.FreeObject,
			"apply_patch": fake.FreeObject, "tool_search": fake.FreeObject, "programmatic_tool_calling": fake.FreeObject,
		}), 0, 128),
		"tool_choice": responseChoice(), "parallel_tool_calls": flag,
		"include": fake.Or(fake.List(fake.Enum("reasoning.encrypted_content", "web_search_call.action.sources", "web_search_call.results",
			"file_search_call.results", "code_interpreter_call.outputs", "computer_call_output.output.image_url",
			"message.input_image.image_url", "message.output_text.logprobs"), 0, 0)),
		"store": flag, "previous_response_id": fake.Or(text), "conversation": fake.Or(fake.Free),
		"stream": flag, "stream_options": fake.Or(fake.Obj(fake.Fields{"include_obfuscation": fake.Flag})),
		"background": flag, "truncation": fake.Or(fake.Enum("auto", "disabled")),
		"context_management": fake.Or(fake.List(fake.FreeObject, 0, 0)), "prompt_cache_options": fake.FreeObject,
		"prompt_cache_retention": fake.Or(fake.Enum("in_memory", "24h")),
		"metadata":               metadata, "service_tier": tier, "safety_identifier": fake.Or(fake.Str(0, 128)),
		"prompt_cache_key": fake.Or(fake.Str(0, 64)), "user": text, "moderation": fake.FreeObject, "prompt": fake.Or(fake.FreeObject),
		"access_programs": fake.Free, "image": fake.FreeObject,
	})
}

func textFormat() fake.Shape {
	return fake.Tagged("type", map[string]fake.Shape{
		"text":        fake.Obj(fake.Fields{"type!": literal}),
		"json_object": fake.Obj(fake.Fields{"type!": literal}),
		"json_schema": fake.Obj(fake.Fields{"type!": literal, "name!": toolName, "schema!": fake.FreeObject, "strict": flag, "description": text}),
	})
}

func responseChoice() fake.Shape {
	named := fake.Obj(fake.Fields{"type!": literal, "name!": literal})
	forms := map[string]fake.Shape{
		"function": named, "custom": named,
		"allowed_tools": fake.Obj(fake.Fields{"type!": literal, "mode!": fake.Enum("auto", "required"), "tools!": fake.List(fake.FreeObject, 1, 0)}),
		"mcp":           fake.Obj(fake.Fields{"type!": literal, "server_label!": literal, "name": fake.Or(text)}),
	}
	for _, hosted := range []string{"file_search", "web_search_preview", "code_interpreter", "image_generation", "computer", "shell", "apply_patch", "programmatic_tool_calling"} {
		forms[hosted] = fake.Obj(fake.Fields{"type!": literal})
	}
	return fake.Forms(map[fake.Kind]fake.Shape{
		fake.String: fake.Enum("none", "auto", "required"), fake.Object: fake.Tagged("type", forms),
	})
}

// inputParts are the parts of user messages and function results.
func inputParts() map[string]fake.Shape {
	return map[string]fake.Shape{
		"input_text":  piece(fake.Fields{"text!": text}),
		"input_image": piece(fake.Fields{"image_url": dataURL, "file_id": literal, "detail": fake.Enum("auto", "low", "high", "original")}),
		"input_file": piece(fake.Fields{
			"file_data": fake.Match(`^data:[^;,]+;base64,[A-Za-z0-9+/]+={0,2}$`), "file_url": fake.Match(`^https?://`),
			"file_id": literal, "filename": literal, "detail": fake.Enum("auto", "low", "high"),
		}),
	}
}

func itemID(prefix string) fake.Shape { return fake.Match("^" + prefix + "_") }

// item is openai.md §4.2.
func item(c *fake.Checker, at fake.Path, n *fake.Node) {
	if n.Kind == fake.Object && (n.Get("type") == nil || n.Text("type") == "message") {
		messageItem(c, at, n)
		return
	}
	status := fake.Or(fake.Enum("in_progress", "completed", "incomplete"))
	callID := fake.Str(1, 64)
	output := parts(inputParts())
	forms := map[string]fake.Shape{
		"function_call": fake.Obj(fake.Fields{
			"type!": literal, "call_id!": callID, "name!": fake.Match(`^[a-zA-Z0-9_-]{1,128}$`), "arguments!": text, "id": itemID("fc"),
			"status": status, "namespace": text, "async": fake.Flag, "caller": fake.Free,
		}),
		"function_call_output": fake.Obj(fake.Fields{
			"type!": literal, "call_id!": callID, "output!": output, "id": fake.Or(text), "name": text, "status": status, "namespace": text, "caller": fake.Free,
		}),
		"custom_tool_call":        fake.Obj(fake.Fields{"type!": literal, "call_id!": callID, "name!": literal, "input!": text, "id": itemID("ctc"), "status": status, "namespace": text, "async": fake.Flag}),
		"custom_tool_call_output": fake.Obj(fake.Fields{"type!": literal, "call_id!": callID, "output!": output, "id": fake.Or(text)}),
		"reasoning": fake.Obj(fake.Fields{
			"type!": literal, "id": itemID("rs"), "encrypted_content": fake.Or(text), "status": status,
			"summary!": fake.List(fake.Obj(fake.Fields{"type!": fake.Enum("summary_text"), "text!": text}), 0, 0),
			"content":  fake.Or(fake.List(fake.Obj(fake.Fields{"type!": fake.Enum("reasoning_text"), "text!": text}), 0, 0)),
		}),
		"item_reference":       fake.Obj(fake.Fields{"type!": literal, "id!": literal}),
		"compaction":           fake.Obj(fake.Fields{"type!": literal, "id": fake.Or(text), "encrypted_content!": text}),
		"compaction_trigger":   fake.Obj(fake.Fields{"type!": literal}),
		"configuration_update": fake.Obj(fake.Fields{"type!": literal, "reasoning": fake.FreeObject, "text": fake.FreeObject}),
		"additional_tools":     fake.Obj(fake.Fields{"type!": literal, "role!": fake.Enum("developer"), "tools!": fake.List(fake.FreeObject, 1, 0)}),
	}
	for _, verbatim := range verbatimItems {
		forms[verbatim] = fake.FreeObject
	}
	fake.Tagged("type", forms)(c, at, n)
}

// verbatimItems are items that clients return unchanged.
var verbatimItems = []string{
	"tool_search_call", "tool_search_output", "program", "program_output", "web_search_call", "file_search_call",
	"code_interpreter_call", "image_generation_call", "mcp_list_tools", "mcp_call", "mcp_approval_request",
	"mcp_approval_response", "computer_call", "computer_call_output", "shell_call", "shell_call_output",
	"apply_patch_call", "apply_patch_call_output", "local_shell_call", "local_shell_call_output",
}

func messageItem(c *fake.Checker, at fake.Path, n *fake.Node) {
	allowed := inputParts()
	if n.Text("role") == "assistant" {
		allowed = map[string]fake.Shape{
			"output_text": piece(fake.Fields{"text!": text, "annotations": fake.List(fake.FreeObject, 0, 0), "logprobs": fake.List(fake.FreeObject, 0, 0)}),
			"refusal":     piece(fake.Fields{"refusal!": text}),
		}
	}
	fake.Obj(fake.Fields{
		"type": literal, "role!": fake.Enum("user", "assistant", "system", "developer"), "content!": parts(allowed),
		"id": itemID("msg"), "status": fake.Enum("in_progress", "completed", "incomplete"),
		"phase": fake.Or(fake.Enum("commentary", "final_answer")),
	})(c, at, n)
}

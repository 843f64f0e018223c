package openai

import "github.com/polywire/polywire/internal/test/fake"

var (
	text    = fake.Str(0, 0)
	literal = fake.Str(1, 0)
	flag    = fake.Or(fake.Flag)
	count   = fake.Int(0, fake.Inf)

	effort    = fake.Or(fake.Enum("none", "minimal", "low", "medium", "high", "xhigh", "max"))
	verbosity = fake.Or(fake.Enum("low", "medium", "high"))
	toolName  = fake.Match(`^[a-zA-Z0-9_-]{1,64}$`)
	metadata  = fake.Or(fake.Map(fake.Str(0, 512)))
	tier      = fake.Or(fake.Enum("auto", "default", "flex", "scale", "priority", "fast", "ultrafast"))
)

// breakpoint is the cache breakpoint that each content part may have.
var breakpoint = fake.Obj(fake.Fields{"mode!": fake.Enum("explicit"), "ttl": fake.Enum("30m", "12h")})

func strs(max int) fake.Shape { return fake.List(text, 1, max) }

// chatBody is openai.md §2.1.
func chatBody() fake.Shape {
	return fake.Obj(fake.Fields{
		"model!": literal, "messages!": fake.List(chatMessage, 1, 0),
		"max_completion_tokens": fake.Or(fake.Int(1, fake.Inf)), "max_tokens": fake.Or(fake.Int(1, fake.Inf)),
		"temperature": fake.Or(fake.Num(0, 2)), "top_p": fake.Or(fake.Num(0, 1)),
		"presence_penalty": fake.Or(fake.Num(-2, 2)), "frequency_penalty": fake.Or(fake.Num(-2, 2)),
		"logit_bias": fake.Or(fake.Map(fake.Num(-100, 100))), "n": fake.Or(fake.Int(1, 128)), "seed": fake.Or(fake.Int(-fake.Inf, fake.Inf)),
		"stop":     fake.Or(fake.Forms(map[fake.Kind]fake.Shape{fake.String: text, fake.Array: strs(4)})),
		"logprobs": flag, "top_logprobs": fake.Or(fake.Int(0, 20)),
		"stream": flag, "stream_options": fake.Or(fake.Obj(fake.Fields{"include_usage": fake.Flag, "include_obfuscation": fake.Flag})),
		"tools": fake.List(chatTool(), 1, 128), "tool_choice": chatChoice(), "parallel_tool_calls": fake.Flag,
		"response_format": fake.Tagged("type", map[string]fake.Shape{
			"text":        fake.Obj(fake.Fields{"type!": literal}),
			"json_object": fake.Obj(fake.Fields{"type!": literal}),
			"json_schema": fake.Obj(fake.Fields{"type!": literal, "json_schema!": fake.Obj(fake.Fields{
				"name!": toolName, "description": text, "schema": fake.FreeObject, "strict": flag,
			})}),
		}),
		"reasoning_effort": effort, "verbosity": verbosity, "service_tier": tier, "store": flag, "metadata": metadata,
		"safety_identifier": fake.Or(fake.Str(0, 128)), "user": text, "prompt_cache_key": fake.Or(fake.Str(0, 64)),
		"prompt_cache_options":   fake.Obj(fake.Fields{"mode": fake.Enum("implicit", "explicit"), "ttl": fake.Enum("30m")}),
		"prompt_cache_retention": fake.Or(fake.Enum("in_memory", "24h")),
		"prediction":             fake.Or(fake.Obj(fake.Fields{"type!": fake.Enum("content"), "content!": fake.Free})),
		"modalities":             fake.Or(fake.List(fake.Enum("text", "audio"), 1, 0)),
		"audio":                  fake.Or(fake.Obj(fake.Fields{"format!": fake.Enum("wav", "mp3", "flac", "opus", "pcm16", "aac"), "voice!": fake.Free})),
		"web_search_options":     fake.FreeObject, "moderation": fake.FreeObject,
	})
}

// parts accepts a string, or a non-empty list of parts of these kinds.
func parts(forms map[string]fake.Shape) fake.Shape {
	return fake.Forms(map[fake.Kind]fake.Shape{
		fake.String: text, fake.Array: fake.List(fake.Tagged("type", forms), 1, 0),
	})
}

func piece(f fake.Fields) fake.Shape {
	f["type!"] = literal
	f["prompt_cache_breakpoint"] = breakpoint
	return fake.Obj(f)
}

var dataURL = fake.Match(`^(https?://|data:image/(png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+={0,2}$)`)

// chatMessage is openai.md §2.3: the role determines the members.
func chatMessage(c *fake.Checker, at fake.Path, n *fake.Node) {
	textPart := piece(fake.Fields{"text!": text})
	only := map[string]fake.Shape{"text": textPart}
	fields := fake.Fields{"role!": fake.Enum("developer", "system", "user", "assistant", "tool"), "name": toolName}
	switch n.Text("role") {
	case "user":
		fields["content!"] = parts(map[string]fake.Shape{
			"text": textPart,
			"image_url": piece(fake.Fields{"image_url!": fake.Obj(fake.Fields{
				"url!": dataURL, "detail": fake.Enum("auto", "low", "high", "original"),
			})}),
			"input_audio": piece(fake.Fields{"input_audio!": fake.Obj(fake.Fields{"data!": fake.Base64, "format!": fake.Enum("wav", "mp3")})}),
			"file":        piece(fake.Fields{"file!": fake.Obj(fake.Fields{"file_data": fake.Match(`^data:application/pdf;base64,[A-Za-z0-9+/]+={0,2}$`), "filename": literal, "file_id": literal})}),
		})
	case "assistant":
		fields["content"] = fake.Or(parts(map[string]fake.Shape{"text": textPart, "refusal": piece(fake.Fields{"refusal!": text})}))
		fields["refusal"] = fake.Or(text)
		fields["tool_calls"] = fake.List(chatCall(), 1, 0)
		fields["audio"] = fake.Or(fake.Obj(fake.Fields{"id!": literal}))
	case "tool":
		delete(fields, "name")
		fields["content!"], fields["tool_call_id!"] = parts(only), fake.Str(1, 40)
	default:
		fields["content!"] = parts(only)
	}
	fake.Obj(fields)(c, at, n)
}

func chatCall() fake.Shape {
	return fake.Tagged("type", map[string]fake.Shape{
		"function": fake.Obj(fake.Fields{"id!": fake.Str(1, 40), "type!": literal, "function!": fake.Obj(fake.Fields{"name!": toolName, "arguments!": text})}),
		"custom":   fake.Obj(fake.Fields{"id!": fake.Str(1, 40), "type!": literal, "custom!": fake.Obj(fake.Fields{"name!": toolName, "input!": text})}),
	})
}

// chatTool is openai.md §2.4.
func chatTool() fake.Shape {
	return fake.Tagged("type", map[string]fake.Shape{
		"function": fake.Obj(fake.Fields{"type!": literal, "function!": fake.Obj(fake.Fields{
			"name!": toolName, "description": fake.Str(0, 1024), "parameters": fake.FreeObject, "strict": flag,
		})}),
		"custom": fake.Obj(fake.Fields{"type!": literal, "custom!": fake.Obj(fake.Fields{
			"name!": toolName, "description": fake.Str(0, 1024), "format": fake.FreeObject,
		})}),
	})
}

func chatChoice() fake.Shape {
	named := fake.Obj(fake.Fields{"name!": literal})
	return fake.Forms(map[fake.Kind]fake.Shape{
		fake.String: fake.Enum("none", "auto", "required"),
		fake.Object: fake.Tagged("type", map[string]fake.Shape{
			"function": fake.Obj(fake.Fields{"type!": literal, "function!": named}),
			"custom":   fake.Obj(fake.Fields{"type!": literal, "custom!": named}),
			"allowed_tools": fake.Obj(fake.Fields{"type!": literal, "allowed_tools!": fake.Obj(fake.Fields{
				"mode!": fake.Enum("auto", "required"), "tools!": fake.List(fake.FreeObject, 1, 0),
			})}),
		}),
	})
}

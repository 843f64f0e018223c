package anthropic

import "github.com/polywire/polywire/internal/test/fake"

// The betas that enable members, messages.md §2.2 and §3.
const (
	mcpBeta        = "mcp-client-*"
	contextBeta    = "context-management-2025-06-27"
	compactBeta    = "compact-2026-09-04"
	compactEdit    = "compact-2026-01-12"
	budgetBeta     = "task-budgets-2026-03-13"
	threadBeta     = "message-threads-2026-08-12"
	fallbackBeta   = "server-side-fallback-*"
	creditBeta     = "fallback-credit-*"
	billingBeta    = "user-profiles-billing-2026-10-01"
	formatBeta     = "structured-outputs-*"
	clearAtBeta    = "mid-conversation-system-clear-at-2026-08-21"
	turnEffortBeta = "mid-conversation-output-config-2026-07-01"
	toolChangeBeta = "mid-conversation-tool-changes-2026-07-01|inline-tools-2026-09-15"
	displayBeta    = "thinking-display-updates-2026-08-18"
	bindingBeta    = "thinking-binding-controls-2026-08-01"
	advisorBeta    = "advisor-tool-2026-03-01"
	computerBeta   = "computer-use-*"
)

var (
	name64   = fake.Str(1, 64)
	optStr   = fake.Or(fake.Str(0, 0))
	optFlag  = fake.Or(fake.Flag)
	literal  = fake.Str(1, 0)
	anyCount = fake.Int(0, fake.Inf)

	cacheControl = fake.Or(fake.Obj(fake.Fields{
		"type!": fake.Enum("ephemeral"), "ttl": fake.Or(fake.Enum("5m", "1h")),
	}))
	effort = fake.Or(fake.Enum("low", "medium", "high", "xhigh", "max"))
	format = fake.Or(fake.Obj(fake.Fields{"type!": fake.Enum("json_schema"), "schema!": fake.FreeObject}))
)

// body is the shape of a request for a response, messages.md §2.1 and §2.2.
func body() fake.Shape {
	f := countFields()
	f["model!"] = fake.Str(1, 256)
	f["max_tokens!"] = fake.Int(0, fake.Inf)
	f["stream"] = fake.Flag
	f["metadata"] = fake.Obj(fake.Fields{"user_id": fake.Or(fake.Str(0, 512))})
	f["stop_sequences"] = fake.List(fake.Str(0, 0), 0, 0)
	f["temperature"] = fake.Num(0, 1)
	f["top_p"] = orUnset(fake.Num(0, 1))
	f["top_k"] = orUnset(fake.Int(0, fake.Inf))
	f["service_tier"] = fake.Enum("auto", "standard_only")
	f["inference_geo"] = optStr
	f["container"] = fake.Or(fake.Forms(map[fake.Kind]fake.Shape{
		fake.String: literal,
		fake.Object: fake.Obj(fake.Fields{"id": optStr, "skills": fake.Or(fake.List(skill(), 0, 20))}),
	}))
	f["diagnostics"] = fake.Or(fake.Obj(fake.Fields{"previous_message_id": fake.Or(fake.Str(0, 256))}))
	f["thread@"+threadBeta] = fake.Or(fake.Tagged("type", map[string]fake.Shape{
		"create":   fake.Obj(fake.Fields{"type!": literal}),
		"continue": fake.Obj(fake.Fields{"type!": literal, "previous_message_id!": literal}),
	}))
	f["fallbacks@"+fallbackBeta] = fake.Or(fake.Forms(map[fake.Kind]fake.Shape{
		fake.String: fake.Enum("default"), fake.Array: fake.List(fallback(), 1, 3),
	}))
	f["fallback_credit_token@"+creditBeta] = fake.Or(fake.Forms(map[fake.Kind]fake.Shape{
		fake.String: literal,
		fake.Object: fake.Obj(fake.Fields{"token!": literal, "mode": fake.Enum("strict", "best_effort")}),
	}))
	return fake.Obj(f)
}

// orUnset accepts also -1, by which older clients mark a number as not set, messages.md §2.1.
func orUnset(s fake.Shape) fake.Shape {
	return func(c *fake.Checker, at fake.Path, n *fake.Node) {
		if n.Kind != fake.Number || n.Str != "-1" {
			s(c, at, n)
		}
	}
}

// count is the shape of a token count request, messages.md §2.7.
func count() fake.Shape { return fake.Obj(countFields()) }

// countFields are the members that both kinds of request have.
func countFields() fake.Fields {
	return fake.Fields{
		"model!":        fake.Str(1, 256),
		"messages!":     fake.List(message(), 0, 100000),
		"system":        fake.Forms(map[fake.Kind]fake.Shape{fake.String: fake.Str(0, 0), fake.Array: fake.List(textOnly(), 0, 0)}),
		"tools":         fake.List(tool(), 0, 0),
		"tool_choice":   toolChoice(),
		"thinking":      thinkingConfig(),
		"output_config": outputConfig(),
		"cache_control": cacheControl,
		"speed":         fake.Or(fake.Enum("standard", "fast")),

		"mcp_servers@" + mcpBeta:            fake.List(mcpServer(), 0, 0),
		"context_management@" + contextBeta: fake.Or(fake.Obj(fake.Fields{"edits": fake.List(edit(), 0, 0)})),
		"compaction@" + compactBeta: fake.Or(fake.Obj(fake.Fields{
			"type!": fake.Enum("summarize"), "instructions": optStr,
		})),
		"output_format@" + formatBeta: format,
		"billing_policy@" + billingBeta: fake.Or(fake.Obj(fake.Fields{
			"type!": fake.Enum("billing_policy"), "bill_to": fake.Enum("self", "user_profile"),
		})),
	}
}

func skill() fake.Shape {
	return fake.Obj(fake.Fields{
		"type!": fake.Enum("anthropic", "custom"), "skill_id!": name64, "version": name64,
	})
}

func fallback() fake.Shape {
	return fake.Obj(fake.Fields{
		"model!": literal, "max_tokens": anyCount, "thinking": thinkingConfig(),
		"output_config": outputConfig(), "speed": fake.Enum("standard", "fast"),
	})
}

func outputConfig() fake.Shape {
	return fake.Obj(fake.Fields{
		"effort": effort, "format": format,
		"task_budget@" + budgetBeta: fake.Or(fake.Obj(fake.Fields{
			"type!": fake.Enum("tokens"), "total!": fake.Int(20000, fake.Inf), "remaining": fake.Or(anyCount),
		})),
	})
}

// thinkingConfig is messages.md §2.5.
func thinkingConfig() fake.Shape {
	display := func(c *fake.Checker, at fake.Path, n *fake.Node) {
		values := []string{"summarized", "omitted"}
		if c.Beta != nil && c.Beta(displayBeta) {
			values = append(values, "updates")
		}
		fake.Or(fake.Enum(values...))(c, at, n)
	}
	binding := fake.Or(fake.Obj(fake.Fields{"prefix_mismatch_behavior": fake.Or(fake.Enum("error", "drop_block"))}))
	bare := fake.Obj(fake.Fields{"type!": literal})
	return fake.Tagged("type", map[string]fake.Shape{
		"adaptive": fake.Obj(fake.Fields{"type!": literal, "display": display, "block_binding@" + bindingBeta: binding}),
		"enabled": fake.Obj(fake.Fields{
			"type!": literal, "budget_tokens!": fake.Int(1024, fake.Inf),
			"display": display, "block_binding@" + bindingBeta: binding,
		}),
		"disabled":      bare,
		"between_tools": bare,
	})
}

// toolChoice is messages.md §2.6.
func toolChoice() fake.Shape {
	free := fake.Obj(fake.Fields{"type!": literal, "disable_parallel_tool_use": fake.Flag})
	return fake.Tagged("type", map[string]fake.Shape{
		"auto": free, "any": free,
		"tool": fake.Obj(fake.Fields{"type!": literal, "name!": literal, "disable_parallel_tool_use": fake.Flag}),
		"none": fake.Obj(fake.Fields{"type!": literal}),
	})
}

func mcpServer() fake.Shape {
	return fake.Obj(fake.Fields{
		"type!": fake.Enum("url"), "name!": literal, "url!": literal, "authorization_token": optStr,
		"tool_configuration": fake.Or(fake.Obj(fake.Fields{
			"enabled": fake.Flag, "allowed_tools": fake.List(fake.Str(0, 0), 0, 0),
		})),
	})
}

// edit is messages.md §2.8.
func edit() fake.Shape {
	amount := func(types ...string) fake.Shape {
		return fake.Or(fake.Obj(fake.Fields{"type!": fake.Enum(types...), "value!": anyCount}))
	}
	names := fake.List(fake.Str(0, 0), 0, 0)
	return fake.Tagged("type", map[string]fake.Shape{
		"clear_tool_uses_20250919": fake.Obj(fake.Fields{
			"type!": literal, "trigger": amount("input_tokens", "tool_uses"), "keep": amount("tool_uses"),
			"clear_at_least": amount("input_tokens"), "exclude_tools": fake.Or(names),
			"clear_tool_inputs": fake.Or(fake.Forms(map[fake.Kind]fake.Shape{fake.Bool: fake.Flag, fake.Array: names})),
		}),
		"clear_thinking_20251015": fake.Obj(fake.Fields{
			"type!": literal,
			"keep": fake.Forms(map[fake.Kind]fake.Shape{
				fake.String: fake.Enum("all"),
				fake.Object: fake.Tagged("type", map[string]fake.Shape{
					"thinking_turns": fake.Obj(fake.Fields{"type!": literal, "value!": anyCount}),
					"all":            fake.Obj(fake.Fields{"type!": literal}),
				}),
			}),
		}),
		"compact_20260112@" + compactEdit: fake.Obj(fake.Fields{
			"type!": literal, "pause_after_compaction": fake.Flag, "instructions": optStr,
			"trigger": fake.Or(fake.Obj(fake.Fields{"type!": fake.Enum("input_tokens"), "value!": fake.Int(50000, fake.Inf)})),
		}),
	})
}

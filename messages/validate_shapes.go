package messages

// The shapes of what stays JSON text in a Request. None of the tables below is
// ever changed.

var (
	anyText      = &shape{kinds: textKind}
	someText     = &shape{kinds: textKind, min: 1}
	optionalText = &shape{kinds: textKind | nullKind}
	anyFlag      = &shape{kinds: flagKind}
	optionalFlag = &shape{kinds: flagKind | nullKind}
	anyCount     = &shape{kinds: integerKind}
	positive     = &shape{kinds: integerKind, min: 1}
	maybeCount   = &shape{kinds: integerKind | nullKind, min: 1}
	texts        = &shape{kinds: listKind | nullKind, elem: anyText}
	anyObject    = &shape{kinds: objectKind}
	notText      = &shape{kinds: listKind | objectKind}
	textOrList   = &shape{kinds: textKind | listKind}
	maybeObject  = &shape{kinds: objectKind | nullKind}
	maybeList    = &shape{kinds: listKind | nullKind}
)

func enum(values ...string) *shape { return &shape{kinds: textKind, enum: values} }

// constant returns the shape of a text that has only one value.
func constant(value string) *shape {
	return &shape{kinds: textKind, enum: []string{value}, closed: true}
}

func maybeEnum(values ...string) *shape { return &shape{kinds: textKind | nullKind, enum: values} }

func object(fields ...field) *shape { return &shape{kinds: objectKind, fields: fields} }

func maybe(fields ...field) *shape { return &shape{kinds: objectKind | nullKind, fields: fields} }

func union(variants ...variant) *shape { return &shape{kinds: objectKind, tags: variants} }

// named returns the shape of an object that is only carried to the vendor,
// which checks its members. Strict validation refuses members with other names.
func named(names ...string) *shape {
	return &shape{kinds: objectKind, fields: namedFields(names...)}
}

// namedFields returns fields whose values are not checked.
func namedFields(names ...string) []field {
	list := make([]field, len(names))
	for i, name := range names {
		list[i].name = name
	}
	return list
}

func list(elem *shape) *shape { return &shape{kinds: listKind, elem: elem} }

func must(name string, is *shape) field { return field{name, true, is} }

func may(name string, is *shape) field { return field{name, false, is} }

var (
	containerShape = &shape{kinds: textKind | objectKind, fields: []field{
		may("id", optionalText),
		may("skills", &shape{kinds: listKind | nullKind, max: 20, elem: object(
			must("type", enum("anthropic", "custom")),
			must("skill_id", &shape{kinds: textKind, min: 1, max: 64}),
			may("version", &shape{kinds: textKind | nullKind, min: 1, max: 64}),
		)}),
	}}
	diagnosticsShape = object(may("previous_message_id", &shape{kinds: textKind | nullKind, max: 256}))
	mcpServersShape  = list(object(
		must("type", constant("url")),
		must("name", someText),
		must("url", someText),
		may("authorization_token", optionalText),
		may("tool_configuration", maybe(may("enabled", optionalFlag), may("allowed_tools", texts))),
	))

	inputTokens    = variant{"input_tokens", []field{must("value", anyCount)}}
	toolUses       = variant{"tool_uses", []field{must("value", anyCount)}}
	managementEdit = union(
		variant{"clear_tool_uses_20250919", []field{
			may("trigger", union(inputTokens, toolUses)),
			may("keep", union(toolUses)),
			may("clear_at_least", &shape{kinds: objectKind | nullKind, tags: []variant{inputTokens}}),
			may("exclude_tools", texts),
			may("clear_tool_inputs", &shape{kinds: flagKind | listKind | nullKind, elem: anyText}),
		}},
		variant{"clear_thinking_20251015", []field{
			may("keep", &shape{kinds: textKind | objectKind, enum: []string{"all"}, tags: []variant{
				{"thinking_turns", []field{must("value", anyCount)}}, {"all", []field{}},
			}}),
		}},
		variant{"compact_20260112", []field{
			may("trigger", &shape{kinds: objectKind | nullKind, tags: []variant{
				{"input_tokens", []field{must("value", &shape{kinds: integerKind, min: 50000})}},
			}}),
			may("pause_after_compaction", anyFlag),
			may("instructions", optionalText),
		}},
	)
	managementShape = object(may("edits", list(managementEdit)))
	compactionShape = object(must("type", constant("summarize")), may("instructions", optionalText))
	threadShape     = named("type", "previous_message_id")
	fallbacksShape  = &shape{kinds: textKind | listKind,
		elem: named("model", "max_tokens", "thinking", "output_config", "speed")}
	creditShape = &shape{kinds: textKind | objectKind, fields: []field{
		must("token", someText), may("mode", maybeEnum("strict", "best_effort")),
	}}
	billingShape = named("type", "bill_to")

	// Members of typed objects that have no Go field.
	thinkingFields = []field{
		may("block_binding", maybe(may("prefix_mismatch_behavior", maybeEnum("error", "drop_block")))),
	}
	outputConfigFields = []field{may("task_budget", maybe(
		must("type", constant("tokens")),
		must("total", &shape{kinds: integerKind, min: 20000}),
		may("remaining", &shape{kinds: integerKind | nullKind}),
	))}
	messageFields = []field{
		may("clear_at", maybeEnum("never", nextUserMessage)),
		may("output_config", maybe(may("effort", maybeEnum(effortNames...)))),
	}
	imageFields = []field{
		may("transformations", maybe(may("oversized_image", maybeEnum("downsize", "error")))),
	}
	caller = &shape{kinds: objectKind | nullKind, tags: []variant{
		{"direct", []field{}},
		{"code_execution_20250825", []field{must("tool_id", someText)}},
		{"code_execution_20260120", []field{must("tool_id", someText)}},
	}}
	callerField      = may("caller", caller)
	toolsetField     = may("toolset_name", optionalText)
	toolUseFields    = []field{callerField, toolsetField}
	toolResultFields = []field{toolsetField}
	serverUseFields  = []field{callerField}
	mcpUseFields     = []field{may("server_name", someText)}
	serverResFields  = []field{callerField}
	mcpResFields     = []field{may("is_error", anyFlag)}
	webCiteFields    = []field{may("encrypted_index", anyText)}

	cacheShape = maybe(must("type", constant("ephemeral")), may("ttl", maybeEnum(ttls...)))
)

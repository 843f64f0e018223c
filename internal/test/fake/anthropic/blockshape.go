package anthropic

import "github.com/polywire/polywire/internal/test/fake"

// blk is the shape of a content block: its members, the tag, and cache_control.
func blk(f fake.Fields) fake.Shape {
	f["type!"] = literal
	f["cache_control"] = cacheControl
	return fake.Obj(f)
}

// message is messages.md §2.4: the role determines the allowed blocks.
func message() fake.Shape {
	return func(c *fake.Checker, at fake.Path, n *fake.Node) {
		blocks := userBlocks()
		fields := fake.Fields{"role!": fake.Enum("user", "assistant", "system")}
		switch n.Text("role") {
		case "assistant":
			blocks = assistantBlocks()
		case "system":
			blocks = systemBlocks()
			fields["clear_at@"+clearAtBeta] = fake.Or(fake.Enum("never", "next_user_message"))
			fields["output_config@"+turnEffortBeta] = fake.Obj(fake.Fields{"effort": effort})
		}
		fields["content!"] = fake.Forms(map[fake.Kind]fake.Shape{
			fake.String: fake.Str(0, 0), fake.Array: fake.List(fake.Tagged("type", blocks), 0, 0),
		})
		fake.Obj(fields)(c, at, n)
	}
}

func text() fake.Shape {
	return blk(fake.Fields{"text!": fake.Str(0, 0), "citations": fake.Or(fake.List(citation(), 0, 0))})
}

// textOnly is the shape of a list item that must be text.
func textOnly() fake.Shape { return fake.Tagged("type", map[string]fake.Shape{"text": text()}) }

// citation is messages.md §3.3.
func citation() fake.Shape {
	document := func(more ...string) fake.Shape {
		f := fake.Fields{
			"type!": literal, "cited_text!": fake.Str(0, 0), "document_index!": anyCount,
			"document_title!": optStr, "file_id": optStr,
		}
		for _, m := range more {
			f[m+"!"] = anyCount
		}
		return fake.Obj(f)
	}
	return fake.Tagged("type", map[string]fake.Shape{
		"char_location":          document("start_char_index", "end_char_index"),
		"page_location":          document("start_page_number", "end_page_number"),
		"content_block_location": document("start_block_index", "end_block_index"),
		"search_result_location": fake.Obj(fake.Fields{
			"type!": literal, "cited_text!": fake.Str(0, 0), "source!": fake.Str(0, 0), "title!": optStr,
			"search_result_index!": anyCount, "start_block_index!": anyCount, "end_block_index!": anyCount,
		}),
		"web_search_result_location": fake.Obj(fake.Fields{
			"type!": literal, "cited_text!": fake.Str(0, 0), "url!": fake.Str(0, 0),
			"title!": fake.Or(fake.Str(0, 512)), "encrypted_index!": fake.Str(0, 0),
		}),
	})
}

// The sources are messages.md §3.2.
func imageSource() fake.Shape {
	return fake.Tagged("type", map[string]fake.Shape{
		"base64": fake.Obj(fake.Fields{
			"type!": literal, "data!": fake.Base64,
			"media_type!": fake.Enum("image/jpeg", "image/png", "image/gif", "image/webp"),
		}),
		"url":  fake.Obj(fake.Fields{"type!": literal, "url!": literal}),
		"file": fake.Obj(fake.Fields{"type!": literal, "file_id!": literal}),
	})
}

func documentSource() fake.Shape {
	return fake.Tagged("type", map[string]fake.Shape{
		"base64": fake.Obj(fake.Fields{
			"type!": literal, "media_type!": fake.Enum("application/pdf"), "data!": fake.Base64,
		}),
		"text": fake.Obj(fake.Fields{
			"type!": literal, "media_type!": fake.Enum("text/plain"), "data!": fake.Str(0, 0),
		}),
		"content": fake.Obj(fake.Fields{
			"type!": literal,
			"content!": fake.Forms(map[fake.Kind]fake.Shape{
				fake.String: fake.Str(0, 0),
				fake.Array:  fake.List(fake.Tagged("type", map[string]fake.Shape{"text": text(), "image": image()}), 0, 0),
			}),
		}),
		"url":  fake.Obj(fake.Fields{"type!": literal, "url!": literal}),
		"file": fake.Obj(fake.Fields{"type!": literal, "file_id!": literal}),
	})
}

func image() fake.Shape {
	return blk(fake.Fields{
		"source!":         imageSource(),
		"transformations": fake.Or(fake.Obj(fake.Fields{"oversized_image": fake.Enum("downsize", "error")})),
	})
}

func document() fake.Shape {
	return blk(fake.Fields{
		"source!": documentSource(), "title": fake.Or(fake.Str(1, 500)), "context": optStr,
		"citations": fake.Or(fake.Obj(fake.Fields{"enabled": fake.Flag})),
	})
}

func searchResult() fake.Shape {
	return blk(fake.Fields{
		"source!": fake.Str(0, 0), "title!": fake.Str(0, 0), "content!": fake.List(textOnly(), 0, 0),
		"citations": fake.Or(fake.Obj(fake.Fields{"enabled": fake.Flag})),
	})
}

var toolID = fake.Match(`^[a-zA-Z0-9_-]+$`)

func toolResult() fake.Shape {
	inside := map[string]fake.Shape{
		"text": text(), "image": image(), "document": document(), "search_result": searchResult(),
		"tool_reference": blk(fake.Fields{"tool_name!": literal}),
		"browser_state":  blk(fake.Fields{"tabs!": fake.List(fake.FreeObject, 0, 0), "state_changes": fake.Or(fake.List(fake.FreeObject, 0, 0))}),
	}
	return blk(fake.Fields{
		"tool_use_id!": toolID, "is_error": fake.Flag, "toolset_name": optStr,
		"content": fake.Forms(map[fake.Kind]fake.Shape{
			fake.String: fake.Str(0, 0), fake.Array: fake.List(fake.Tagged("type", inside), 0, 0),
		}),
	})
}

func compaction() fake.Shape {
	return blk(fake.Fields{
		"content": fake.Or(fake.Str(1, 0)), "encrypted_content": optStr, "signature": optStr,
		"tool_changes": fake.Free,
	})
}

// userBlocks are those marked U in messages.md §3.1.
func userBlocks() map[string]fake.Shape {
	return map[string]fake.Shape{
		"text": text(), "image": image(), "document": document(), "search_result": searchResult(),
		"tool_result":      toolResult(),
		"container_upload": blk(fake.Fields{"file_id!": literal}),
		"compaction@" + compactBeta + "|" + compactEdit: compaction(),
	}
}

// assistantBlocks are those marked A in messages.md §3.1.
func assistantBlocks() map[string]fake.Shape {
	caller := fake.Tagged("type", map[string]fake.Shape{
		"direct":                  fake.Obj(fake.Fields{"type!": literal}),
		"code_execution_20250825": fake.Obj(fake.Fields{"type!": literal, "tool_id!": literal}),
		"code_execution_20260120": fake.Obj(fake.Fields{"type!": literal, "tool_id!": literal}),
	})
	result := blk(fake.Fields{"tool_use_id!": literal, "content!": fake.Free, "caller": caller})
	m := map[string]fake.Shape{
		"text":              text(),
		"document":          document(),
		"thinking":          fake.Obj(fake.Fields{"type!": literal, "thinking!": fake.Str(0, 0), "signature!": fake.Str(0, 0)}),
		"redacted_thinking": fake.Obj(fake.Fields{"type!": literal, "data!": fake.Str(0, 0)}),
		"tool_use": blk(fake.Fields{
			"id!": toolID, "name!": fake.Str(1, 200), "input!": fake.FreeObject,
			"caller": caller, "toolset_name": optStr,
		}),
		"server_tool_use": blk(fake.Fields{
			"id!": fake.Match(`^srvtoolu_[a-zA-Z0-9_]+$`), "input!": fake.FreeObject, "caller": caller,
			"name!": fake.Enum("web_search", "web_fetch", "code_execution", "bash_code_execution",
				"text_editor_code_execution", "tool_search_tool_regex", "tool_search_tool_bm25", "advisor"),
		}),
		"container_upload": blk(fake.Fields{"file_id!": literal}),
		"compaction@" + compactBeta + "|" + compactEdit: compaction(),
		"mcp_tool_use@" + mcpBeta: blk(fake.Fields{
			"id!": literal, "name!": literal, "server_name!": literal, "input!": fake.FreeObject,
		}),
		"mcp_tool_result@" + mcpBeta: blk(fake.Fields{
			"tool_use_id!": literal, "is_error": fake.Flag,
			"content": fake.Forms(map[fake.Kind]fake.Shape{fake.String: fake.Str(0, 0), fake.Array: fake.List(textOnly(), 0, 0)}),
		}),
		"mcp_tool_listing@" + mcpBeta: blk(fake.Fields{"mcp_server_name!": literal, "tools!": fake.List(fake.FreeObject, 0, 0)}),
		"fallback@" + fallbackBeta:    blk(fake.Fields{"from!": fake.FreeObject, "to!": fake.FreeObject, "trigger": fake.Free}),

		"advisor_tool_result@" + advisorBeta: result,
	}
	for _, kind := range resultBlocks {
		m[kind] = result
	}
	return m
}

// resultBlocks are the results of server tools.
var resultBlocks = []string{
	"web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
	"bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result",
}

// systemBlocks are those marked S in messages.md §3.1.
func systemBlocks() map[string]fake.Shape {
	named := func(member string) fake.Shape { return fake.Obj(fake.Fields{"type!": literal, member: literal}) }
	references := map[string]fake.Shape{
		"tool_reference":        named("name!"),
		"mcp_tool_reference":    fake.Obj(fake.Fields{"type!": literal, "server_name!": literal, "name!": literal}),
		"mcp_toolset_reference": named("server_name!"),
	}
	additions := map[string]fake.Shape{
		"tool_definition@inline-tools-2026-09-15": fake.Obj(fake.Fields{"type!": literal, "definition!": tool()}),
	}
	for k, s := range references {
		additions[k] = s
	}
	return map[string]fake.Shape{
		"text":                            text(),
		"tool_addition@" + toolChangeBeta: blk(fake.Fields{"tool!": fake.Tagged("type", additions)}),
		"tool_removal@" + toolChangeBeta:  blk(fake.Fields{"tool!": fake.Tagged("type", references)}),
	}
}

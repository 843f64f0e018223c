package legal

import (
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

// A clientTool is a tool of Messages that the client runs, with the schema that the
// vendor published for it.
type clientTool struct{ prefix, description, schema string }

// clientTools are identified by the prefix of their type; a date follows it. The
// first that matches is used.
var clientTools = [...]clientTool{
	{"bash_", "Runs a command in a persistent bash session on the user's machine and returns its output. Restart the session if it no longer responds.",
		`{"type":"object","properties":{"command":{"type":"string","description":"The command to run. Required unless restart is true."},` +
			`"restart":{"type":"boolean","description":"True to restart the session instead of running a command."}}}`},
	{"text_editor_2024", olderEditor, olderEditorSchema},
	{"text_editor_20250124", olderEditor, olderEditorSchema},
	{"text_editor_", "Views, creates and edits files on the user's machine.",
		`{"type":"object","properties":{"command":{"type":"string","enum":["view","create","str_replace","insert"],"description":"What to do."},` +
			editorPath + editorText + `"new_str":{"type":"string","description":"For str_replace: the text that replaces old_str."},` +
			editorLine + `"insert_text":{"type":"string","description":"For insert: the text to insert."},` + editorRange + `},"required":["command","path"]}`},
	{"memory_", "Keeps notes in files below /memories that last longer than this conversation. View the directory /memories before other work.",
		`{"type":"object","properties":{"command":{"type":"string","enum":["view","create","str_replace","insert","delete","rename"],"description":"What to do."},` +
			`"path":{"type":"string","description":"The file or directory below /memories, for all commands but rename."},` +
			editorText + `"new_str":{"type":"string","description":"For str_replace: the text that replaces old_str."},` +
			editorLine + `"insert_text":{"type":"string","description":"For insert: the text to insert."},` + editorRange +
			`,"old_path":{"type":"string","description":"For rename: the path as it is."},` +
			`"new_path":{"type":"string","description":"For rename: the path as it is to be."}},"required":["command"]}`},
}

// Common members of the schemas of the text editors and of memory, and the text
// editors up to 20250124, which insert new_str and can undo edits.
const (
	editorPath  = `"path":{"type":"string","description":"The absolute path of a file or directory."},`
	editorText  = `"file_text":{"type":"string","description":"For create: the content of the file."},"old_str":{"type":"string","description":"For str_replace: the text to replace, which the file has exactly once."},`
	editorLine  = `"insert_line":{"type":"integer","description":"For insert: the line after which to insert; 0 for the beginning of the file."},`
	editorRange = `"view_range":{"type":"array","items":{"type":"integer"},"description":"For view: the first and the last line to show, counted from 1; -1 is the last line of the file."}`

	olderEditor       = "Views, creates and edits files on the user's machine."
	olderEditorSchema = `{"type":"object","properties":{"command":{"type":"string","enum":["view","create","str_replace","insert","undo_edit"],"description":"What to do."},` +
		editorPath + editorText + `"new_str":{"type":"string","description":"For str_replace: the text that replaces old_str. For insert: the text to insert."},` +
		editorLine + editorRange + `},"required":["command","path"]}`
)

// functions returns tools, or a copy in which the clientTools of Messages are
// functions.
func functions(tools []content.Tool, log *loss.Log) (list []content.Tool, changed bool) {
	list = tools
	for i := range tools {
		t := &tools[i]
		if t.Kind == "" || t.Format != messagesFormat {
			continue
		}
		at := slices.IndexFunc(clientTools[:], func(c clientTool) bool { return strings.HasPrefix(t.Kind, c.prefix) })
		if at < 0 || t.Name == "" {
			continue
		}
		if !changed {
			list, changed = slices.Clone(tools), true
		}
		list[i] = content.Tool{Name: t.Name, Description: clientTools[at].description, Input: content.Schema{JSON: clientTools[at].schema}}
		addMembers(&list[i], t.Raw)
		log.Add(ToolAsFunction, "tools."+strconv.Itoa(i))
	}
	return list, changed
}

// addMembers adds the other members of a tool's definition to a function.
func addMembers(t *content.Tool, raw string) {
	doc, err := jsonwire.Parse(raw, jsonwire.Limits{Depth: 1 << 30, Values: 1 << 30}) // the limits of the request were checked before
	if err != nil {
		return
	}
	defer doc.Close()
	var w jsonwire.Writer
	w.BeginObject()
	hasMembers := false
	for name, v := range doc.Root().Members() {
		switch name {
		case "type", "name":
		case "cache_control":
			if v.Kind() == jsonwire.Object {
				t.Cache = &content.Cache{TTL: v.Get("ttl").Str()}
			}
		case "strict": // the schema does not fit strict functions
		case "max_characters":
			if v.Kind() == jsonwire.Number {
				t.Description += " A view shows at most " + v.Raw() + " characters."
			}
		default:
			w.Name(name)
			w.Raw(v.Raw())
			hasMembers = true
		}
	}
	w.EndObject()
	if hasMembers {
		t.Extra = &content.Extra{Format: messagesFormat, JSON: w.Text()}
	}
}

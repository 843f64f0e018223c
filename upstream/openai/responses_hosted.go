package openai

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/jsonwire"
)

// carriedItem returns an item as it goes back to the vendor, empty if it is not
// to. fits is false for one that is too large to be carried.
func carriedItem(item jsonwire.Value) (data string, fits bool) {
	if !item.Get("type").Is("reasoning") {
		return item.Raw(), len(item.Raw()) <= envelope.MaxSize
	}
	id, secret := item.Get("id"), item.Get("encrypted_content")
	if id.Str() == "" || secret.Str() == "" {
		return "", true // the vendor would not find it
	}
	// Nothing else: servers refuse members that they themselves have told.
	var w jsonwire.Writer
	w.BeginObject()
	w.Name("type")
	w.String("reasoning")
	w.Name("id")
	w.Raw(id.Raw())
	w.Name("summary")
	if s := item.Get("summary"); s.Kind() == jsonwire.Array {
		w.Raw(s.Raw())
	} else {
		w.Raw("[]")
	}
	if c := item.Get("content"); c.Kind() == jsonwire.Array && c.Len() > 0 {
		w.Name("content")
		w.Raw(c.Raw())
	}
	w.Name("encrypted_content")
	w.Raw(secret.Raw())
	w.EndObject()
	data = w.Text()
	return data, len(data) <= envelope.MaxSize
}

// wholeOther tells the item of a built-in tool, or of a kind that is not known.
func (d *resDecoder) wholeOther(item jsonwire.Value) {
	if item.Kind() != jsonwire.Object {
		return
	}
	kind := item.Get("type").Str()
	switch kind {
	case "image_generation_call":
		d.image(item)
		return
	case "custom_tool_call":
		d.lose(lostCustom, d.here(-1))
		d.put(&content.Unknown{Format: ResponsesFormat, Kind: kind, Raw: item.Raw()})
		return
	case "web_search_call":
		d.use(item, kind, "web_search", item.Get("action").Raw())
	case "file_search_call":
		d.use(item, kind, "file_search", resOnly("queries", item.Get("queries")))
		d.result(item, kind, item.Get("results"))
	case "code_interpreter_call":
		d.use(item, kind, "code_interpreter", resOnly("code", item.Get("code")))
		d.result(item, kind, item.Get("outputs"))
	case "mcp_call":
		d.use(item, kind, item.Get("name").Str(), item.Get("arguments").Str())
		d.result(item, kind, item.Get("output"))
	case "compaction":
	default:
		d.put(&content.Unknown{Format: ResponsesFormat, Kind: kind, Raw: item.Raw()})
	}
	if _, comesBack := itemTools[kind]; !comesBack {
		d.lose(resUnknownIt, d.here(-1))
		return
	}
	if data, fits := carriedItem(item); fits {
		d.carried(data)
	} else {
		d.lose(lostDetails, d.here(-1))
	}
}

// use tells the call of a built-in tool.
func (d *resDecoder) use(item jsonwire.Value, kind, name, input string) {
	if !jsonwire.ValidObject(input) {
		input = ""
	}
	d.put(&content.ServerToolUse{Format: ResponsesFormat, Kind: kind, ID: item.Get("id").Str(), Name: name, Input: input})
}

// result tells what a built-in tool gave back, if it is told.
func (d *resDecoder) result(item jsonwire.Value, kind string, v jsonwire.Value) {
	if v.Kind() > jsonwire.Null {
		d.put(&content.ServerToolResult{Format: ResponsesFormat, Kind: kind, ID: item.Get("id").Str(), Content: v.Raw()})
	}
}

// resOnly returns an object with one member, or with none.
func resOnly(name string, v jsonwire.Value) string {
	if v.Kind() <= jsonwire.Null {
		return "{}"
	}
	return `{"` + name + `":` + v.Raw() + `}`
}

// image tells an image that the model made.
func (d *resDecoder) image(item jsonwire.Value) {
	data := item.Get("result").Str()
	if jsonwire.CheckBase64(data) != 0 {
		d.lose(resNoImage, d.here(-1))
		return
	}
	kind := "image/png"
	switch f := item.Get("output_format").Str(); f {
	case "jpeg", "webp", "png":
		kind = "image/" + f
	}
	d.visible = true
	p := &content.Image{Source: &content.Base64{MediaType: kind, Data: data}}
	if id := item.Get("id"); id.Str() != "" {
		p.Signature = content.Signature{Format: ResponsesFormat, Data: `{"type":"image_generation_call","id":` + id.Raw() + `}`}
	}
	d.put(p)
}

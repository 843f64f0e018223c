package messages

import (
	"encoding/base64"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/test/outside"
)

const plainBody = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}]}`

// with returns plainBody with additional members.
func with(members string) string { return strings.Replace(plainBody, "{", "{"+members+",", 1) }

func utf16Of(s string, order binary.ByteOrder) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, 0, 0)
		order.PutUint16(b[len(b)-2:], u)
	}
	return string(b)
}

// ParseRequest refuses a body that is not a valid document as a whole.
func TestBodyRefused(t *testing.T) {
	deep := func(n int) string { return with(`"x":` + strings.Repeat("[", n) + strings.Repeat("]", n)) }
	zeros := func(n int) string { return with(`"x":[` + many("0", n) + `]`) }
	for _, tt := range []struct {
		name, body string
		code       content.Code // empty if the body is valid
	}{
		{"valid", plainBody, ""},
		{"white space around", " \r\n\t" + plainBody + "\n ", ""},
		{"empty", "", content.CodeSyntax},
		{"white space", " \n", content.CodeSyntax},
		{"byte order mark", "\uFEFF" + plainBody, content.CodeSyntax},
		{"UTF-16", utf16Of("\uFEFF"+plainBody, binary.LittleEndian), content.CodeSyntax},
		{"UTF-16 without a mark", utf16Of(plainBody, binary.BigEndian), content.CodeSyntax},
		{"Latin-1", with("\"x\":\"caf\xe9\""), content.CodeSyntax},
		{"overlong UTF-8", with("\"x\":\"\xc0\xaf\""), content.CodeSyntax},
		{"surrogates in UTF-8", with("\"x\":\"\xed\xa0\x80\""), content.CodeSyntax},
		{"name not in UTF-8", with("\"\xff\":1"), content.CodeSyntax},
		{"gzip", "\x1f\x8b\x08\x00", content.CodeSyntax},
		{"trailing NUL", plainBody + "\x00", content.CodeSyntax},
		{"trailing text", plainBody + "x", content.CodeSyntax},
		{"second document", plainBody + plainBody, content.CodeSyntax},
		{"truncated", plainBody[:len(plainBody)-1], content.CodeSyntax},
		{"comment", strings.Replace(plainBody, "{", "{/**/", 1), content.CodeSyntax},
		{"trailing comma", strings.Replace(plainBody, "]}", "],}", 1), content.CodeSyntax},
		{"control character", with("\"x\":\"\n\""), content.CodeSyntax},
		{"NaN", with(`"temperature":NaN`), content.CodeSyntax},
		{"leading zero", with(`"top_k":01`), content.CodeSyntax},
		{"duplicate name", with(`"model":"n"`), content.CodeSyntax},
		{"duplicate name, escaped", with(`"mod\u0065l":"n"`), content.CodeSyntax},
		{"duplicate name in a block", withBlocks(`{"type":"text","text":"a","t\u0065xt":"b"}`), content.CodeSyntax},
		{"duplicate name in an unknown block", withBlocks(`{"type":"y","z":[{"a":1,"a":1}]}`), content.CodeSyntax},
		{"duplicate name in free JSON", withInput(`{"a":{"b":1,"c":[],"\u0062":2}}`), content.CodeSyntax},
		{"duplicate name among many", withInput(`{` + numbered(`"n#":1`, 1000) + `,"n\u0031":1}`), content.CodeSyntax},
		{"duplicate name in a schema", with(`"tools":[{"name":"t","input_schema":{"type":"object","type":"object"}}]`), content.CodeSyntax},
		{"same name in two objects", withInput(`[{"a":1},{"a":1}]`), ""},
		{"high surrogate only", with(`"x":"\ud83d"`), content.CodeSyntax},
		{"low surrogate only", with(`"x":"\ude00"`), content.CodeSyntax},
		{"surrogates in wrong order", with(`"x":"\ude00\ud83d"`), content.CodeSyntax},
		{"high surrogate in free JSON", withInput(`"\ud83dx"`), content.CodeSyntax},
		{"high surrogate in a name", withInput(`{"\ud83d":1}`), content.CodeSyntax},
		{"surrogate pair", withInput(`"\ud83d\ude00"`), ""},
		{"maximum depth", deep(255), ""},
		{"too deep", deep(256), content.CodeLimit},
		{"maximum number of values", zeros(1_000_000 - 8), ""},
		{"too many values", zeros(1_000_000 - 7), content.CodeLimit},
		{"not an object", `[]`, content.CodeType},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := ParseRequest([]byte(tt.body))
			list, _ := content.Violations(err)
			switch {
			case tt.code == "" && (err != nil || r == nil):
				t.Errorf("refused: %v", err)
			case tt.code != "" && (len(list) != 1 || list[0].Code != tt.code || list[0].Path != ""):
				t.Errorf("got %v, want one violation with code %s", err, tt.code)
			case tt.code == content.CodeSyntax || tt.code == content.CodeLimit:
				if r != nil || !strings.Contains(list[0].Text, "line ") {
					t.Errorf("got %v and %v", r, err)
				}
			}
		})
	}
}

// Names that a lenient parser could confuse with known ones are violations in the
// format's objects, but not in values that may be any JSON.
func TestLookAlikes(t *testing.T) {
	names := []string{"%", "^", `\u0000`, `\u0000x`}
	for _, tt := range []struct{ name, body, path string }{
		{"model", with(`"#":1`), ""},
		{"system", with(`"#":1`), ""},
		{"content", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a","#":1}]}`, "messages.0."},
		{"text", withBlocks(`{"type":"text","text":"a","#":1}`), "messages.0.content.0.text."},
		{"type", withBlocks(`{"type":"text","text":"a","#":1}`), "messages.0.content.0.text."},
		{"source", withBlocks(`{"type":"document","source":{"type":"url","url":"https://a.example/"},"#":1}`), "messages.0.content.0.document."},
		{"url", withBlocks(`{"type":"document","source":{"type":"url","url":"https://a.example/","#":1}}`), "messages.0.content.0.document.source.url."},
		{"ttl", withBlocks(`{"type":"text","text":"a","cache_control":{"type":"ephemeral","#":"1h"}}`), "messages.0.content.0.text.cache_control."},
		{"file_id", withBlocks(`{"type":"container_upload","file_id":"f","#":1}`), "messages.0.content.0.container_upload."},
		{"input_schema", with(`"tools":[{"name":"t","input_schema":{"type":"object"},"#":1}]`), "tools.0.custom."},
		{"max_uses", with(`"tools":[{"type":"web_search_20250305","name":"web_search","#":1}]`), "tools.0.web_search_20250305."},
		{"budget_tokens", with(`"thinking":{"type":"adaptive","#":1}`), "thinking.adaptive."},
		{"user_id", with(`"metadata":{"#":"u"}`), "metadata."},
	} {
		for _, form := range names {
			name := tt.name + form
			switch form {
			case "%":
				name = strings.ToUpper(tt.name)
			case "^":
				if name = strings.NewReplacer("s", "\u017F", "k", "\u212A").Replace(tt.name); name == tt.name {
					continue
				}
			}
			r, err := ParseRequest([]byte(strings.Replace(tt.body, "#", name, 1)))
			list, _ := content.Violations(err)
			if r == nil || len(list) != 1 || list[0].Code != content.CodeUnknown || !strings.HasPrefix(list[0].Path, tt.path) ||
				!strings.Contains(list[0].Text, "'"+tt.name+"'") {
				t.Errorf("%s as %q: %v", tt.name, name, err)
			}
		}
	}
	for _, body := range []string{
		withInput(`{"Type":1,"type":2,"TYPE\u0000":3,"\u212Aey":4,"key":5}`),
		with(`"Mod":1,"xmodel":1,"mode\u0301l":1,"\u0000":1,"x\u0000model":1`),
	} {
		if err := parseValidate(body); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// Integers are parsed without conversion to floats, and exponents are not expanded.
func TestNumbers(t *testing.T) {
	long := strings.Repeat("9", 100_000)
	for _, tt := range []struct {
		member, number string
		code           content.Code
		encoded        string // if not the same as number
	}{
		{"top_k", "9223372036854775807", "", ""},
		{"top_k", "9007199254740993", "", ""},
		{"top_k", "9223372036854775808", content.CodeType, ""},
		{"top_k", "7.0", "", "7"},
		{"top_k", "7.5", content.CodeType, ""},
		{"top_k", "7e0", content.CodeType, ""},
		{"top_k", "1e400", content.CodeType, ""},
		{"top_k", "1e-400", content.CodeType, ""},
		{"top_k", "1E99999999999", content.CodeType, ""},
		{"top_k", long, content.CodeType, ""},
		{"top_k", "-" + long, content.CodeType, ""},
		{"temperature", "1e400", content.CodeRange, ""},
		{"temperature", "-1e400", content.CodeRange, ""},
		{"temperature", long, content.CodeRange, ""},
		{"temperature", "1e-400", "", "0"},
		{"temperature", "-0", "", ""},
		{"temperature", "0." + long, "", "1"},
		{"temperature", "1.0000000000000000000001", "", "1"},
		{"x", long, "", ""},
	} {
		body := with(`"` + tt.member + `":` + tt.number)
		r, err := ParseRequest([]byte(body))
		list, _ := content.Violations(err)
		if tt.code == "" && err != nil || tt.code != "" && (len(list) != 1 || list[0].Code != tt.code || list[0].Path != tt.member) {
			t.Errorf("%s %.30s: got %.200v, want %q", tt.member, tt.number, err, tt.code)
		}
		if err != nil {
			continue
		}
		again, err := r.AppendJSON(nil)
		want := tt.encoded
		if want == "" {
			want = tt.number
		}
		if err != nil || !strings.Contains(string(again), `"`+tt.member+`":`+want) {
			t.Errorf("%s %.30s: encoded as %.300s, %v", tt.member, tt.number, again, err)
		}
	}
}

// The upstream and the encoder receive values that may be any JSON unchanged. As a
// response schema it must refuse additional properties, because the encoder changes
// other schemas.
func TestFreeJSONArrives(t *testing.T) {
	free := "{\"z\" : 1.50,\n \"a\":[ 1e400 , -0,\t" + strings.Repeat("8", 100_000) + `],"\u0061b":"\/\ud83d\ude00\u0041","":{} ,"type":"object","additionalProperties": false}`
	body := `{"model":"m","max_tokens":9,"output_config":{"format":{"type":"json_schema","schema":` + free + `}},` +
		`"tools":[{"name":"t","input_schema":` + free + `},{"type":"bash_20250124","name":"bash","x":` + free + `}],"x_new":` + free + `,` +
		`"messages":[{"role":"user","content":[{"type":"y","x":` + free + `},{"type":"text","text":"a","x":` + free + `}]},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":` + free + `},` +
		`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":` + free + `},` +
		`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":` + free + `}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]}`
	r := mustParse(t, body)
	if err := r.Validate(nil); err != nil {
		t.Fatal(err)
	}
	n := r.Upstream()
	calls := n.Turns[1].Parts
	for name, got := range map[string]string{
		"schema of a tool":   n.Tools[0].Input.JSON,
		"schema":             n.Output.Schema.JSON,
		"input":              calls[0].(*content.ToolUse).Input,
		"input of a server":  calls[1].(*content.ServerToolUse).Input,
		"result of a server": calls[2].(*content.ServerToolResult).Content,
	} {
		if got != free {
			t.Errorf("%s: %.80q", name, got)
		}
	}
	for name, got := range map[string]string{
		"tool of the vendor": n.Tools[1].Raw,
		"unknown block":      n.Turns[0].Parts[0].(*content.Unknown).Raw,
		"unknown member":     n.Turns[0].Parts[1].(*content.Text).Extra.JSON,
		"top level":          n.Extra.JSON,
	} {
		if !strings.Contains(got, free) {
			t.Errorf("%s: %.80q", name, got)
		}
	}
	back, losses, _ := RequestFromUpstream(n.Clone())
	again, err := back.AppendJSON(nil)
	if err != nil || len(losses) > 0 || strings.Count(string(again), free) != 9 {
		t.Errorf("second encoding: %v, %v, %d of 9", losses, err, strings.Count(string(again), free))
	}
}

// The public corpus as tool inputs in a valid request.
func TestSuiteAsInput(t *testing.T) {
	files := outside.Files(t, outside.JSONTestSuite, "test_*/*.json")
	good := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// The enclosing request uses some of the depth.
		want := jsonwire.Valid(string(text), jsonwire.Limits{Depth: 256 - 6}) == nil
		r, err := ParseRequest([]byte(withInput(string(text))))
		if got := err == nil; got != want {
			t.Errorf("%s: accepted is %v, as a document %v: %v", filepath.Base(file), got, want, err)
		}
		if err != nil {
			if r != nil {
				t.Errorf("%s: a request and %v", filepath.Base(file), err)
			}
			continue
		}
		good++
		input := r.Upstream().Turns[1].Parts[0].(*content.ToolUse).Input
		if diff := cmp.Diff(`{"x":`+string(text)+`}`, input); diff != "" {
			t.Errorf("%s (-want +got):\n%s", filepath.Base(file), diff)
		}
		if err := r.Validate(nil); err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
	}
	if good < 95 {
		t.Errorf("only %d of %d were accepted", good, len(files))
	}
}

// headers holds the shortest valid file of each supported type.
var headers = map[string]string{
	"image/png": "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x00\x02\x00\x00\x00\x03\x08\x02\x00\x00\x00abcd",
	"image/jpeg": "\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00" +
		"\xff\xc0\x00\x11\x08\x00\x02\x00\x03\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01",
	"image/gif":       "GIF89a\x02\x00\x03\x00\x00\x00\x00",
	"image/webp":      "RIFF\x1a\x00\x00\x00WEBPVP8L\x05\x00\x00\x00\x2f\x01\x40\x00\x00",
	"application/pdf": "%PDF-1.7\n",
}

// inResultOf returns a request with a block in a tool result.
func inResultOf(block string) string {
	return strings.Replace(withInput("1"), `"content":"done"`, `"content":[`+block+`]`, 1)
}

func fileBlock(mediaType, data string) string {
	kind := "image"
	if mediaType == "application/pdf" {
		kind = "document"
	}
	return `{"type":"` + kind + `","source":{"type":"base64","media_type":"` + mediaType + `","data":"` +
		base64.StdEncoding.EncodeToString([]byte(data)) + `"}}`
}

// TestMediaLabels declares each type as each other type, in messages and in tool
// results.
func TestMediaLabels(t *testing.T) {
	labels := []string{"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"}
	odd := []string{"image/jpg", "image/PNG", "image/png; a=b", "image/svg+xml", "image/heic", "text/plain", "application/json", " image/png"}
	for actual, data := range headers {
		for _, label := range slices.Concat(labels, odd) {
			want := label == actual || label == "image/jpg" && actual == "image/jpeg"
			for where, body := range map[string]string{
				"message": withBlocks(fileBlock(label, data)), "result": inResultOf(fileBlock(label, data)),
			} {
				err := parseValidate(body)
				list, _ := content.Violations(err)
				if want && err != nil || !want && (len(list) != 1 || !strings.HasSuffix(list[0].Path, "base64.media_type") &&
					!strings.HasSuffix(list[0].Path, "image.source.base64") && !strings.HasSuffix(list[0].Path, "image.source.base64.data")) {
					t.Errorf("%s as %q in a %s: %v", actual, label, where, err)
				}
			}
		}
	}
}

// Validate refuses files with a truncated header and empty files.
func TestMediaCut(t *testing.T) {
	for mediaType, data := range headers {
		whole := len(data)
		if mediaType == "application/pdf" {
			whole = len("%PDF-") // Validate does not parse PDFs
		}
		for n := range len(data) + 1 {
			err := parseValidate(withBlocks(fileBlock(mediaType, data[:n])))
			if good := err == nil; good != (n >= whole) {
				t.Errorf("%s, %d of %d bytes: %v", mediaType, n, len(data), err)
			}
		}
	}
}

// Some JSON encoders escape every slash.
func TestBase64Escaped(t *testing.T) {
	data := base64.StdEncoding.EncodeToString([]byte("%PDF-1.7\n" + strings.Repeat("\xff\xff\xff", 2000)))
	for _, d := range []string{data[:12] + "////", data} {
		for _, escaped := range []string{strings.ReplaceAll(d, "/", `\/`), strings.Replace(d, "J", `\u004a`, 1)} {
			body := strings.Replace(withBlocks(fileBlock("application/pdf", "")), `"data":""`, `"data":"`+escaped+`"`, 1)
			r := mustParse(t, body)
			if err := r.Validate(nil); err != nil {
				t.Errorf("%.60q: %v", escaped, err)
			}
			got := r.Upstream().Turns[0].Parts[0].(*content.Document).Source.(*content.Base64).Data
			if got != d {
				t.Errorf("%.60q is parsed as %.60q", escaped, got)
			}
			if _, err := (&content.Base64{Data: got}).Bytes(); err != nil {
				t.Error(err)
			}
		}
	}
	bad := strings.Replace(withBlocks(fileBlock("application/pdf", "")), `"data":""`, `"data":"JVBERi0x\n"`, 1)
	if err := parseValidate(bad); err == nil {
		t.Error("a line break in base64 was accepted")
	}
}

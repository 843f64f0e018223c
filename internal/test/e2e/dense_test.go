//go:build unix

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/test/race"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
)

// The memory limit that is promised: one request uses at most memoryFactor
// times its body and memoryRest, with GOGC=100 and without a memory limit.
const (
	memoryFactor = 4
	memoryRest   = 64 << 20
)

// denseServer is the environment variable that makes TestDenseServer a server.
// Its value is the name of an upstream and the base URL of its vendor.
const denseServer = "POLYWIRE_TEST_DENSE_SERVER"

// usage is what a server has used since the previous query.
type usage struct {
	Peak  int64 // peak memory in bytes
	Now   int64 // memory in bytes
	Alloc int64 // total bytes allocated
	CPU   time.Duration
}

// TestDenseServer serves both formats over one upstream in a separate process
// until its standard input ends. denseProcess runs it.
func TestDenseServer(t *testing.T) {
	kind, vendor, ok := strings.Cut(os.Getenv(denseServer), " ")
	if !ok {
		t.Skip("other tests run this one")
	}
	var up upstream.Upstream
	switch kind {
	case "echo":
		up = echo.New()
	case "anthropic":
		up = anthropicAt(t, vendor, nil)
	case "gemini":
		up = geminiAt(t, vendor, nil)
	case "chat":
		up = chatAt(t, vendor, nil)
	case "responses":
		up = responsesAt(t, vendor, nil)
	}
	mux := http.NewServeMux()
	mux.Handle("/v1/", messages.NewHandler(up, nil))
	mux.Handle("/v1beta/", generatecontent.NewHandler(up, nil))
	mux.HandleFunc("/usage", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(usageNow())
	})
	ts := httptest.NewServer(mux)
	defer ts.Close()
	fmt.Println("listening", ts.URL)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// usageNow returns the usage of this process. It then frees memory and resets
// the peak where the system supports that.
func usageNow() usage {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := usage{Alloc: int64(m.TotalAlloc)}
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) == nil {
		u.CPU = time.Duration(r.Utime.Nano() + r.Stime.Nano())
		u.Peak = int64(r.Maxrss)
		if runtime.GOOS != "darwin" {
			u.Peak <<= 10
		}
	}
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		u.Peak = statusBytes(string(status), "VmHWM:")
	}
	debug.FreeOSMemory()
	if os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) == nil {
		status, _ := os.ReadFile("/proc/self/status")
		u.Now = statusBytes(string(status), "VmRSS:")
	}
	return u
}

func statusBytes(status, name string) int64 {
	_, rest, _ := strings.Cut(status, name)
	n, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kb, _ := strconv.ParseInt(n, 10, 64)
	return kb << 10
}

// A denseProcess is a server in a separate process.
type denseProcess struct {
	url string
	end func()
}

func startDense(t testing.TB, kind, vendor string) *denseProcess {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestDenseServer$", "-test.timeout=10m")
	cmd.Env = append(os.Environ(), denseServer+"="+kind+" "+vendor, "GOGC=100", "GOMEMLIMIT=off")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &denseProcess{end: func() {
		_ = in.Close()
		cancel()
		_ = cmd.Wait()
	}}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "listening "); ok {
			p.url = url
			return p
		}
	}
	p.end()
	t.Fatal("the server has not started")
	return nil
}

func (p *denseProcess) usage(t testing.TB) (u usage) {
	t.Helper()
	res, err := http.Get(p.url + "/usage")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&u); err != nil {
		t.Fatal(err)
	}
	return u
}

// denseCost is what one request costs a server.
type denseCost struct {
	status int
	answer string
	body   int64
	peak   int64
	alloc  int64
	cpu    time.Duration
}

func (p *denseProcess) ask(t testing.TB, front content.Format, body string, header http.Header) denseCost {
	t.Helper()
	path := "/v1/messages"
	if front == generatecontent.Format {
		path = "/v1beta/models/m:generateContent"
	}
	post := func(body string, header http.Header) (int, string) {
		r, err := http.NewRequest(http.MethodPost, p.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, values := range header {
			r.Header[name] = values
		}
		for name, value := range map[string]string{"Content-Type": "application/json", "Anthropic-Version": "2023-06-01"} {
			if r.Header.Get(name) == "" {
				r.Header.Set(name, value)
			}
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, _ := io.ReadAll(io.LimitReader(res.Body, 400))
		_, _ = io.Copy(io.Discard, res.Body)
		return res.StatusCode, string(b)
	}
	if front == messages.Format {
		post(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}]}`, nil)
	} else {
		post(`{"contents":[{"role":"user","parts":[{"text":"a"}]}]}`, nil)
	}
	before := p.usage(t)
	status, answer := post(body, header)
	after := p.usage(t)
	base := before.Now
	if base == 0 { // the system cannot reset the peak
		base = before.Peak
	}
	return denseCost{status, answer, int64(len(body)), after.Peak - base, after.Alloc - before.Alloc, after.CPU - before.CPU}
}

// denseVendor starts a server in the test's process that reads each request to
// its end and responds in the vendor's format.
func denseVendor(t testing.TB) string {
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		switch path := r.URL.Path; {
		case strings.HasSuffix(path, "/messages"):
			_, _ = io.WriteString(w, `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`)
		case strings.HasSuffix(path, ":generateContent"):
			_, _ = io.WriteString(w, `{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2},"modelVersion":"m","responseId":"r"}`)
		case strings.HasSuffix(path, "/chat/completions"):
			_, _ = io.WriteString(w, `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`)
		case strings.HasSuffix(path, "/responses"):
			_, _ = io.WriteString(w, `{"id":"r","object":"response","status":"completed","model":"m","output":[{"type":"message","id":"i","role":"assistant","status":"completed","content":[{"type":"output_text","text":"a","annotations":[]}]}],"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(ts.Close)
	return ts.URL
}

// A denseShape is a kind of document with very many small elements.
type denseShape struct {
	name  string
	front content.Format
	each  int // JSON values of one element
	max   int // elements that the limits of parts and tools allow; 0: no limit
	body  func(n int, pad string) string
}

func user(blocks string) string {
	return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[` + blocks + `]}]}`
}

// many repeats a list element n times and replaces each # by its index.
func many(n int, s string) string {
	var b strings.Builder
	b.Grow(n * (len(s) + 6))
	numbered := strings.Contains(s, "#")
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		if numbered {
			b.WriteString(strings.ReplaceAll(s, "#", strconv.Itoa(i)))
		} else {
			b.WriteString(s)
		}
	}
	return b.String()
}

func contentsOfParts(parts string) string {
	return `{"contents":[{"role":"user","parts":[` + parts + `]}]}`
}

var denseShapes = []denseShape{
	{"texts", messages.Format, 3, 100000, func(n int, pad string) string { return user(many(n, `{"type":"text","text":"x`+pad+`"}`)) }},
	{"turns", messages.Format, 3, 99990, func(n int, pad string) string {
		return `{"model":"m","max_tokens":9,"messages":[` + many(n, `{"role":"user","content":"x`+pad+`"}`) + `]}`
	}},
	{"alternating turns", messages.Format, 6, 49990, func(n int, pad string) string {
		return `{"model":"m","max_tokens":9,"messages":[` + many(n, `{"role":"user","content":"x`+pad+`"},{"role":"assistant","content":"x`+pad+`"}`) + `,{"role":"user","content":"x"}]}`
	}},
	{"unknown blocks", messages.Format, 2, 99990, func(n int, pad string) string {
		return user(many(n, `{"type":"y`+pad+`"}`) + `,{"type":"text","text":"x"}`)
	}},
	{"texts with extra members", messages.Format, 4, 100000, func(n int, pad string) string {
		return user(many(n, `{"type":"text","text":"x`+pad+`","y":1}`))
	}},
	{"system blocks", messages.Format, 3, 99990, func(n int, pad string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}],"system":[` + many(n, `{"type":"text","text":"x`+pad+`"}`) + `]}`
	}},
	{"system turns", messages.Format, 3, 99990, func(n int, pad string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},` + many(n, `{"role":"system","content":"x`+pad+`"}`) + `]}`
	}},
	{"calls", messages.Format, 10, 33320, func(n int, pad string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[` +
			many(n, `{"type":"tool_use","id":"t#","name":"f","input":{}}`) + `]},{"role":"user","content":[` +
			many(n, `{"type":"tool_result","tool_use_id":"t#","content":"x`+pad+`"}`) + `]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`
	}},
	{"calls of signed thinking", messages.Format, 13, 24_990, func(n int, pad string) string {
		var thinking, calls, results []string
		for i := range n {
			id := "t" + strconv.Itoa(i)
			sig, _ := envelope.EncodeCall(content.Signature{Format: generatecontent.Format, Data: "c2ln"}, id)
			thinking = append(thinking, `{"type":"thinking","thinking":"x`+pad+`","signature":"`+sig+`"}`)
			id, _ = envelope.MarkID(id)
			calls = append(calls, `{"type":"tool_use","id":"`+id+`","name":"f","input":{}}`)
			results = append(results, `{"type":"tool_result","tool_use_id":"`+id+`"}`)
		}
		slices.Reverse(calls) // the first call names the last block
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[` + strings.Join(append(thinking, calls...), ",") +
			`]},{"role":"user","content":[` + strings.Join(results, ",") + `]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`
	}},
	{"tool calls in turns", messages.Format, 16, 33320, func(n int, pad string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},` +
			many(n, `{"role":"assistant","content":[{"type":"tool_use","id":"t#","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t#","content":"x`+pad+`"}]}`) +
			`],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`
	}},
	{"thinking", messages.Format, 4, 99990, func(n int, pad string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[` +
			many(n, `{"type":"thinking","thinking":"x`+pad+`","signature":"s"}`) + `,{"type":"text","text":"b"}]},{"role":"user","content":"c"}]}`
	}},
	{"server tool calls", messages.Format, 9, 49990, func(n int, pad string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[` +
			many(n, `{"type":"server_tool_use","id":"srvtoolu_#","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_#","content":[]}`) +
			`,{"type":"text","text":"b` + pad + `"}]},{"role":"user","content":"c"}]}`
	}},
	{"tools", messages.Format, 4, 10000, func(n int, pad string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],"tools":[` + many(n, `{"name":"f#","input_schema":{"type":"object"}}`) + `]}`
	}},
	{"tools with properties", messages.Format, 9, 10000, func(n int, pad string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],"tools":[` +
			many(n, `{"name":"f#","description":"x`+pad+`","input_schema":{"type":"object","properties":{"a":{"type":"string"}}}}`) + `]}`
	}},
	{"vendor tools", messages.Format, 3, 10000, func(n int, pad string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],"tools":[` + many(n, `{"type":"new_tool_20270101","name":"b#"}`) + `]}`
	}},
	{"single schema", messages.Format, 2, 61000, func(n int, pad string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],"tools":[{"name":"f","input_schema":{"type":"object","properties":{` + many(n, `"p#":{"type":"string"}`) + `}}}]}`
	}},
	{"single input", messages.Format, 2, 0, func(n int, pad string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"a":[` + many(n, `{"x`+pad+`":1}`) + `]}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`
	}},
	{"members", messages.Format, 1, 99980, func(n int, pad string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],` + many(n, `"m#`+pad+`":1`) + `}`
	}},
	{"stop sequences", messages.Format, 1, 0, func(n int, pad string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],"stop_sequences":[` + many(n, `"s#`+pad+`"`) + `]}`
	}},
	{"texts in a tool result", messages.Format, 3, 99990, func(n int, pad string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[` +
			many(n, `{"type":"text","text":"x`+pad+`"}`) + `]}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`
	}},
	{"documents", messages.Format, 6, 99990, func(n int, pad string) string {
		return user(many(n, `{"type":"document","source":{"type":"text","media_type":"text/plain","data":"x`+pad+`"}}`))
	}},
	{"search results", messages.Format, 8, 49990, func(n int, pad string) string {
		return user(many(n, `{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"x`+pad+`"}]}`))
	}},
	{"citations", messages.Format, 7, 99990, func(n int, pad string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"b","citations":[` +
			many(n, `{"type":"char_location","cited_text":"x`+pad+`","document_index":0,"document_title":null,"start_char_index":0,"end_char_index":1}`) + `]}]},{"role":"user","content":"c"}]}`
	}},
	{"escapes", messages.Format, 3, 100000, func(n int, pad string) string { return user(many(n, `{"type":"text","text":"\nx`+pad+`"}`)) }},

	{"texts", generatecontent.Format, 2, 100000, func(n int, pad string) string { return contentsOfParts(many(n, `{"text":"x`+pad+`"}`)) }},
	{"turns", generatecontent.Format, 4, 99990, func(n int, pad string) string {
		return `{"contents":[` + many(n, `{"parts":[{"text":"x`+pad+`"}]}`) + `]}`
	}},
	{"alternating turns", generatecontent.Format, 10, 49990, func(n int, pad string) string {
		return `{"contents":[` + many(n, `{"role":"user","parts":[{"text":"x`+pad+`"}]},{"role":"model","parts":[{"text":"x`+pad+`"}]}`) + `,{"role":"user","parts":[{"text":"x"}]}]}`
	}},
	{"unknown parts", generatecontent.Format, 2, 99990, func(n int, pad string) string {
		return contentsOfParts(many(n, `{"y`+pad+`":{}}`) + `,{"text":"x"}`)
	}},
	{"unknown parts with objects", generatecontent.Format, 2, 99990, func(n int, pad string) string {
		return contentsOfParts(many(n, `{"newKind":{}}`) + `,{"text":"x"}`)
	}},
	{"empty parts", generatecontent.Format, 1, 99990, func(n int, pad string) string {
		return contentsOfParts(many(n, `{}`) + `,{"text":"x"}`)
	}},
	{"texts with extra members", generatecontent.Format, 3, 100000, func(n int, pad string) string {
		return contentsOfParts(many(n, `{"text":"x`+pad+`","y":1}`))
	}},
	{"thoughts", generatecontent.Format, 3, 99990, func(n int, pad string) string {
		return `{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[` + many(n, `{"text":"x`+pad+`","thought":true}`) + `,{"text":"b"}]},{"role":"user","parts":[{"text":"a"}]}]}`
	}},
	{"signed texts", generatecontent.Format, 3, 99990, func(n int, pad string) string {
		return `{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[` + many(n, `{"text":"x`+pad+`","thoughtSignature":"AAAA"}`) + `,{"text":"b"}]},{"role":"user","parts":[{"text":"a"}]}]}`
	}},
	{"calls", generatecontent.Format, 8, 33330, func(n int, pad string) string {
		return contentsOf(many(n, `{"functionCall":{"name":"f","args":{}}}`), many(n, `{"functionResponse":{"name":"f","response":{"x`+pad+`":1}}}`))
	}},
	{"tool calls with ids", generatecontent.Format, 10, 33330, func(n int, pad string) string {
		return contentsOf(many(n, `{"functionCall":{"id":"t#","name":"f","args":{}}}`), many(n, `{"functionResponse":{"id":"t#","name":"f","response":{"x`+pad+`":1}}}`))
	}},
	{"code", generatecontent.Format, 8, 49990, func(n int, pad string) string {
		return `{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[` +
			many(n, `{"executableCode":{"language":"PYTHON","code":"x`+pad+`"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"x"}}`) + `]},{"role":"user","parts":[{"text":"a"}]}]}`
	}},
	{"functions", generatecontent.Format, 2, 512, func(n int, pad string) string {
		return `{"contents":[{"role":"user","parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[` + many(n, `{"name":"f#"}`) + `]}]}`
	}},
	{"functions with properties", generatecontent.Format, 8, 512, func(n int, pad string) string {
		return `{"contents":[{"role":"user","parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[` + many(n, `{"name":"f#","description":"x`+pad+`","parameters":{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}}`) + `]}]}`
	}},
	{"googleSearch", generatecontent.Format, 2, 10000, func(n int, pad string) string {
		return `{"contents":[{"role":"user","parts":[{"text":"a"}]}],"tools":[` + many(n, `{"googleSearch":{}}`) + `]}`
	}},
	{"unknown tools", generatecontent.Format, 2, 10000, func(n int, pad string) string {
		return `{"contents":[{"role":"user","parts":[{"text":"a"}]}],"tools":[` + many(n, `{"y`+pad+`":1}`) + `]}`
	}},
	{"members", generatecontent.Format, 1, 99990, func(n int, pad string) string {
		return `{"contents":[{"role":"user","parts":[{"text":"a"}]}],` + many(n, `"m#`+pad+`":1`) + `}`
	}},
	{"single schema", generatecontent.Format, 2, 61000, func(n int, pad string) string {
		return `{"contents":[{"role":"user","parts":[{"text":"a"}]}],"generationConfig":{"responseMimeType":"application/json","responseSchema":{"type":"OBJECT","properties":{` + many(n, `"p#":{"type":"STRING"}`) + `}}}}`
	}},
	{"single tool call", generatecontent.Format, 2, 0, func(n int, pad string) string {
		return contentsOf(`{"functionCall":{"name":"f","args":{"a":[`+many(n, `{"x`+pad+`":1}`)+`]}}}`, `{"functionResponse":{"name":"f","response":{}}}`)
	}},
	{"system parts", generatecontent.Format, 2, 99990, func(n int, pad string) string {
		return `{"contents":[{"role":"user","parts":[{"text":"a"}]}],"systemInstruction":{"parts":[` + many(n, `{"text":"x`+pad+`"}`) + `]}}`
	}},
	{"parts in a tool result", generatecontent.Format, 4, 99990, func(n int, pad string) string {
		return contentsOf(`{"functionCall":{"name":"f","args":{}}}`, `{"functionResponse":{"name":"f","response":{},"parts":[`+many(n, `{"text":"x`+pad+`"}`)+`]}}`)
	}},
	{"safety settings", generatecontent.Format, 3, 99_000, func(n int, pad string) string {
		return `{"contents":[{"role":"user","parts":[{"text":"a"}]}],"safetySettings":[` + many(n, `{"category":"Z#`+pad+`","threshold":"Z"}`) + `]}`
	}},
	{"labels", generatecontent.Format, 1, 99990, func(n int, pad string) string {
		return `{"contents":[{"role":"user","parts":[{"text":"a"}]}],"labels":{` + many(n, `"m#`+pad+`":"v"`) + `}}`
	}},
	{"carried states", generatecontent.Format, 1, 99_800, func(n int, pad string) string {
		return signedCalls(n, `{"signature":"#-%`+pad+`"}`)
	}},
	{"carried texts", generatecontent.Format, 1, 99_800, func(n int, pad string) string {
		return signedCalls(n, `{"text":"\n`+pad+`","signature":"#-%"}`)
	}},
	{"empty states", generatecontent.Format, 1, 99_800, func(n int, pad string) string { return signedCalls(n, `{}`) }},
	{"carried states", messages.Format, 10, 96_000, func(n int, pad string) string {
		pad = pad[:len(pad)*3/8] // each id is in base64, and there twice
		return statefulIDs(n, 50, `{"redacted":"{\"type\":\"reasoning\",\"id\":\"#-%`+pad+`\",\"encrypted_content\":\"x\",\"summary\":[]}"}`)
	}},
	{"allowed function names", generatecontent.Format, 3, 512, func(n int, pad string) string {
		return `{"contents":[{"role":"user","parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[` + many(n, `{"name":"f#"}`) +
			`]}],"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED","allowedFunctionNames":[` + many(n, `"f#"`) + `]}}}`
	}},
}

// states returns n states in lists of up to each.
func states(n, each int, state string) (lists []string) {
	for ; n > 0; n -= each {
		lists = append(lists, "["+many(min(n, each), strings.ReplaceAll(state, "%", strconv.Itoa(n)))+"]")
	}
	return lists
}

// signedCalls returns a request whose tool calls carry n states of Claude in their signatures.
func signedCalls(n int, state string) string {
	var calls []string
	for _, list := range states(n, 2000, state) {
		sig, _ := envelope.EncodeBase64(messages.Format, envelope.KindThinking, list)
		calls = append(calls, `{"functionCall":{"name":"f","args":{}},"thoughtSignature":"`+sig+`"}`)
	}
	return contentsOf(strings.Join(calls, ","), many(len(calls), `{"functionResponse":{"name":"f","response":{}}}`))
}

// statefulIDs returns a request whose tool calls carry n states of Responses in their ids.
func statefulIDs(n, each int, state string) string {
	var calls, results []string
	for i, list := range states(n, each, state) {
		id, _ := envelope.EncodeID("t"+strconv.Itoa(i), envelope.Envelope{Format: "openai-responses", Kind: envelope.KindThinking, Data: list})
		calls = append(calls, `{"type":"tool_use","id":"`+id+`","name":"f","input":{}}`)
		results = append(results, `{"type":"tool_result","tool_use_id":"`+id+`"}`)
	}
	return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[` + strings.Join(calls, ",") +
		`]},{"role":"user","content":[` + strings.Join(results, ",") + `]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`
}

var denseUpstreams = []string{"echo", "anthropic", "gemini", "chat", "responses"}

// longShapes are the shapes that are also tested with bodies of 31 MB.
var longShapes = []string{"texts", "texts with extra members", "signed texts", "tool calls in turns", "members", "tools with properties", "unknown tools", "escapes", "carried states", "carried texts"}

// TestDenseCost checks the promised memory limit for documents with as many
// small elements as the limits allow, each for one vendor, and with a quarter of
// these for the others. Twice as many elements may take at most twice the time.
func TestDenseCost(t *testing.T) {
	if testing.Short() || race.Enabled {
		t.Skip("slow test of memory use")
	}
	vendor := denseVendor(t)
	for k, kind := range denseUpstreams {
		p := startDense(t, kind, vendor)
		for i, d := range denseShapes {
			n := 990_000 / d.each
			if d.max > 0 {
				n = min(n, d.max)
			}
			full := i%len(denseUpstreams) == k
			if !full {
				n /= 4
			}
			body := d.body(n, "")
			half := p.ask(t, d.front, d.body(n/2, ""), nil)
			whole := p.ask(t, d.front, body, nil)
			checkDense(t, fmt.Sprintf("%s: %s to %s", d.front, d.name, kind), whole)
			if limit := 3*half.cpu + 250*time.Millisecond; whole.cpu > limit {
				t.Errorf("%s: %s to %s: %v for %d, but %v for half of them", d.front, d.name, kind, whole.cpu, n, half.cpu)
			}
			if full && slices.Contains(longShapes, d.name) {
				pad := strings.Repeat("p", (31<<20-len(body))/n)
				checkDense(t, fmt.Sprintf("%s: long %s to %s", d.front, d.name, kind), p.ask(t, d.front, d.body(n, pad), nil))
			}
		}
		p.end()
	}
}

// checkDense checks that a request was served within the promised memory.
func checkDense(t *testing.T, name string, c denseCost) {
	t.Helper()
	if c.status != http.StatusOK {
		t.Errorf("%s: %d %s", name, c.status, c.answer)
	}
	checkPeak(t, name, c)
}

func checkPeak(t *testing.T, name string, c denseCost) {
	t.Helper()
	if limit := memoryFactor*c.body + memoryRest; c.peak > limit {
		t.Errorf("%s: %.1f MiB of memory for a body of %.1f MiB, want at most %.1f MiB (%.1f MiB allocated)",
			name, mib(c.peak), mib(c.body), mib(limit), mib(c.alloc))
	}
}

// TestDenseRefused checks that documents beyond the limits of parts, tools and
// schemas are rejected within the promised memory, and before they are read
// completely.
func TestDenseRefused(t *testing.T) {
	if testing.Short() || race.Enabled {
		t.Skip("slow test of memory use")
	}
	p := startDense(t, "chat", denseVendor(t))
	defer p.end()
	for _, d := range denseShapes {
		n := 990_000 / d.each
		if d.max == 0 || n <= d.max {
			continue
		}
		name := fmt.Sprintf("%s: %s", d.front, d.name)
		c := p.ask(t, d.front, d.body(n, ""), nil)
		if c.status != http.StatusBadRequest || !strings.Contains(c.answer, "too many") && !strings.Contains(c.answer, "at most") {
			t.Errorf("%s: %d %s", name, c.status, c.answer)
		}
		checkPeak(t, name, c)
		if c.cpu > time.Second {
			t.Errorf("%s: %v", name, c.cpu)
		}
	}
}

// TestDenseHeaders checks that long headers and queries take linear time.
func TestDenseHeaders(t *testing.T) {
	if testing.Short() || race.Enabled {
		t.Skip("slow test of time")
	}
	p := startDense(t, "anthropic", denseVendor(t))
	defer p.end()
	const n = 40_000 // the server accepts 1 MiB of headers
	distinct := strings.Split(many(n, "v#"), ",")
	for _, tt := range []struct {
		name   string
		header http.Header
		status int
	}{
		{"betas", http.Header{"Anthropic-Beta": {strings.Join(distinct, ",")}}, 400},
		{"beta header lines", http.Header{"Anthropic-Beta": distinct[:n/2]}, 400},
		{"empty betas", http.Header{"Anthropic-Beta": {strings.Repeat(",", 10*n)}}, 200},
		{"versions", http.Header{"Anthropic-Version": slices.Repeat([]string{"2023-06-01"}, n/4)}, 200},
		{"keys", http.Header{"X-Api-Key": distinct[:n/2], "Authorization": distinct[:n/4]}, 200},
		{"codings", http.Header{"Content-Encoding": {strings.Repeat("identity,", n)}}, 200},
		{"media type", http.Header{"Content-Type": {"application/json" + strings.Repeat(";", n)}}, 0},
		{"unknown headers", http.Header{"X-Something": distinct[:n/2]}, 200},
	} {
		c := p.ask(t, messages.Format, user(`{"type":"text","text":"a"}`), tt.header)
		if tt.status != 0 && c.status != tt.status || tt.status == 400 && !strings.Contains(c.answer, "anthropic-beta") {
			t.Errorf("%s: %d %s", tt.name, c.status, c.answer)
		}
		if c.cpu > time.Second {
			t.Errorf("%s: %v", tt.name, c.cpu)
		}
	}
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }

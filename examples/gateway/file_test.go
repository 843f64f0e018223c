package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/test/fake"
	"github.com/polywire/polywire/internal/test/fake/anthropic"
	"github.com/polywire/polywire/internal/test/fake/gemini"
	"github.com/polywire/polywire/upstream"
)

// writeConfig writes a file for -config and returns its path.
func writeConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gateway.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// An invalid file is refused with the path of each error and with what is accepted.
func TestFileErrors(t *testing.T) {
	t.Setenv("GATEWAY_TEST_KEY", "k-secret")
	const two = `"upstreams": {"a": {"adapter": "echo"}, "b": {"adapter": "echo"}}`
	for _, tt := range []struct {
		name, text string
		want       []string // lines, without their indentation
	}{
		{"empty file", ``, []string{`want a JSON object, such as {"upstreams": {"a": {"adapter": "echo"}}}`}},
		{"array", `[]`, []string{`want a JSON object, such as {"upstreams": {"a": {"adapter": "echo"}}}`}},
		{"comma before a brace", "{\n\t\"upstreams\": {\n\t\t\"a\": {\"adapter\": \"echo\",}\n\t}\n}",
			[]string{`line 3, column 27: invalid character '}' looking for beginning of object key string`}},
		{"cut off", `{"upstreams": {`, []string{`line 1, column 15: unexpected end of JSON input`}},
		{"text after the object", "{}\n{}", []string{`line 2, column 1: invalid character '{' after top-level value`}},
		{"no upstreams", `{}`, []string{`upstreams: is required; want at least one, such as {"a": {"adapter": "echo"}}`}},
		{"empty upstreams", `{"upstreams": {}}`, []string{`upstreams: is required; want at least one, such as {"a": {"adapter": "echo"}}`}},
		{"null", `{"upstreams": null}`, []string{`upstreams: want an object, not null`}},
		{"unknown member", `{"listen": ":80", "upstreams": {"a": {"adapter": "echo"}}}`, []string{`listen: unknown member; want upstreams or routes; all other settings are flags`}},
		{"unknown member of an upstream", `{"upstreams": {"a": {"adapter": "echo", "timeout": 3}}}`,
			[]string{`upstreams.a.timeout: unknown member; want adapter, url, key_env, models, reads, unread, think_tags, server, project, location, api_version or deployments`}},
		{"member twice", `{"upstreams": {"a": {"adapter": "echo", "adapter": "gemini"}}}`, []string{`upstreams.a.adapter: is set twice`}},
		{"name", `{"upstreams": {"a b": {"adapter": "echo"}}}`,
			[]string{`upstreams["a b"]: a name of an upstream must have 1 to 64 letters, digits, dots, hyphens or underscores`}},
		{"kinds", `{"upstreams": {"a": {"adapter": 1, "url": ["u"], "models": "m", "reads": true}}}`, []string{
			`upstreams.a.adapter: want a string, not a number`,
			`upstreams.a.url: want a string, not an array`,
			`upstreams.a.models: want an object, not a string`,
			`upstreams.a.reads: want a string, not true or false`,
		}},
		{"no adapter", `{"upstreams": {"a": {}}}`, []string{`upstreams.a.adapter: is required; want echo, anthropic, gemini, openai or openai-responses`}},
		{"unknown adapter", `{"upstreams": {"a": {"adapter": "claude"}}}`,
			[]string{`upstreams.a.adapter: unknown name "claude"; want echo, anthropic, gemini, openai or openai-responses`}},
		{"values", `{"upstreams": {
				"a": {"adapter": "gemini"},
				"b": {"adapter": "openai", "url": "localhost:8000/v1"},
				"c": {"adapter": "anthropic", "url": "https://h/v1/messages"},
				"d": {"adapter": "openai", "url": "http://h/v1", "reads": "all"},
				"e": {"adapter": "openai", "url": "http://h/v1", "unread": "drop"},
				"f": {"adapter": "openai-responses", "url": "http://h/v1", "think_tags": "leading"},
				"g": {"adapter": "openai", "url": "http://h/v1", "think_tags": "on"},
				"h": {"adapter": "echo", "url": "http://h"},
				"i": {"adapter": "anthropic", "url": "http://h", "reads": "text"},
				"j": {"adapter": "openai", "url": "https://h", "api_version": "2024/10", "deployments": {"m": ".."}},
				"k": {"adapter": "anthropic", "url": "http://h", "api_version": "2024-10-21"},
				"l": {"adapter": "gemini", "url": "http://h", "project": "p"},
				"m": {"adapter": "openai", "url": "http://h/v1", "location": "global"},
				"n": {"adapter": "gemini", "url": "http://h", "deployments": {}}
			}, "routes": {"*": "a"}}`, []string{
			`upstreams.a.adapter: gemini needs a key; set upstreams.a.key_env`,
			`upstreams.b.url: must begin with http:// or https:// and a host`,
			`upstreams.c.url: must not end in /messages, which the adapter appends`,
			`upstreams.d.reads: unknown kind "all"; want text, images or pdf`,
			`upstreams.e.unread: unknown action "drop"; want refuse or note`,
			`upstreams.f.think_tags: only for the adapter openai, not for openai-responses`,
			`upstreams.g.think_tags: unknown value "on"; want off, leading or open`,
			`upstreams.h.url: echo has no URL; set upstreams.h.adapter to a vendor`,
			`upstreams.i.reads: only for the adapter openai or openai-responses, not for anthropic`,
			`upstreams.j.api_version: "2024/10" must consist of lower-case letters, digits, hyphens and dots`,
			`upstreams.j.deployments: ".." is not a valid name of a deployment`,
			`upstreams.k.api_version: only for the adapter openai or openai-responses, not for anthropic`,
			`upstreams.l.location: must be set with Project, for example to "global"`,
			`upstreams.m.location: only for the adapter gemini, not for openai`,
			`upstreams.n.deployments: only for the adapter openai or openai-responses, not for gemini`,
		}},
		{"keys", `{"upstreams": {
				"a": {"adapter": "gemini", "key": "k-secret"},
				"b": {"adapter": "gemini", "key_env": "k-secret"},
				"c": {"adapter": "gemini", "key_env": "KSECRET"},
				"d": {"adapter": "gemini", "key_env": ""}
			}}`, []string{
			`upstreams.a.key: unknown member; a key does not belong in this file: want key_env with the name of an environment variable`,
			`upstreams.b.key_env: want the name of an environment variable, such as GEMINI_API_KEY, not the key itself`,
			`upstreams.c.key_env: the environment variable with this name is empty or not set`,
			`upstreams.d.key_env: want the name of an environment variable, such as GEMINI_API_KEY, not the key itself`,
			`routes: is required if there are several upstreams, such as {"*":["a","b"]}`,
		}},
		{"errors of all kinds", `{"listen": 1, "upstreams": {
				"a": {"adapter": "claude", "reads": "all", "unread": "drop", "url": "http://h/v1/messages", "deployments": {"m": "../b", "n\n": "n"}},
				"b": {"adapter": "gemini", "reads": "text", "think_tags": "open", "models": {"m": "a\nb", "n\r": "m", " p": "q"}},
				"c": {"adapter": "openai", "url": "https://h", "api_version": "1", "deployments": {"m": "../b"}},
				"d": {"adapter": "gemini", "timeout": 3}
			}, "routes": {"*": "x", "a\tb": "a"}}`, []string{
			`listen: unknown member; want upstreams or routes; all other settings are flags`,
			`upstreams.a.deployments["n\n"]: "n\n" is not the name of a model: want 1 to 1024 bytes of UTF-8 without spaces at the ends, line breaks and other control characters`,
			`upstreams.a.reads: unknown kind "all"; want text, images or pdf`,
			`upstreams.a.unread: unknown action "drop"; want refuse or note`,
			`upstreams.a.url: must not end in /messages, which the adapter appends`,
			`upstreams.a.adapter: unknown name "claude"; want echo, anthropic, gemini, openai or openai-responses`,
			`upstreams.b.models.m: "a\nb" is not the name of a model: want 1 to 1024 bytes of UTF-8 without spaces at the ends, line breaks and other control characters`,
			`upstreams.b.models["n\r"]: "n\r" is not the name of a model: want 1 to 1024 bytes of UTF-8 without spaces at the ends, line breaks and other control characters`,
			`upstreams.b.models[" p"]: " p" is not the name of a model: want 1 to 1024 bytes of UTF-8 without spaces at the ends, line breaks and other control characters`,
			`upstreams.b.think_tags: only for the adapter openai, not for gemini`,
			`upstreams.b.reads: only for the adapter openai or openai-responses, not for gemini`,
			`upstreams.c.deployments: "../b" is not a valid name of a deployment`,
			`upstreams.d.timeout: unknown member; want adapter, url, key_env, models, reads, unread, think_tags, server, project, location, api_version or deployments`,
			`upstreams.d.adapter: gemini needs a key; set upstreams.d.key_env`,
			`routes["a\tb"]: "a\tb" is not the name of a model: want 1 to 1024 bytes of UTF-8 without spaces at the ends, line breaks and other control characters`,
			`routes["*"]: there is no upstream "x"; want a, b, c or d`,
		}},
		{"models", `{"upstreams": {"a": {"adapter": "echo", "model": "m", "models": {"a*b": "m", "": "m", "c": "", "d": "m*", "e*": "*m", "f*": 1}}}}`, []string{
			`upstreams.a.model: unknown member; to use one model for all requests, want "models": {"*": "NAME"}`,
			`upstreams.a.models["a*b"]: want the name of a model, or the beginning of one and a star`,
			`upstreams.a.models[""]: want the name of a model, or the beginning of one and a star`,
			`upstreams.a.models.c: want the name of a model; it may end in a star if the pattern ends in one`,
			`upstreams.a.models.d: want the name of a model; it may end in a star if the pattern ends in one`,
			`upstreams.a.models["e*"]: want the name of a model; it may end in a star if the pattern ends in one`,
			`upstreams.a.models["f*"]: want a string, not a number`,
		}},
		{"no routes", `{` + two + `}`, []string{`routes: is required if there are several upstreams, such as {"*":["a","b"]}`}},
		{"routes", `{` + two + `, "routes": {
				"a*b": "a", "m": "c", "n": ["a", "d", "a"], "o": [], "p": 3, "q": [1],
				"gpt-4.1*": {}, "r": {"upstreams": "a"}
			}}`, []string{
			`routes["a*b"]: want the name of a model, or the beginning of one and a star`,
			`routes.o: is empty; want at least one string`,
			`routes.p: want the name of an upstream, a list of names, or an object with upstreams, not a number`,
			`routes.q.0: want a string, not a number`,
			`routes["gpt-4.1*"].upstreams: is required; want a list of names`,
			`routes.r.upstreams: want an array, not a string`,
			`routes.m: there is no upstream "c"; want a or b`,
			`routes.n: there is no upstream "d"; want a or b`,
			`routes.n: "a" is listed twice; to call an upstream again, set retries`,
		}},
		{"failover", `{` + two + `, "routes": {"*": {"upstreams": ["a", "b"], "first_content": 20, "hedge": "2", "retries": 1.5,
				"codes": ["overloaded", "529"], "refused_keys": "yes", "order": "x"}}}`, []string{
			`routes["*"].first_content: want a duration with a unit, such as "20s", not a number`,
			`routes["*"].hedge: "2" is not a duration from 1ms to 744h0m0s; want a number with a unit, such as "20s"`,
			`routes["*"].retries: want an integer from 0 to 100`,
			`routes["*"].codes.1: unknown code "529"; want overloaded, rate_limit, unavailable, timeout, bad_gateway, quota, billing, permission, not_found, internal or unsupported`,
			`routes["*"].refused_keys: want true or false, not a string`,
			`routes["*"].order: unknown member; want upstreams, codes, refused_keys, retries, first_content, hedge or spread`,
		}},
		{"values without effect", `{"upstreams": {"a": {"adapter": "echo"}, "b": {"key_env": "GATEWAY_TEST_KEY", "adapter": "echo"}}, "routes": {
				"one": {"upstreams": ["a"], "hedge": "3s"}, "late": {"hedge": "20s", "upstreams": ["a", "b"], "first_content": "20s"},
				"twice": {"upstreams": ["a", "b", "a"], "spread": true}
			}}`, []string{
			`upstreams.b.key_env: echo has no key`,
			`routes.one.hedge: there is no second upstream that could be called`,
			`routes.late.hedge: want less than first_content, 20s, at which the attempt ends`,
			`routes.twice: "a" is listed twice; to call an upstream again, set retries`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := writeConfig(t, tt.text)
			var stderr strings.Builder
			err := run(t.Context(), nil, []string{"-config", path}, io.Discard, &stderr)
			if !errors.Is(err, errUsage) {
				t.Errorf("got %v, want a usage error", err)
			}
			if strings.Contains(stderr.String(), "secret") || strings.Contains(stderr.String(), "KSECRET") {
				t.Errorf("the error contains a key: %s", &stderr)
			}
			want := "gateway: -config: " + path + ":\n  " + strings.Join(tt.want, "\n  ") + "\n"
			if diff := cmp.Diff(want, stderr.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A file and the flags of one upstream exclude each other. Other flags are allowed.
func TestConfigAndFlags(t *testing.T) {
	path := writeConfig(t, `{"upstreams": {"a": {"adapter": "echo"}}}`)
	for flag, value := range map[string]string{
		"-upstream": "echo", "-upstream-url": "http://h", "-model": "m", "-reads": "text", "-unread": "note", "-think-tags": "open",
	} {
		var stderr strings.Builder
		err := run(t.Context(), nil, []string{"-config", path, flag, value}, io.Discard, &stderr)
		if want := "-config: cannot be used with " + flag + ";"; !errors.Is(err, errUsage) || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: %v, %s; want %q", flag, err, &stderr, want)
		}
	}
	var stderr strings.Builder
	err := run(t.Context(), nil, []string{"-config", "missing.json"}, io.Discard, &stderr)
	if want := "gateway: -config: missing.json:\n  no such file or directory\n"; !errors.Is(err, errUsage) || stderr.String() != want {
		t.Errorf("a missing file: %v, %q; want %q", err, &stderr, want)
	}
	g := start(t, "-config", path, "-max-body", "100000", "-links", "off")
	defer g.stop(t)
	resp := post(t, g.url, plain)
	want(t, "plain", resp.Status+read(t, resp), "200", "Ahoy there.")
}

// The values of a file reach the routing. Retries 0 means none, unlike in
// FailoverOptions.
func TestFileValues(t *testing.T) {
	t.Setenv("GATEWAY_TEST_KEY", "k")
	r, err := readRouting(writeConfig(t, `{
		"upstreams": {
			"b": {"adapter": "anthropic", "url": "http://h/v1", "key_env": "GATEWAY_TEST_KEY", "models": {"x*": "y*", "z": "w"}},
			"a": {"adapter": "openai", "url": "http://l", "reads": "pdf", "unread": "note", "think_tags": "open",
				"api_version": "2024-10-21", "deployments": {"m": "d"}},
			"c": {"adapter": "gemini", "key_env": "GATEWAY_TEST_KEY", "project": "p", "location": "l"}
		},
		"routes": {
			"m": "a",
			"n": ["a", "b"],
			"*": {"upstreams": ["b", "a"], "codes": ["timeout"], "refused_keys": true, "retries": 0, "first_content": "1m30s", "hedge": "20s"},
			"o": {"upstreams": ["b"], "retries": 5}
		}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	wanted := &routing{
		vendors: []*vendor{
			{name: "b", adapter: "anthropic", url: "http://h/v1", keyEnv: "GATEWAY_TEST_KEY", models: []modelName{{"x*", "y*"}, {"z", "w"}}},
			{name: "a", adapter: "openai", url: "http://l", reads: "pdf", unread: "note", thinkTags: "open",
				apiVersion: "2024-10-21", deployments: map[string]string{"m": "d"}},
			{name: "c", adapter: "gemini", keyEnv: "GATEWAY_TEST_KEY", project: "p", location: "l"},
		},
		routes: []route{
			{"m", []string{"a"}, nil},
			{"n", []string{"a", "b"}, &upstream.FailoverOptions{}},
			{"*", []string{"b", "a"}, &upstream.FailoverOptions{
				Codes: []upstream.Code{upstream.CodeTimeout}, RefusedKeys: true, Retries: -1, FirstContent: 90 * time.Second, Hedge: 20 * time.Second,
			}},
			{"o", []string{"b"}, &upstream.FailoverOptions{Retries: 5}},
		},
	}
	settings := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".setting" }, cmp.Ignore())
	if diff := cmp.Diff(wanted, r, settings, cmp.AllowUnexported(routing{}, vendor{}, modelName{}, route{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Routes with spread keep a conversation at one of their upstreams, and use all of them.
func TestSpread(t *testing.T) {
	r, err := readRouting(writeConfig(t, `{"upstreams": {"a": {"adapter": "echo"}, "b": {"adapter": "echo"}}, "routes": {"*": {"spread": true, "upstreams": ["a", "b"]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	first := [2]int{}
	for i := range 40 {
		n := &upstream.Request{Session: strconv.Itoa(i)}
		order := r.routes[0].failover.Order(t.Context(), n)
		if again := r.routes[0].failover.Order(t.Context(), n); len(order) != 2 || !slices.Equal(order, again) {
			t.Fatalf("got the orders %v and %v", order, again)
		}
		first[order[0]]++
	}
	if first[0] < 10 || first[1] < 10 {
		t.Errorf("the upstreams have %v of 40 conversations", first)
	}
}

// The examples of docs/gateway.md are valid.
func TestDocumentedFiles(t *testing.T) {
	page, err := os.ReadFile("../../docs/gateway.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("ANTHROPIC_API_KEY", "k")
	t.Setenv("GOOGLE_API_KEY", "k")
	t.Setenv("AZURE_OPENAI_API_KEY", "k")
	t.Setenv("GEMINI_API_KEY", "k")
	t.Setenv("RESELLER_API_KEY", "k")
	examples := strings.Split(string(page), "\n```json\n")[1:]
	if len(examples) != 2 {
		t.Fatalf("%d examples, want the smallest file and a complete one", len(examples))
	}
	for i, text := range examples {
		text, _, _ = strings.Cut(text, "\n```\n")
		if i == 0 && strings.Count(text, "\n") != 4 {
			t.Errorf("the smallest file has not 5 lines:\n%s", text)
		}
		r, err := readRouting(writeConfig(t, text))
		if err == nil {
			_, _, err = r.upstream()
		}
		if err != nil {
			t.Errorf("%v\n%s", err, text)
		}
		for _, v := range r.vendors {
			used := slices.ContainsFunc(r.routes, func(r route) bool { return slices.Contains(r.vendors, v.name) })
			if !used {
				t.Errorf("no route uses %s", v.name)
			}
		}
	}
	// The complete example shows every member.
	for _, name := range []string{"adapter", "url", "key_env", "models", "reads", "unread", "think_tags", "server", "project", "location", "api_version", "deployments",
		"upstreams", "codes", "refused_keys", "retries", "first_content", "hedge", "spread"} {
		if !strings.Contains(examples[1], `"`+name+`":`) {
			t.Errorf("the complete example has no %s", name)
		}
	}
}

// Routes select the upstream by model, and models are renamed for each upstream.
func TestRoutes(t *testing.T) {
	t.Setenv("CLAUDE_KEY", "k-claude")
	t.Setenv("GEMINI_KEY", "k-gemini")
	claude := anthropic.New(t, anthropic.Options{Key: "k-claude", Models: []string{"vendor-sonnet", "exact"}})
	claude.Always(fake.Text("from claude"))
	gem := gemini.New(t, gemini.Options{Key: "k-gemini", Models: []string{"gemini-x"}})
	gem.Always(fake.Text("from gemini"))
	g := start(t, "-log", "off", "-config", writeConfig(t, `{
		"upstreams": {
			"claude": {"adapter": "anthropic", "url": "`+claude.URL+`", "key_env": "CLAUDE_KEY", "models": {"claude-*": "vendor-*"}},
			"gemini": {"adapter": "gemini", "url": "`+gem.URL+`", "key_env": "GEMINI_KEY", "models": {"*": "gemini-x"}},
			"echo": {"adapter": "echo"}
		},
		"routes": {"claude-*": "claude", "exact": "claude", "*": "gemini", "demo": "echo"}
	}`))
	defer g.stop(t)
	for model, want := range map[string]string{
		"claude-sonnet": "from claude", "exact": "from claude", "anything": "from gemini", "demo": "echo of demo",
	} {
		for path, body := range map[string]string{
			"/v1/messages": `{"model":"` + model + `","max_tokens":999,"messages":[{"role":"user","content":"Hi."}]}`,
			"/v1beta/models/" + model + ":generateContent": `{"contents":[{"parts":[{"text":"Hi."}]}]}`,
		} {
			if status, text := send(t, g.url+path, "any", body); status != http.StatusOK || !strings.Contains(text, want) {
				t.Errorf("%s: %d %s, want %q", model, status, text, want)
			}
		}
	}
	resp := get(t, g.url+"/v1/models", "anthropic-version", "2023-06-01")
	text := read(t, resp)
	want(t, "models", text, `"id":"claude-sonnet"`, `"id":"exact"`, `"id":"gemini-x"`, `"id":"demo"`)
}

// With -model the list of models has that model.
func TestModelList(t *testing.T) {
	g := start(t, "-model", "other-model")
	defer g.stop(t)
	want(t, "models", read(t, get(t, g.url+"/v1/models", "anthropic-version", "2023-06-01")), `"data":[{`, `"id":"other-model"`)
}

func get(t *testing.T, url string, header ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// If an upstream is down, the next one of the route responds. The log has both attempts,
// and /readyz the state of both.
func TestFailover(t *testing.T) {
	spare := anthropic.New(t, anthropic.Options{Key: "k", Models: []string{"m"}})
	spare.Always(fake.Text("from spare"))
	t.Setenv("SPARE_KEY", "k")
	g := start(t, "-log", "json", "-config", writeConfig(t, `{
		"upstreams": {
			"main": {"adapter": "gemini", "url": "http://127.0.0.1:1"},
			"spare": {"adapter": "anthropic", "url": "`+spare.URL+`", "key_env": "SPARE_KEY"},
			"idle": {"adapter": "echo"}
		},
		"routes": {"*": ["main", "spare"], "echo": "idle"}
	}`))
	body := strings.NewReplacer("claude-demo", "m").Replace(streamed)
	resp := post(t, g.url, body)
	want(t, "stream", resp.Status+read(t, resp), "200", "from spare", "event: message_stop\n")
	var ready struct {
		Ready     bool
		Upstreams []map[string]string
	}
	if err := json.NewDecoder(get(t, g.url+"/readyz").Body).Decode(&ready); err != nil {
		t.Fatal(err)
	}
	for _, u := range ready.Upstreams {
		for _, name := range []string{"since", "last"} {
			if _, err := time.Parse(time.RFC3339, u[name]); (err == nil) != (u["name"] != "idle") {
				t.Errorf("%s: %v", name, u)
			}
			delete(u, name)
		}
	}
	if diff := cmp.Diff([]map[string]string{
		{"name": "main", "state": "failing", "code": "unavailable"}, {"name": "spare", "state": "ok"}, {"name": "idle", "state": "unknown"},
	}, ready.Upstreams); diff != "" || !ready.Ready {
		t.Errorf("ready is %v; upstreams (-want +got):\n%s", ready.Ready, diff)
	}
	g.stop(t)
	want(t, "log", g.stderr.String(), `"upstream":"spare"`, `"attempts":"main: unavailable after `, `; spare: ok after `)
}

// An error quotes the beginning of long names and values only.
func TestFileErrorsAreShort(t *testing.T) {
	long := strings.Repeat("é\u0085x", 40_000)
	for _, text := range []string{
		`{"LONG": 1, "upstreams": {"a": {"adapter": "echo"}}}`,
		`{"upstreams": {"a": {"adapter": "echo", "LONG": 1}}}`,
		`{"upstreams": {"LONG": {"adapter": "echo"}, "b": {"adapter": "echo"}}, "routes": {"*": "c"}}`,
		`{"upstreams": {"a": {"adapter": "LONG"}}}`,
		`{"upstreams": {"a": {"adapter": "openai", "reads": "LONG", "unread": "LONG", "think_tags": "LONG", "url": "LONG", "api_version": "LONG"}}}`,
		`{"upstreams": {"a": {"adapter": "openai", "url": "http://h", "api_version": "LONG", "deployments": {"LONG": "LONG"}}}}`,
		`{"upstreams": {"a": {"adapter": "gemini", "url": "https://h", "project": "LONG", "location": "LONG"}}}`,
		`{"upstreams": {"a": {"adapter": "echo", "key_env": "LONG", "models": {"LONG": "LONG", "m": "LONG"}}}}`,
		`{"upstreams": {"a": {"adapter": "echo"}}, "routes": {"LONG": "a"}}`,
		`{"upstreams": {"a": {"adapter": "echo"}}, "routes": {"*": {"upstreams": ["LONG", "LONG"], "codes": ["LONG"], "hedge": "LONG", "LONG": 1}}}`,
		`{"upstreams": {"a": {"adapter": "echo"}}, "LONG": {"LONG": 1}, "LONG": 2}`,
		`{"upstreams": {"a": {"adapter": "echo"}}} LONG`,
	} {
		var stderr strings.Builder
		err := run(t.Context(), nil, []string{"-config", writeConfig(t, strings.ReplaceAll(text, "LONG", long))}, io.Discard, &stderr)
		if !errors.Is(err, errUsage) || stderr.Len() > 5000 {
			t.Errorf("%s: %v; the error has %d bytes: %.2000s", text, err != nil, stderr.Len(), &stderr)
		}
	}
}

// Clients see the names that work, and not those of models that upstreams get.
func TestModelNames(t *testing.T) {
	up := anthropic.New(t, anthropic.Options{Key: "k", Models: []string{"vendor-a", "vendor-b"}})
	t.Setenv("CLAUDE_KEY", "k")
	const echoes = `"echo": {"adapter": "echo"}, "mapped": {"adapter": "echo", "models": {"*": "target"}}, "fixed": {"adapter": "echo", "models": {"fast": "target", "gpt-*": "target"}}`
	for _, tt := range []struct{ name, routes, want string }{
		{"upstream", `"*": "claude"`, "vendor-a vendor-b"},
		{"name and all", `"fast": "mapped", "*": "mapped"`, "fast target"},
		{"pattern over a fixed model", `"gpt-*": "mapped"`, "gpt-target"},
		{"pattern over the same pattern", `"gpt-*": "fixed"`, "gpt-target"},
		{"pattern over a shorter one", `"gpt-5*": ["fixed", "echo"], "*": "claude"`, "gpt-5target vendor-a vendor-b"},
		{"names", `"fast": "fixed", "slow": ["mapped", "echo"]`, "fast slow"},
		{"names of an upstream", `"*": "fixed"`, "echo fast gpt-target"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := start(t, "-log", "off", "-config", writeConfig(t, `{"upstreams": {"claude": {"adapter": "anthropic", "url": "`+up.URL+`", "key_env": "CLAUDE_KEY"}, `+echoes+`}, "routes": {`+tt.routes+`}}`))
			defer g.stop(t)
			var list struct{ Data []struct{ ID string } }
			resp := get(t, g.url+"/v1/models", "anthropic-version", "2023-06-01")
			text := read(t, resp)
			if err := json.Unmarshal([]byte(text), &list); err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, m := range list.Data {
				ids = append(ids, m.ID)
			}
			slices.Sort(ids)
			if got := strings.Join(ids, " "); got != tt.want {
				t.Errorf("%s: got %q, want %q: %s", tt.routes, got, tt.want, text)
			}
		})
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/polywire/polywire/upstream"
)

// readRouting reads the file of -config, and tries the adapters. The error lists everything that is invalid,
// each with its path in the file.
func readRouting(name string) (*routing, error) {
	text, err := os.ReadFile(name)
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return nil, failed.Err // the caller adds the name
	}
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return nil, errors.New(`want a JSON object, such as {"upstreams": {"a": {"adapter": "echo"}}}`)
	}
	if err := checkSyntax(text); err != nil {
		return nil, err
	}
	var f file
	f.read(text)
	return &f.routing, errors.Join(f.errs...)
}

// checkSyntax returns an error if text is not JSON. The error has a line and a column.
func checkSyntax(text []byte) error {
	err := json.Unmarshal(text, new(json.RawMessage))
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	before := text[:max(0, min(int(syntax.Offset)-1, len(text)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("line %d, column %d: %w", line, column, err)
}

// A file is a file of -config that is being read.
type file struct {
	routing
	errs []error
}

// A problem is an error at a path of the file, or in a flag.
type problem struct{ path, text string }

func (p *problem) Error() string { return p.path + ": " + p.text }

// newProblem returns a problem whose text is formatted.
func newProblem(path, format string, args ...any) error {
	return &problem{path, fmt.Sprintf(format, args...)}
}

// fail records an error at a path.
func (f *file) fail(path, format string, args ...any) {
	f.errs = append(f.errs, newProblem(path, format, args...))
}

// failed reports whether an error is recorded at a path or below it.
func (f *file) failed(path string) bool {
	return slices.ContainsFunc(f.errs, func(err error) bool {
		p := err.(*problem).path
		return p == path || strings.HasPrefix(p, path) && strings.ContainsAny(p[len(path):][:1], ".[")
	})
}

// maxQuoted is the number of bytes of a name or a value that an error quotes.
const maxQuoted = 64

// clip returns the beginning of s, for error texts.
func clip(s string) string {
	if len(s) <= maxQuoted {
		return s
	}
	return strings.ToValidUTF8(s[:maxQuoted], "") + "…"
}

// unknown records an unknown member.
func (f *file) unknown(path string, want ...string) {
	f.fail(path, "unknown member; want %s", orList(want))
}

func (f *file) read(text []byte) {
	f.object("", bytes.TrimSpace(text), func(path, name string, value []byte) {
		switch name {
		case "upstreams":
			f.object(path, value, f.vendor)
		case "routes":
			f.object(path, value, f.route)
		default:
			f.fail(path, "unknown member; want upstreams or routes; all other settings are flags")
		}
	})
	var names []string
	for _, v := range f.vendors {
		names = append(names, v.name)
	}
	switch {
	case len(names) == 0 && f.failed("upstreams"), len(f.routes) == 0 && f.failed("routes"):
	case len(names) == 0:
		f.fail("upstreams", `is required; want at least one, such as {"a": {"adapter": "echo"}}`)
	case len(f.routes) > 0:
	case len(names) == 1:
		f.routes = []route{{pattern: "*", vendors: names}}
	default:
		example, _ := json.Marshal(map[string][]string{"*": names[:2]})
		f.fail("routes", "is required if there are several upstreams, such as %s", example)
	}
	for _, r := range f.routes {
		for i, name := range r.vendors {
			switch {
			case name == "" && len(f.errs) > 0: // not a string
			case !slices.Contains(names, name):
				f.fail(join("routes", r.pattern), "there is no upstream %q; want %s", clip(name), orList(names))
			case slices.Contains(r.vendors[:i], name):
				f.fail(join("routes", r.pattern), "%q is listed twice; to call an upstream again, set retries", clip(name))
			}
		}
	}
}

// vendor reads a member of upstreams.
func (f *file) vendor(path, name string, value []byte) {
	v := &vendor{name: name, setting: func(field string) string { return join(path, field) }}
	f.vendors = append(f.vendors, v)
	if len(name) == 0 || len(name) > 64 || !simple.MatchString(name) {
		f.fail(path, "a name of an upstream must have 1 to 64 letters, digits, dots, hyphens or underscores")
	}
	f.object(path, value, func(path, name string, value []byte) {
		switch name {
		case "adapter":
			v.adapter = f.string(path, value)
		case "url":
			v.url = f.string(path, value)
		case "key_env":
			v.keyEnv = f.keyEnv(path, value)
		case "models":
			f.object(path, value, func(path, pattern string, value []byte) {
				model := f.string(path, value)
				v.models = append(v.models, modelName{pattern, model})
				before, star := strings.CutSuffix(model, "*")
				switch {
				case !f.pattern(path, pattern) || kind(value) != "a string":
				case model == "" || strings.Contains(before, "*") || star && !strings.HasSuffix(pattern, "*"):
					f.fail(path, "want the name of a model; it may end in a star if the pattern ends in one")
				case !isModel(model):
					f.fail(path, "%q is not the name of a model: %s", clip(model), modelRule)
				}
			})
		case "reads":
			v.reads = f.string(path, value)
		case "unread":
			v.unread = f.string(path, value)
		case "think_tags":
			v.thinkTags = f.string(path, value)
		case "server":
			v.server = f.string(path, value)
		case "project":
			v.project = f.string(path, value)
		case "location":
			v.location = f.string(path, value)
		case "api_version":
			v.apiVersion = f.string(path, value)
		case "deployments":
			v.deployments = make(map[string]string)
			f.object(path, value, func(path, model string, value []byte) {
				v.deployments[model] = f.string(path, value)
				if !isModel(model) {
					f.fail(path, "%q is not the name of a model: %s", clip(model), modelRule)
				}
			})
		case "key", "api_key":
			f.fail(path, "unknown member; a key does not belong in this file: want key_env with the name of an environment variable")
		case "model":
			f.fail(path, `unknown member; to use one model for all requests, want "models": {"*": "NAME"}`)
		default:
			f.unknown(path, "adapter", "url", "key_env", "models", "reads", "unread", "think_tags", "server", "project", "location", "api_version", "deployments")
		}
	})
	if v.adapter == "echo" && v.keyEnv != "" {
		f.fail(join(path, "key_env"), "echo has no key")
	}
	_, problems := v.build(nil)
	for _, err := range problems {
		if !f.failed(err.(*problem).path) {
			f.errs = append(f.errs, err)
		}
	}
	keyFailed := slices.ContainsFunc([]string{"key_env", "key", "api_key"}, func(name string) bool { return f.failed(join(path, name)) })
	if len(problems) == 0 && !keyFailed && v.lacksKey() {
		f.errs = append(f.errs, v.needsKey())
	}
}

// modelRule is the rule of [isModel], for error texts.
const modelRule = "want 1 to 1024 bytes of UTF-8 without spaces at the ends, line breaks and other control characters"

// isModel reports whether s can be the name of a model, or a pattern for names.
func isModel(s string) bool {
	return s != "" && len(s) <= 1024 && s == strings.TrimSpace(s) && isText(s)
}

// isText reports whether s has neither control characters nor invalid UTF-8.
func isText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// keyEnv reads the name of an environment variable. Errors do not quote it, because it
// may be a key.
func (f *file) keyEnv(path string, value []byte) string {
	name := f.string(path, value)
	switch {
	case !variable.MatchString(name):
		f.fail(path, "want the name of an environment variable, such as GEMINI_API_KEY, not the key itself")
	case os.Getenv(name) == "":
		f.fail(path, "the environment variable with this name is empty or not set")
	}
	return name
}

var (
	variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	simple   = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
)

// pattern reports whether a pattern for models is valid, and records an error if not.
func (f *file) pattern(path, pattern string) bool {
	if pattern == "" || strings.Contains(strings.TrimSuffix(pattern, "*"), "*") {
		f.fail(path, "want the name of a model, or the beginning of one and a star")
		return false
	}
	if !isModel(pattern) {
		f.fail(path, "%q is not the name of a model: %s", clip(pattern), modelRule)
		return false
	}
	return true
}

// route reads a member of routes: the name of an upstream, a list of names, or an object.
func (f *file) route(path, pattern string, value []byte) {
	f.pattern(path, pattern)
	r := route{pattern: pattern}
	switch kind(value) {
	case "a string":
		r.vendors = []string{f.string(path, value)}
	case "an array":
		r.failover = new(upstream.FailoverOptions)
		r.vendors = f.strings(path, value)
	case "an object":
		r.failover = new(upstream.FailoverOptions)
		f.failover(&r, path, value)
	default:
		f.fail(path, "want the name of an upstream, a list of names, or an object with upstreams, not %s", kind(value))
	}
	f.routes = append(f.routes, r)
}

// failover reads the object of a route.
func (f *file) failover(r *route, path string, value []byte) {
	found, spread := false, false
	f.object(path, value, func(path, name string, value []byte) {
		o := r.failover
		switch name {
		case "upstreams":
			r.vendors, found = f.strings(path, value), true
		case "codes":
			for i, s := range f.strings(path, value) {
				c := upstream.Code(s)
				if !slices.Contains(codes, c) {
					f.fail(join(path, strconv.Itoa(i)), "unknown code %q; want %s", clip(s), orList(codes))
				}
				o.Codes = append(o.Codes, c)
			}
		case "refused_keys":
			o.RefusedKeys = f.bool(path, value)
		case "retries":
			if o.Retries = f.int(path, value, 0, 100); o.Retries == 0 {
				o.Retries = -1 // for Failover 0 means the default
			}
		case "first_content":
			o.FirstContent = f.duration(path, value)
		case "hedge":
			o.Hedge = f.duration(path, value)
		case "spread":
			spread = f.bool(path, value)
		default:
			f.unknown(path, "upstreams", "codes", "refused_keys", "retries", "first_content", "hedge", "spread")
		}
	})
	names := slices.Compact(slices.Sorted(slices.Values(r.vendors)))
	if spread && len(names) == len(r.vendors) { // a name that is listed twice is reported elsewhere
		r.failover.Order = upstream.SessionOrder(r.vendors...)
	}
	hedge := join(path, "hedge")
	switch o := r.failover; {
	case !found:
		f.fail(join(path, "upstreams"), "is required; want a list of names")
	case o.Hedge > 0 && len(r.vendors) == 1:
		f.fail(hedge, "there is no second upstream that could be called")
	case o.Hedge > 0 && o.FirstContent > 0 && o.Hedge >= o.FirstContent:
		f.fail(hedge, "want less than first_content, %v, at which the attempt ends", o.FirstContent)
	}
}

// codes are the codes of errors of upstreams.
var codes = []upstream.Code{
	upstream.CodeOverloaded, upstream.CodeRateLimit, upstream.CodeUnavailable, upstream.CodeTimeout, upstream.CodeBadGateway,
	upstream.CodeQuota, upstream.CodeBilling, upstream.CodePermission, upstream.CodeNotFound, upstream.CodeInternal, upstream.CodeUnsupported,
}

// object calls member for each member of an object, in the order of the file.
func (f *file) object(path string, value []byte, member func(path, name string, value []byte)) {
	if kind(value) != "an object" {
		f.fail(path, "want an object, not %s", kind(value))
		return
	}
	d := json.NewDecoder(bytes.NewReader(value)) // value is valid, so nothing below fails
	_, _ = d.Token()
	seen := map[string]bool{}
	for d.More() {
		t, _ := d.Token()
		name, _ := t.(string)
		var v json.RawMessage
		_ = d.Decode(&v)
		if seen[name] {
			f.fail(join(path, name), "is set twice")
			continue
		}
		seen[name] = true
		member(join(path, name), name, v)
	}
}

// decode returns a value. If its kind is not want, it records an error.
func decode[T any](f *file, path string, value []byte, want string) (v T) {
	if kind(value) != want {
		f.fail(path, "want %s, not %s", want, kind(value))
		return v
	}
	_ = json.Unmarshal(value, &v) // cannot fail
	return v
}

func (f *file) string(path string, value []byte) string {
	return decode[string](f, path, value, "a string")
}

func (f *file) bool(path string, value []byte) bool {
	return decode[bool](f, path, value, "true or false")
}

// int reads an integer from least to most.
func (f *file) int(path string, value []byte, least, greatest int) int {
	n, err := strconv.Atoi(string(value))
	if err != nil || n < least || n > greatest {
		f.fail(path, "want an integer from %d to %d", least, greatest)
	}
	return n
}

// strings reads a list of strings that is not empty.
func (f *file) strings(path string, value []byte) []string {
	var list []string
	for i, v := range decode[[]json.RawMessage](f, path, value, "an array") {
		list = append(list, f.string(join(path, strconv.Itoa(i)), v))
	}
	if kind(value) == "an array" && len(list) == 0 {
		f.fail(path, "is empty; want at least one string")
	}
	return list
}

// duration reads a duration such as "20s".
func (f *file) duration(path string, value []byte) time.Duration {
	if kind(value) != "a string" {
		f.fail(path, `want a duration with a unit, such as "20s", not %s`, kind(value))
		return 0
	}
	s := f.string(path, value)
	d, err := time.ParseDuration(s)
	if err != nil || d < time.Millisecond || d > maxTime {
		f.fail(path, `%q is not a duration from 1ms to %v; want a number with a unit, such as "20s"`, clip(s), maxTime)
	}
	return d
}

// kind returns the kind of a JSON value with its article.
func kind(value []byte) string {
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "a number"
}

// join returns the path of a member.
func join(path, name string) string {
	switch {
	case path == "" && len(name) <= maxQuoted && isText(name):
		return name
	case !simple.MatchString(name) || strings.Contains(name, "."):
		return fmt.Sprintf("%s[%q]", path, clip(name))
	case len(name) > maxQuoted:
		name = clip(name)
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// orList returns "a, b or c".
func orList[S ~string](names []S) string {
	var b strings.Builder
	for i, n := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(clip(string(n)))
	}
	return b.String()
}

package conformance

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"
	"google.golang.org/genai"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
)

// The tests of this file walk the request types of the vendors' Go SDKs. For each member they
// send a request that has only this member, and those above it. Strict knows its name.

// A variant is a value of a type of an SDK in which one member is set.
type variant struct {
	path  string // the Go fields
	value reflect.Value
}

// variants returns a variant for each member below t. within are the structs above t: a type
// that contains itself is walked once.
func variants(t reflect.Type, path string, within []reflect.Type) []variant {
	if s, ok := sample(t); ok {
		return []variant{{path, s}}
	}
	var list []variant
	switch t.Kind() {
	case reflect.Pointer:
		for _, v := range variants(t.Elem(), path, within) {
			p := reflect.New(t.Elem())
			p.Elem().Set(v.value)
			list = append(list, variant{v.path, p})
		}
	case reflect.Slice:
		for _, v := range variants(t.Elem(), path, within) {
			s := reflect.MakeSlice(t, 1, 1)
			s.Index(0).Set(v.value)
			list = append(list, variant{v.path, s})
		}
	case reflect.Map:
		for _, v := range variants(t.Elem(), path, within) {
			m := reflect.MakeMap(t)
			m.SetMapIndex(reflect.ValueOf("k").Convert(t.Key()), v.value)
			list = append(list, variant{v.path, m})
		}
	case reflect.Struct:
		if slices.Contains(within, t) {
			return nil
		}
		within = append(slices.Clone(within), t)
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() || f.Anonymous || f.Tag.Get("json") == "-" {
				continue
			}
			for _, v := range variants(f.Type, path+"."+f.Name, within) {
				s := reflect.New(t).Elem()
				if !isUnion(t) {
					s = smallest(t)
				}
				s.Field(i).Set(v.value)
				list = append(list, variant{v.path, s})
			}
		}
		if len(list) == 0 {
			list = append(list, variant{path, smallest(t)})
		}
	}
	return list
}

// smallest returns a value of a type with only the members that the SDK marks as required.
func smallest(t reflect.Type) reflect.Value {
	if s, ok := sample(t); ok {
		return s
	}
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(smallest(t.Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(t, 1, 1))
		v.Index(0).Set(smallest(t.Elem()))
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(reflect.ValueOf("k").Convert(t.Key()), smallest(t.Elem()))
	case reflect.Struct:
		for i := range t.NumField() {
			switch f := t.Field(i); {
			case !f.IsExported() || f.Anonymous:
			case f.Name == "Role":
				v.Field(i).SetString("user")
			case f.Tag.Get("api") == "required", f.Name == "Properties" && f.Type.Kind() == reflect.Interface,
				f.Name == "Content" && t.Name() == "BetaSystemMessageParam": // required by the vendor
				v.Field(i).Set(smallest(f.Type))
			case isUnion(t):
				v.Field(i).Set(smallest(f.Type))
				return v
			}
		}
	}
	return v
}

// isUnion reports whether at most one field of a struct of anthropic-sdk-go is set.
func isUnion(t reflect.Type) bool {
	_, ok := t.FieldByName("paramUnion")
	return ok
}

// count is not below the limits of any member.
const count = 50_000

// sample returns a value of a type without members.
func sample(t reflect.Type) (reflect.Value, bool) {
	switch t {
	case reflect.TypeFor[time.Time]():
		return reflect.ValueOf(time.Unix(1e9, 0).UTC()), true
	case reflect.TypeFor[param.Opt[string]]():
		return reflect.ValueOf(param.NewOpt("x")), true
	case reflect.TypeFor[param.Opt[bool]]():
		return reflect.ValueOf(param.NewOpt(true)), true
	case reflect.TypeFor[param.Opt[int64]]():
		return reflect.ValueOf(param.NewOpt[int64](count)), true
	case reflect.TypeFor[param.Opt[float64]]():
		return reflect.ValueOf(param.NewOpt(1.0)), true
	}
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.String:
		if _, ok := t.MethodByName("Default"); !ok { // the SDK writes a constant itself
			v.SetString("x")
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(time.Second))
		if t != reflect.TypeFor[time.Duration]() {
			v.SetInt(count)
		}
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1)
	case reflect.Interface:
		if t.NumMethod() > 0 {
			return v, false
		}
		v.Set(reflect.ValueOf(map[string]any{"type": "object"}))
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			return v, false
		}
		v.SetBytes([]byte("data"))
	default:
		return v, false
	}
	return v, true
}

// A bodyKeeper keeps the body of the last request, and sends none.
type bodyKeeper struct{ body []byte }

func (k *bodyKeeper) RoundTrip(r *http.Request) (*http.Response, error) {
	k.body, _ = io.ReadAll(r.Body)
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(`{}`)), Request: r}, nil
}

// strictGoogle and strictMessages return the violations of a document because of members that
// Strict does not know. Other violations do not matter.
func strictGoogle(body string) []string {
	doc, err := generatecontent.ParseRequest([]byte(body))
	if err == nil {
		err = doc.Validate(&generatecontent.ValidateOptions{Strict: true})
	}
	return unknownNames(err, "Unknown name")
}

func strictMessages(body string) []string {
	doc, err := messages.ParseRequest([]byte(body))
	if err == nil {
		err = doc.Validate(&messages.ValidateOptions{Strict: true})
	}
	return unknownNames(err, "Extra inputs")
}

func unknownNames(err error, text string) (list []string) {
	all, _ := content.Violations(err)
	for _, v := range all {
		if strings.Contains(v.Text, text) {
			list = append(list, v.Error())
		}
	}
	return list
}

// TestGoogleMembers walks contents and the configuration of google.golang.org/genai, in both
// modes of its client, because each refuses members of the other.
func TestGoogleMembers(t *testing.T) {
	type request struct {
		Contents []*genai.Content
		Config   *genai.GenerateContentConfig
	}
	kept := new(bodyKeeper)
	var clients []*genai.Client
	for _, mode := range []genai.Backend{genai.BackendGeminiAPI, genai.BackendVertexAI} {
		c, err := genai.NewClient(t.Context(), &genai.ClientConfig{Backend: mode, APIKey: "k", HTTPClient: &http.Client{Transport: kept}})
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, c)
	}
	unknown, sent := make(map[string]string), 0
	for _, v := range variants(reflect.TypeFor[request](), "", nil) {
		if strings.HasPrefix(v.path, ".Config.HTTPOptions") {
			continue // not in the body
		}
		r := v.value.Interface().(request)
		if r.Contents == nil {
			r.Contents = genai.Text("a")
		}
		for _, c := range clients {
			kept.body = nil
			_, _ = c.Models.GenerateContent(t.Context(), "m", r.Contents, r.Config)
			if kept.body == nil {
				continue // the SDK refuses the member in this mode
			}
			sent++
			for _, text := range strictGoogle(string(kept.body)) {
				unknown[v.path] = text
			}
		}
	}
	checkMembers(t, unknown, sent, strictGoogle(`{"contents":[{"parts":[{"text":"a","unknown_member":1}]}]}`))
}

// TestMessagesMembers walks the parameters of anthropic-sdk-go, with and without betas.
func TestMessagesMembers(t *testing.T) {
	unknown, sent := make(map[string]string), 0
	for _, root := range []reflect.Type{reflect.TypeFor[anthropic.BetaMessageNewParams](), reflect.TypeFor[anthropic.MessageNewParams]()} {
		for _, v := range variants(root, root.Name(), nil) {
			body, err := json.Marshal(v.value.Interface())
			if err != nil {
				continue // a union without its variant
			}
			sent++
			for _, text := range strictMessages(string(body)) {
				unknown[v.path] = text
			}
			if _, err := messages.ParseRequest(body); err != nil {
				t.Errorf("%s: members below the error are not checked: %v", v.path, err)
			}
		}
	}
	checkMembers(t, unknown, sent, strictMessages(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"a","unknown_member":1}]}]}`))
}

// checkMembers checks that no member is unknown, that enough were sent, and that control, the
// error of a document with an unknown member, has one. A member that Strict should refuse
// needs an exception here, with the reason.
func checkMembers(t *testing.T, unknown map[string]string, sent int, control []string) {
	t.Helper()
	for _, path := range slices.Sorted(maps.Keys(unknown)) {
		t.Errorf("%s: Strict does not know the member: %s", path, unknown[path])
	}
	if sent < 300 || len(control) != 1 {
		t.Errorf("%d requests were sent; the control: %q", sent, control)
	}
}

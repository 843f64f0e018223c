package responses

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/reqctx"
	"github.com/polywire/polywire/upstream"
)

// A stored response is the JSON object {"input":[…],"response":{…}}: all items of its
// conversation, and the response. An item is found by its id, which has the random part of the id of
// its response. Items that a server of this format has made have other ids: under each there is a
// value {"item":{…}}.

var lossNotStored = loss.Degraded(loss.ResponseMembers, "the response was not stored, because it is too large or the store failed; later requests cannot refer to it")

// A session is the access of one client to a store.
type session struct {
	ctx    context.Context
	store  Store
	client string

	input    string // the items of the conversation, as a JSON array
	previous string // previous_response_id as JSON text, or empty
	added    int    // items before those of the request
	skips    bool   // the request has "store": false

	found map[string]string // stored items by their ids, and "" for the ids of loaded responses
}

// newSession returns the session of the client that sent r. ctx is the context of the request.
func (d *dialect) newSession(ctx context.Context, r *http.Request) *session {
	if !reqctx.HasClient(ctx) {
		for _, key := range d.Keys(r) {
			if key != "" {
				ctx = reqctx.WithClient(ctx, key)
				break
			}
		}
	}
	return &session{ctx: ctx, store: d.Store, client: reqctx.Client(ctx)}
}

// decode parses and validates a request document with the stored items to which it refers.
func (s *session) decode(body string, opts *ValidateOptions) (*Request, error) {
	r, err := parseRequest(body, opts.Limits)
	if r == nil {
		return nil, err
	}
	switch body, err = s.expand(r, opts.Limits); {
	case err != nil:
		return nil, err
	case body == "":
		return r, r.Validate(opts)
	}
	r, err = decodeRequest(body, opts)
	return r, s.shift(err)
}

// expand returns the body of a request with the stored items to which it refers in their places, or ""
// if there are none. One that becomes larger than the limit of bodies is an error.
func (s *session) expand(r *Request, lim content.Limits) (string, error) {
	limit := cmp.Or(lim.Body, maxBody)
	s.skips = r.Store != nil && !*r.Store
	input := gjson.Parse(r.origin.Replaced("input"))
	switch {
	case input.Type == gjson.String:
		input = gjson.Parse(`[{"type":"message","role":"user","content":` + input.Raw + "}]")
	case !input.Exists():
		input = gjson.Parse("[]")
	case !input.IsArray():
		return "", nil // parsing has reported it
	}
	var items []byte
	previous, _ := r.Extra.Get(memberPrevious)
	if id := gjson.Parse(previous).Str; id != "" {
		s.previous = previous
		v, err := s.store.Load(s.ctx, s.client, id)
		if err != nil {
			return "", s.notFound(err, memberPrevious, "Previous response with id '"+codec.Clip(id)+"' not found.")
		}
		for _, list := range [...]gjson.Result{gjson.GetBytes(v, "input"), gjson.GetBytes(v, "response.output")} {
			list.ForEach(func(_, item gjson.Result) bool {
				items = appendElement(items, item.Raw)
				s.added++
				return true
			})
		}
	}
	isReference := func(i Item) bool { return i.Type == typeReference }
	if s.previous == "" && !slices.ContainsFunc(r.Input, isReference) { // one pass
		if !s.skips {
			s.input = input.Raw
		}
		return "", nil
	}
	for i, item := range input.Array() {
		json := item.Raw
		if id := r.Input[i].ID; isReference(r.Input[i]) {
			var err error
			if json, err = s.item(id); err != nil {
				return "", s.notFound(err, "input["+strconv.Itoa(i)+"].id", "Item with id '"+codec.Clip(id)+"' not found.")
			}
		}
		if items = appendElement(items, json); int64(len(items)) > limit {
			return "", tooLarge(limit)
		}
	}
	s.input, s.found = "["+string(items)+"]", nil
	var w jsonwire.Writer
	w.BeginObject()
	gjson.Parse(r.origin.Body).ForEach(func(name, v gjson.Result) bool {
		if name.Str != "input" && (name.Str != memberPrevious || s.previous == "") {
			w.RawMember(name.Str, v.Raw)
		}
		return true
	})
	w.RawMember("input", s.input)
	w.EndObject()
	if int64(w.Len()) > limit {
		return "", tooLarge(limit)
	}
	return w.Text(), nil
}

func tooLarge(limit int64) error {
	return &handler.Failure{Code: upstream.CodeTooLarge, Limit: limit, Reason: "the request with the stored items is too large"}
}

func appendElement(list []byte, json string) []byte {
	if len(list) > 0 {
		list = append(list, ',')
	}
	return append(list, json...)
}

// item returns a stored item. It loads each response once.
func (s *session) item(id string) (string, error) {
	if s.found == nil {
		s.found = make(map[string]string)
	}
	if random, ok := randomPart(id); ok {
		response := responsePrefix + random
		if _, loaded := s.found[response]; !loaded {
			v, err := s.store.Load(s.ctx, s.client, response)
			if err != nil && !errors.Is(err, ErrNotStored) {
				return "", err
			}
			s.found[response] = ""
			gjson.GetBytes(v, "response.output").ForEach(func(_, item gjson.Result) bool {
				s.found[item.Get("id").Str] = item.Raw
				return true
			})
		}
	}
	if s.found[id] == "" {
		v, err := s.store.Load(s.ctx, s.client, id)
		if err != nil {
			return "", err
		}
		s.found[id] = gjson.GetBytes(v, "item").Raw
	}
	if s.found[id] == "" {
		return "", ErrNotStored
	}
	return s.found[id], nil
}

// randomSize is the length of the random part of an id, that of [rand.Text].
const randomSize = 26

// randomPart returns what the id of an item that an [encoder] has made shares with the id of its
// response.
func randomPart(id string) (random string, ok bool) {
	list := strings.Split(id, "_")
	if len(list) != 3 {
		return "", false
	}
	return list[1], true
}

// isSentID reports whether an id has the form of those that an [encoder] makes for items.
func isSentID(id string) bool {
	random, ok := randomPart(id)
	if !ok || len(random) != randomSize {
		return false
	}
	for i := range len(random) {
		if c := random[i]; (c < 'A' || c > 'Z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}

// notFound returns the failure of a request that refers to what is not stored.
func (s *session) notFound(err error, path, text string) error {
	if !errors.Is(err, ErrNotStored) {
		return storeFailure(err)
	}
	return &handler.Failure{Code: upstream.CodeInvalid, Reason: "the request refers to what is not stored",
		Violations: []*content.Violation{{Code: content.CodeUnsupported, Vendor: vendorState, Path: path,
			Text: text + " It is not stored, or no longer: send all items of the conversation as `input`."}}}
}

func storeFailure(err error) error {
	return &handler.Failure{Code: upstream.CodeUnavailable, Reason: "the store failed", Err: err}
}

// shift converts the paths of violations of the expanded body to those of the client's document.
func (s *session) shift(err error) error {
	if s.added == 0 {
		return err
	}
	return content.MapPaths(err, func(path string) string {
		if rest, ok := strings.CutPrefix(path, "input["); ok {
			index, after, _ := strings.Cut(rest, "]")
			if n, err := strconv.Atoi(index); err == nil && n >= s.added {
				return "input[" + strconv.Itoa(n-s.added) + "]" + after
			}
			return memberPrevious
		}
		return path
	})
}

// save stores the response with an id. items are its output.
func (s *session) save(id string, response []byte, items []*item) error {
	value := append([]byte(`{"input":`), s.input...)
	value = append(append(append(value, `,"response":`...), response...), '}')
	if err := s.store.Save(s.ctx, s.client, id, value); err != nil {
		return err
	}
	random := strings.TrimPrefix(id, responsePrefix)
	for _, it := range items {
		if it.kind != otherItem {
			continue
		}
		own := gjson.GetBytes(it.json, "id").Str
		if part, ok := randomPart(own); own == "" || ok && part == random {
			continue
		}
		value := append(append([]byte(`{"item":`), it.json...), '}')
		if err := s.store.Save(s.ctx, s.client, own, value); err != nil {
			return err
		}
	}
	return nil
}

// saveResponse stores the complete response. If that fails, the response has "store": false.
func (s *encoder) saveResponse(status string) {
	if s.session == nil || !s.settings.store {
		return
	}
	sent := s.items
	s.items = slices.Clone(sent)
	for i, it := range sent {
		if it.state != "" { // only the stored item has it
			c := *it
			c.json = jsonwire.AppendString(append(slices.Clip(it.json[:len(it.json)-1]), `,"encrypted_content":`...), it.state)
			c.json = append(c.json, '}')
			s.items[i] = &c
		}
	}
	if s.dropped || s.session.save(s.id, s.appendResponse(nil, status, nil), s.items) != nil {
		s.settings.store = false
		s.LoseAt("store", lossNotStored)
	}
	s.items = sent
}

// load returns a stored response with its input.
func (s *session) load(id string) (stored gjson.Result, err error) {
	v, err := s.store.Load(s.ctx, s.client, id)
	stored = gjson.ParseBytes(v)
	if err == nil && !stored.Get("response").Exists() {
		err = ErrNotStored // an item
	}
	return stored, err
}

// missing returns the failure of a request for a stored response.
func missing(id string, err error) error {
	if !errors.Is(err, ErrNotStored) {
		return storeFailure(err)
	}
	return &handler.Failure{Code: upstream.CodeNotFound, Detail: handler.DetailPath, Reason: "the response is not stored",
		Text: "Response with id '" + handler.OneLine(id, 128) + "' not found."}
}

// storedRoute returns the route of GET and DELETE …/responses/{id}.
func (d *dialect) storedRoute(r *http.Request, id string) *handler.Route {
	route := &handler.Route{Method: http.MethodGet}
	if r.Method == http.MethodDelete {
		route.Method = http.MethodDelete
	}
	route.Parse = func(_ string, r *http.Request, _ string) (*handler.Operation, error) {
		return &handler.Operation{Mode: "stored", Run: func(ctx context.Context, _ upstream.Upstream) (*jsonwire.Writer, error) {
			s, w := d.newSession(ctx, r), new(jsonwire.Writer)
			stored, err := s.load(id)
			if err == nil && route.Method == http.MethodDelete {
				err = s.store.Delete(ctx, s.client, id)
			}
			switch {
			case err != nil:
				return nil, missing(id, err)
			case route.Method == http.MethodGet:
				w.Raw(stored.Get("response").Raw)
				return w, nil
			}
			w.BeginObject()
			w.Member("id", id)
			w.Member("object", "response")
			w.BoolMember("deleted", true)
			w.EndObject()
			return w, nil
		}}, nil
	}
	return route
}

// The number of items in a page of …/input_items.
const (
	defaultPage = 20
	maxPage     = 100
)

// A page is what a request for …/input_items asks for.
type page struct {
	limit     int
	after     string // id of an item; empty means the beginning
	ascending bool
}

// pageOf returns the page that r asks for.
func pageOf(r *http.Request) (p page, err error) {
	q := r.URL.Query()
	p = page{limit: defaultPage, after: q.Get("after"), ascending: q.Get("order") == "asc"}
	refuse := func(name, text string) error {
		return &content.Violation{Code: content.CodeValue, Path: name, Text: "Invalid '" + name + "': it must be " + text + "."}
	}
	if s := q.Get("limit"); s != "" {
		if p.limit, err = strconv.Atoi(s); err != nil || p.limit < 1 || p.limit > maxPage {
			return p, refuse("limit", "a number between 1 and "+strconv.Itoa(maxPage))
		}
	}
	if order := q.Get("order"); order != "" && order != "asc" && order != "desc" {
		return p, refuse("order", "'asc' or 'desc'")
	}
	return p, nil
}

// inputItemsRoute returns the route of GET …/responses/{id}/input_items: the items of the conversation
// before the response, the last one first unless the client asks for the other order.
func (d *dialect) inputItemsRoute(id string) *handler.Route {
	return &handler.Route{Method: http.MethodGet, Parse: func(_ string, r *http.Request, _ string) (*handler.Operation, error) {
		p, err := pageOf(r)
		if err != nil {
			return nil, err
		}
		return &handler.Operation{Mode: "stored", Run: func(ctx context.Context, _ upstream.Upstream) (*jsonwire.Writer, error) {
			stored, err := d.newSession(ctx, r).load(id)
			if err != nil {
				return nil, missing(id, err)
			}
			return p.write(strings.TrimPrefix(id, responsePrefix), stored.Get("input")), nil
		}}, nil
	}}
}

// write writes a page of items. random is the random part of the id of the response.
func (p *page) write(random string, input gjson.Result) *jsonwire.Writer {
	items := input.Array()
	ids := make([]string, len(items))
	for i, item := range items {
		if ids[i] = item.Get("id").Str; ids[i] == "" {
			ids[i] = "msg_" + random + "_i" + strconv.Itoa(i)
		}
	}
	next := func(i int) int { return i - 1 }
	at := len(items) - 1
	if p.ascending {
		next, at = func(i int) int { return i + 1 }, 0
	}
	for p.after != "" && at >= 0 && at < len(items) {
		found := ids[at] == p.after
		if at = next(at); found {
			break
		}
	}
	w, first, last := new(jsonwire.Writer), "", ""
	w.BeginObject()
	w.Member("object", "list")
	w.Array("data")
	for n := 0; n < p.limit && at >= 0 && at < len(items); n++ {
		writeInputItem(w, ids[at], items[at])
		if last = ids[at]; n == 0 {
			first = last
		}
		at = next(at)
	}
	w.EndArray()
	for _, m := range [...]struct{ name, id string }{{"first_id", first}, {"last_id", last}} {
		w.Name(m.name)
		if m.id == "" {
			w.Null()
		} else {
			w.String(m.id)
		}
	}
	w.BoolMember("has_more", at >= 0 && at < len(items))
	w.EndObject()
	return w
}

// writeInputItem writes an item with what clients may leave out: its id, the type of a message, and
// the list of its parts.
func writeInputItem(w *jsonwire.Writer, id string, item gjson.Result) {
	role, text := item.Get("role").Str, item.Get("content")
	isMessage := role != "" && (item.Get("type").Str == "" || item.Get("type").Str == typeMessage)
	w.BeginObject()
	w.Member("id", id)
	if isMessage {
		w.Member("type", typeMessage)
		if !item.Get("status").Exists() {
			w.Member("status", "completed")
		}
	}
	item.ForEach(func(name, v gjson.Result) bool {
		switch {
		case name.Str == "id", isMessage && name.Str == "type":
			return true
		case isMessage && name.Str == "content" && text.Type == gjson.String:
			w.Array("content")
			w.BeginObject()
			w.Name("type")
			if role == roleAssistant {
				w.String("output_text")
				w.RawMember("annotations", "[]")
			} else {
				w.String("input_text")
			}
			w.RawMember("text", text.Raw)
			w.EndObject()
			w.EndArray()
			return true
		}
		w.RawMember(name.Str, v.Raw)
		return true
	})
	w.EndObject()
}

package responses

import (
	"cmp"
	"context"
	"errors"
	"net/http"
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

var lossNotStored = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossDegraded,
	Reason: "the response was not stored, because it is too large or the store failed; later requests cannot refer to it"}

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
	return &session{ctx: ctx, store: d.store, client: reqctx.Client(ctx)}
}

// expand returns the body of a request with the stored items to which it refers in their places. A
// body that cannot be parsed is returned as it is: [decodeRequest] reports it. One that becomes
// larger than the limit of bodies is an error.
func (s *session) expand(body string, lim content.Limits) (string, error) {
	limit := cmp.Or(lim.Body, maxBody)
	doc, err := jsonwire.Parse(body, jsonwire.Limits{Depth: lim.Depth, Values: lim.Values})
	if err != nil || doc.Root().Kind() != jsonwire.Object {
		return body, nil
	}
	defer doc.Close()
	root := doc.Root()
	previous, input := root.Get(memberPrevious), root.Get("input")
	s.skips = root.Get("store").Kind() == jsonwire.False
	var items []byte
	if id := previous.Str(); id != "" {
		s.previous = strings.Clone(previous.Raw())
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
	changed := s.added > 0 || s.previous != ""
	switch input.Kind() {
	case jsonwire.String:
		items = append(appendElement(items, `{"type":"message","role":"user","content":`+input.Raw()), '}')
	case jsonwire.Array:
		for i, item := range input.Elems() {
			json := item.Raw()
			if isReference(item) {
				id := item.Get("id").Str()
				if json, err = s.item(id); err != nil {
					return "", s.notFound(err, "input["+strconv.Itoa(i)+"].id", "Item with id '"+codec.Clip(id)+"' not found.")
				}
				changed = true
			}
			if items = appendElement(items, json); changed && int64(len(items)) > limit {
				return "", tooLarge(limit)
			}
		}
	}
	s.input, s.found = "["+string(items)+"]", nil
	if !changed {
		return body, nil
	}
	var w jsonwire.Writer
	w.BeginObject()
	for name, v := range root.Members() {
		if name == "input" || name == memberPrevious && s.previous != "" {
			continue
		}
		w.Name(name)
		w.Raw(v.Raw())
	}
	w.Name("input")
	w.Raw(s.input)
	w.EndObject()
	if int64(w.Len()) > limit {
		return "", tooLarge(limit)
	}
	return w.Text(), nil
}

func tooLarge(limit int64) error {
	return &handler.Failure{Code: upstream.CodeTooLarge, Limit: limit, Reason: "the request with the stored items is too large"}
}

// isReference reports whether an item refers to a stored one. Its type may be absent.
func isReference(item jsonwire.Value) bool {
	t := item.Get("type")
	return t.Is(typeReference) || !codec.IsSet(t) && !item.Get("role").Exists() && item.Get("id").Str() != ""
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

// randomPart returns what the id of an item that an [encoder] has made shares with the id of its
// response.
func randomPart(id string) (random string, ok bool) {
	list := strings.Split(id, "_")
	if len(list) != 3 {
		return "", false
	}
	return list[1], true
}

// notFound returns the failure of a request that refers to what is not stored.
func (s *session) notFound(err error, path, text string) error {
	if !errors.Is(err, ErrNotStored) {
		return storeFailure(err)
	}
	return &handler.Failure{Code: upstream.CodeInvalid, Reason: "the request refers to what is not stored",
		Violations: []*content.Violation{{Code: content.CodeUnsupported, Vendor: vendorState, Path: path, Text: text}}}
}

func storeFailure(err error) error {
	return &handler.Failure{Code: upstream.CodeUnavailable, Reason: "the store failed", Err: err}
}

// shift converts the paths of violations of the expanded body to those of the client's document.
func (s *session) shift(err error) error {
	list, more := content.Violations(err)
	if s.added == 0 || len(list) == 0 {
		return err
	}
	shifted := make([]*content.Violation, len(list))
	for i, v := range list {
		c := *v
		if rest, ok := strings.CutPrefix(v.Path, "input["); ok {
			index, after, _ := strings.Cut(rest, "]")
			if n, err := strconv.Atoi(index); err == nil && n >= s.added {
				c.Path = "input[" + strconv.Itoa(n-s.added) + "]" + after
			} else {
				c.Path = memberPrevious
			}
		}
		shifted[i] = &c
	}
	return content.JoinViolations(shifted, more)
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
	if s.dropped || s.session.save(s.id, s.appendResponse(nil, status, nil), s.items) != nil {
		s.settings.store = false
		s.LoseAt("store", lossNotStored)
	}
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
			v, err := s.store.Load(ctx, s.client, id)
			response := gjson.GetBytes(v, "response")
			if err == nil && !response.Exists() {
				err = ErrNotStored // an item
			}
			if err == nil && route.Method == http.MethodDelete {
				err = s.store.Delete(ctx, s.client, id)
			}
			switch {
			case errors.Is(err, ErrNotStored):
				const text = "the response is not stored"
				return nil, &handler.Failure{Code: upstream.CodeNotFound, Detail: handler.DetailPath, Reason: text,
					Text: "Response with id '" + handler.OneLine(id, 128) + "' not found."}
			case err != nil:
				return nil, storeFailure(err)
			case route.Method == http.MethodGet:
				w.Raw(response.Raw)
				return w, nil
			}
			w.BeginObject()
			w.Name("id")
			w.String(id)
			w.Name("object")
			w.String("response")
			w.Name("deleted")
			w.Bool(true)
			w.EndObject()
			return w, nil
		}}, nil
	}
	return route
}

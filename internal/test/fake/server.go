package fake

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A Request is one request that a fake received, with its exact body.
type Request struct {
	Method, Path string
	Query        url.Values
	Header       http.Header
	Body         []byte

	// Rule is the name of the rule that rejected the request. It is empty if
	// the request was accepted. Message is the
	// error text of the rejection.
	Rule, Message string
	// End is how the response ended: [Whole], [Ended], [Aborted] or [Gone]. It
	// is empty while the response is sent, and for rejections.
	End string
}

// Accepted reports whether no rule rejected the request.
func (r Request) Accepted() bool { return r.Rule == "" }

// A Server is the part of a fake that does not depend on the vendor: its script
// and its record. Its methods are safe for concurrent use.
type Server struct {
	// URL is the base URL of the fake without a trailing slash. It is empty for
	// a fake that is only a handler.
	URL string

	mu       sync.Mutex
	idle     *sync.Cond
	active   int
	requests []*Request
	turns    [][]Piece
	always   []Piece
	answer   func(Request) []Piece
}

// NewServer returns a Server with an empty script and record.
func NewServer() *Server {
	s := &Server{always: []Piece{Text("Hello from the fake.")}}
	s.idle = sync.NewCond(&s.mu)
	return s
}

// Listen serves h on a loopback address until the test ends.
func (s *Server) Listen(t testing.TB, h http.Handler) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	t.Cleanup(srv.CloseClientConnections)
	s.URL = srv.URL
}

// Say adds one response to the script. Each accepted request uses the next one.
func (s *Server) Say(pieces ...Piece) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns = append(s.turns, slices.Clone(pieces))
}

// Always sets the response after the end of the script; the default is a
// greeting.
func (s *Server) Always(pieces ...Piece) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.always = slices.Clone(pieces)
}

// Answer sets a function that returns the responses after the end of the
// script. f may be called concurrently.
func (s *Server) Answer(f func(Request) []Piece) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

// Requests returns all requests so far in the order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Request, len(s.requests))
	for i, r := range s.requests {
		out[i] = *r
	}
	return out
}

// Refused returns the requests that a rule rejected.
func (s *Server) Refused() []Request {
	return slices.DeleteFunc(s.Requests(), Request.Accepted)
}

// Last returns the latest request, or a zero Request.
func (s *Server) Last() Request {
	all := s.Requests()
	if len(all) == 0 {
		return Request{}
	}
	return all[len(all)-1]
}

// Left returns the number of unused responses in the script.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.turns)
}

// Settle waits until no request is in progress.
func (s *Server) Settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.active > 0 {
		s.idle.Wait()
	}
}

// Begin records r and reads its body. The caller must call done after the
// response.
func (s *Server) Begin(r *http.Request) (req *Request, done func()) {
	body, _ := io.ReadAll(r.Body)
	req = &Request{
		Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(),
		Header: r.Header.Clone(), Body: body,
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	s.active++
	return req, s.release
}

func (s *Server) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active--
	if s.active == 0 {
		s.idle.Broadcast()
	}
}

// Refuse records that a rule rejected req.
func (s *Server) Refuse(req *Request, rule, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	req.Rule, req.Message = rule, message
}

// End records how the response to req ended.
func (s *Server) End(req *Request, how string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	req.End = how
}

// Give sends v as a JSON document in response to req and records that.
func (s *Server) Give(w http.ResponseWriter, req *Request, contentType string, v any) {
	w.Header().Set("Content-Type", contentType)
	_ = json.NewEncoder(w).Encode(v)
	s.End(req, Whole)
}

// Next returns the next response of the script.
func (s *Server) Next(req *Request) []Piece {
	s.mu.Lock()
	if len(s.turns) > 0 {
		defer s.mu.Unlock()
		turn := s.turns[0]
		s.turns = s.turns[1:]
		return turn
	}
	answer, always, snapshot := s.answer, s.always, *req
	s.mu.Unlock()
	if answer != nil {
		return answer(snapshot)
	}
	return always
}

// Marked returns where the request contains one of the marks, or "". It
// searches names and values of headers, the query and the body, ignoring case.
func Marked(req *Request, marks []string) string {
	body := bytes.ToLower(req.Body)
	for _, m := range marks {
		low := strings.ToLower(m)
		for name, values := range req.Header {
			if strings.Contains(strings.ToLower(name+": "+strings.Join(values, ", ")), low) {
				return "header " + name
			}
		}
		if strings.Contains(strings.ToLower(req.Query.Encode()), strings.ToLower(url.QueryEscape(m))) {
			return "the query"
		}
		if bytes.Contains(body, []byte(low)) {
			return "the body"
		}
	}
	return ""
}

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

// A Request is one request as a fake received it. The body is byte for byte what came.
type Request struct {
	Method, Path string
	Query        url.Values
	Header       http.Header
	Body         []byte

	// Rule names the rule that refused the request; it is empty for one that was
	// accepted, whatever the script answered to it. Message is the text of the refusal.
	Rule, Message string
	// End says how the answer went: one of the constants [Whole], [Ended], [Aborted] and
	// [Gone]; empty while it is being sent, and for refusals.
	End string
}

// Accepted says whether no rule refused the request.
func (r Request) Accepted() bool { return r.Rule == "" }

// A Server is the part of a fake that does not depend on the vendor: its script and its
// record. Every method is safe for concurrent use.
type Server struct {
	// URL is where the fake listens, without a final slash. It is empty for a fake
	// that was made as a handler only.
	URL string

	mu       sync.Mutex
	idle     *sync.Cond
	active   int
	requests []*Request
	turns    [][]Piece
	always   []Piece
	answer   func(Request) []Piece
}

// NewServer returns an empty script and record.
func NewServer() *Server {
	s := &Server{always: []Piece{Text("Hello from the fake.")}}
	s.idle = sync.NewCond(&s.mu)
	return s
}

// Listen makes h answer on a loopback address until the test is over.
func (s *Server) Listen(t testing.TB, h http.Handler) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	t.Cleanup(srv.CloseClientConnections)
	s.URL = srv.URL
}

// Say adds one answer to the script. Each accepted request for an answer takes the next.
func (s *Server) Say(pieces ...Piece) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns = append(s.turns, slices.Clone(pieces))
}

// Always sets the answer for when the script is at its end; without it, a greeting.
func (s *Server) Always(pieces ...Piece) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.always = slices.Clone(pieces)
}

// Answer makes the script ask f for what to say once it is at its end. f may be called
// from several goroutines at once.
func (s *Server) Answer(f func(Request) []Piece) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

// Requests returns all requests so far, in the order in which they arrived.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Request, len(s.requests))
	for i, r := range s.requests {
		out[i] = *r
	}
	return out
}

// Refused returns the requests that a rule refused.
func (s *Server) Refused() []Request {
	return slices.DeleteFunc(s.Requests(), Request.Accepted)
}

// Last returns the request that arrived last, or an empty one.
func (s *Server) Last() Request {
	all := s.Requests()
	if len(all) == 0 {
		return Request{}
	}
	return all[len(all)-1]
}

// Left returns how many answers of the script have not been asked for.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.turns)
}

// Settle waits until the fake is answering nobody.
func (s *Server) Settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.active > 0 {
		s.idle.Wait()
	}
}

// Begin records r and reads its body; done must be called when it has been answered.
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

// Refuse notes in the record that rule refused req.
func (s *Server) Refuse(req *Request, rule, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	req.Rule, req.Message = rule, message
}

// End notes in the record how the answer to req went.
func (s *Server) End(req *Request, how string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	req.End = how
}

// Give answers req with v as a JSON document, and notes that in the record.
func (s *Server) Give(w http.ResponseWriter, req *Request, contentType string, v any) {
	w.Header().Set("Content-Type", contentType)
	_ = json.NewEncoder(w).Encode(v)
	s.End(req, Whole)
}

// Next takes the next answer from the script.
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

// Marked returns where the request holds one of the marks, "" if it does not. Names of
// headers, their values, the query and the body are searched, whatever their case.
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

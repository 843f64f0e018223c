// Package budget counts the requests in flight and the bytes that they reserve.
package budget

import "sync"

// DefaultBytes is the limit of bytes that 0 means.
const DefaultBytes = 512 << 20

// Of returns the State of an *upstream.Budget. Package upstream sets it.
var Of func(budget any) *State

// A State is what a budget counts. The zero State is ready to use. It is safe for
// concurrent use.
type State struct {
	mu       sync.Mutex
	bytes    int64
	requests int
}

// Enter adds a request to those in flight and returns true, or returns false if there
// are maxRequests already. 0 means no limit. After true, the caller must call Leave.
func (s *State) Enter(maxRequests int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if maxRequests > 0 && s.requests >= maxRequests {
		return false
	}
	s.requests++
	return true
}

// Take reserves n bytes for a request and returns true, or returns false if more than
// maxBytes would be reserved. 0 means [DefaultBytes]. Leave releases them.
func (s *State) Take(n, maxBytes int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if maxBytes == 0 {
		maxBytes = DefaultBytes
	}
	if n > maxBytes-s.bytes {
		return false
	}
	s.bytes += n
	return true
}

// Leave ends a request and releases all bytes that it reserved.
func (s *State) Leave(bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests--
	s.bytes -= bytes
}

// InFlight returns the number of requests in flight and of bytes reserved for them.
func (s *State) InFlight() (requests int, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests, s.bytes
}

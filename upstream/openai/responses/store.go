package responses

import (
	"container/list"
	"context"
	"errors"
	"sync"
)

// A Store keeps responses, so that clients can refer to them in later requests: by
// previous_response_id, by items of type item_reference, and by GET and DELETE …/responses/{id} and
// …/responses/{id}/input_items. The handler saves each complete response for which the request does not have "store": false.
//
// A value belongs to one client and is found only for the same one: client is a digest of what
// Authenticate has returned with upstream.WithClient or, without that, of the key that the client
// presented. It is empty if there is no key. Then all clients without a key share their values, whose
// ids are random.
//
// The handler calls the methods from several goroutines at once. It waits for them, so they
// should bound their own time.
type Store interface {
	// Save stores a value under an id, and replaces an earlier one. It may drop other values at any
	// time. The value must not be changed. If it is too large, the error is [ErrTooLarge]. The
	// client receives its response in any case; a response that was not saved is a loss.
	Save(ctx context.Context, client, id string, value []byte) error

	// Load returns the value with an id. The error is [ErrNotStored] if there is none. The caller
	// does not change the value.
	Load(ctx context.Context, client, id string) ([]byte, error)

	// Delete removes the value with an id. The error is [ErrNotStored] if there is none.
	Delete(ctx context.Context, client, id string) error
}

// Errors of a [Store].
var (
	ErrNotStored = errors.New("responses: there is no stored value with this id")
	ErrTooLarge  = errors.New("responses: the value is too large for the store")
)

// A MemoryStore is a [Store] in memory. It drops the values that were not used for the longest time.
// It is safe for concurrent use.
type MemoryStore struct {
	limit int64

	mu     sync.Mutex
	size   int64
	values map[storeKey]*list.Element
	used   list.List // of *storedValue, the last used one first
}

type storeKey struct{ client, id string }

type storedValue struct {
	key   storeKey
	value []byte
}

// valueCost is what a value counts besides its bytes.
const valueCost = 512

func (v *storedValue) cost() int64 {
	return int64(len(v.value)+len(v.key.client)+len(v.key.id)) + valueCost
}

// NewMemoryStore returns a MemoryStore that occupies about the given number of bytes. A value of more
// than a tenth of them is too large. NewMemoryStore panics if bytes is not positive.
func NewMemoryStore(bytes int64) *MemoryStore {
	if bytes <= 0 {
		panic("responses: NewMemoryStore: bytes must be positive")
	}
	return &MemoryStore{limit: bytes, values: make(map[storeKey]*list.Element)}
}

// Save implements [Store].
func (s *MemoryStore) Save(_ context.Context, client, id string, value []byte) error {
	v := &storedValue{storeKey{client, id}, value}
	if v.cost() > s.limit/10 {
		return ErrTooLarge
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.values[v.key]; e != nil {
		s.remove(e)
	}
	s.size += v.cost()
	s.values[v.key] = s.used.PushFront(v)
	for s.size > s.limit {
		s.remove(s.used.Back())
	}
	return nil
}

// Load implements [Store].
func (s *MemoryStore) Load(_ context.Context, client, id string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.values[storeKey{client, id}]
	if e == nil {
		return nil, ErrNotStored
	}
	s.used.MoveToFront(e)
	return e.Value.(*storedValue).value, nil
}

// Delete implements [Store].
func (s *MemoryStore) Delete(_ context.Context, client, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.values[storeKey{client, id}]
	if e == nil {
		return ErrNotStored
	}
	s.remove(e)
	return nil
}

// remove removes a value.
func (s *MemoryStore) remove(e *list.Element) {
	v := s.used.Remove(e).(*storedValue)
	delete(s.values, v.key)
	s.size -= v.cost()
}

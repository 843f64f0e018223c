package otelwire

import (
	"sync"

	"go.opentelemetry.io/otel/attribute"
)

// otherModel is the value of attributes of measurements for a model whose name is not
// recorded.
const otherModel = "other"

// Limits of the names of models in measurements, which clients may choose.
const (
	maxModels = 20     // for each combination of attributes of the host
	maxOwners = 10_000 // combinations of attributes of the host
)

// modelNames are the names of models that measurements may have. They are counted for each
// combination of attributes of the host, so that a tenant cannot use up those of others.
type modelNames struct {
	listed map[string]bool // by the host

	mu   sync.Mutex
	seen map[attribute.Distinct]map[string]bool
}

// has reports whether a name is listed, or was added for the owner.
func (m *modelNames) has(owner attribute.Distinct, name string) bool {
	if m.listed[name] {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.seen[owner][name]
}

// add adds a name for the owner. It reports false if there are too many.
func (m *modelNames) add(owner attribute.Distinct, name string) bool {
	if m.listed[name] {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	names := m.seen[owner]
	switch {
	case names[name]:
		return true
	case names == nil && len(m.seen) == maxOwners, len(names) == maxModels:
		return false
	case names == nil:
		if m.seen == nil {
			m.seen = map[attribute.Distinct]map[string]bool{}
		}
		names = map[string]bool{}
		m.seen[owner] = names
	}
	names[name] = true
	return true
}

// measuredModels returns the names of the requested model and of the response's model for
// measurements, or "" if there is none. A server that accepts every name may return it, so
// also names that are equal are limited.
func (c *call) measuredModels() (requested, responded string) {
	if responded = c.head.Model; responded != "" && !c.names.add(c.owner, responded) {
		responded = otherModel
	}
	accepted := c.begun && (c.head.Model == "" || c.head.Model == c.model)
	switch {
	case c.model == "":
	case accepted && c.names.add(c.owner, c.model), c.names.has(c.owner, c.model):
		requested = c.model
	default:
		requested = otherModel
	}
	return requested, responded
}

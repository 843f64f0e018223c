package responses

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/violation"
)

type ValidateOptions struct{ Limits content.Limits }

var defaultOptions ValidateOptions

func (r *Request) Validate(o *ValidateOptions) error {
	return r.mergeViolations(new(violation.List), false)
}

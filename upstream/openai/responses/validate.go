package responses

import "github.com/polywire/polywire/content"

type ValidateOptions struct{ Limits content.Limits }

var defaultOptions ValidateOptions

func (r *Request) Validate(o *ValidateOptions) error { return r.mergeViolations(nil, false) }

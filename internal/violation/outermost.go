package violation

import "github.com/polywire/polywire/content"

// Outermost returns the outermost error in err that is a [*content.Violation] or for which
// is returns true, or nil. It returns a list of violations as a whole. Of joined errors
// the first one that has such an error counts.
func Outermost(err error, is func(error) bool) error {
	for err != nil {
		if is(err) {
			return err
		}
		switch e := err.(type) {
		case *content.Violation:
			return e
		case interface{ Unwrap() []error }:
			for _, joined := range e.Unwrap() {
				found := Outermost(joined, is)
				switch {
				case found == nil:
				case is(found):
					return found
				default:
					return err
				}
			}
			return nil
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		default:
			return nil
		}
	}
	return nil
}

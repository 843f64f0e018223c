// Package crosstest holds tests that need more than one wire format at once:
// the wire packages themselves do not know each other.
package crosstest

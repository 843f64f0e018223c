// Package crosstest contains tests that need more than one wire format. The
// wire packages do not import each other.
package crosstest

// Package crosstest contains tests that the handlers and readers of every wire
// format must pass, and tests that need more than one format. The formats do not
// import each other.
package crosstest

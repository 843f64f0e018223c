// Package formattest holds helpers that the tests of the wire packages share: a
// server in a bubble of fake time, upstreams that send given frames, responses
// made from bytes, and readers and writers for tests.
package formattest

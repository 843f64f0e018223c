// Package formattest is what the tests of the wire packages share: a server
// in a bubble of fake time, upstreams that answer with frames, and readers and
// writers that behave in a certain way.
package formattest

// Package codec holds what the request codecs of all wire formats share: nodes
// from few allocations, places in documents, tables of member names, members
// that have no field, and the memory of what a parsed request said.
//
// Nothing in it knows a format's words. It keeps no state of its own.
package codec

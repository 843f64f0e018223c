// Package codec holds what the codecs of all wire formats share: nodes from few
// allocations, places in documents, tables of member names, members that have
// no field, the memory of what a parsed request said, what is lost on the way
// from one format to another, and how vendors fail.
//
// Nothing in it knows a format's words. It keeps no state of its own.
package codec

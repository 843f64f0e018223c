// Package codec contains code that the codecs of all wire formats share: allocation of
// nodes, paths in documents, members that have no field, losses of responses, limits of
// parsed requests, and errors of vendors.
//
// It keeps no global state.
package codec

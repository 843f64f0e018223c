// Package page makes the loss matrix: which features get lost between which
// formats, at worst. It is used by tests only.
//
// What the codecs can lose stands in the files of the directory tables, one for
// each codec, which the codec's own test compares with its table of rules: see
// [github.com/polywire/polywire/internal/loss/losstable]. The test of the module's
// root compares the matrix with the pages that show it.
package page

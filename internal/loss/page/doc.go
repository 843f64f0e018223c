// Package page generates the loss matrix: the most severe loss of each feature between
// each pair of formats. Only tests use it.
//
// The possible losses of the codecs are in the files of the directory tables, one or
// more for each codec. The test of each codec compares its rules with its files, see
// [github.com/polywire/polywire/internal/loss/losstable]. The test of the module's
// root compares the matrix with the pages that contain it.
package page

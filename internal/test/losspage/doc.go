// Package losspage generates the parts of docs/losses.md that come from tables: the most severe
// loss of each feature of responses between each pair of formats, and the list of all
// losses. Only tests use it.
//
// The possible losses of the codecs are in the files of the directory tables, one or
// more for each codec. The test of each codec compares its rules with its files, see
// [github.com/polywire/polywire/internal/test/losstable]. The losses of requests come from
// [github.com/polywire/polywire/internal/test/losscases]. The test of the module's root
// compares the page with all of them.
package losspage

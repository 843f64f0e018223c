// Package outside finds documents for tests that are not part of the repository, because
// they are data of third parties. The environment names their folders; tests do not look
// for them.
package outside

import (
	"os"
	"path/filepath"
	"testing"
)

// The environment variables that have the absolute paths of the folders.
const (
	// Recordings names the folder of recorded traffic: see package internal/test/recorded.
	Recordings = "POLYWIRE_RECORDINGS"
	// JSONTestSuite names the folder of github.com/nst/JSONTestSuite.
	JSONTestSuite = "POLYWIRE_JSONTESTSUITE"
)

// Folder returns the folder that an environment variable names. It skips the test if the
// variable is not set.
func Folder(tb testing.TB, variable string) string {
	tb.Helper()
	folder := Lookup(tb, variable)
	if folder == "" {
		tb.Skipf("%s is not set: it names the folder of the documents, which are not part of the repository", variable)
	}
	return folder
}

// Lookup returns the folder that an environment variable names, or "" if the variable is
// not set. The test fails if the path is relative, or the folder is missing or empty.
func Lookup(tb testing.TB, variable string) string {
	tb.Helper()
	folder := os.Getenv(variable)
	if folder == "" {
		return ""
	}
	if !filepath.IsAbs(folder) {
		tb.Fatalf("%s: want an absolute path, not %s", variable, folder)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		tb.Fatalf("%s: %v", variable, err)
	}
	if len(entries) == 0 {
		tb.Fatalf("%s: %s is empty", variable, folder)
	}
	return folder
}

// Files returns the paths of the files that match a pattern below the folder that an
// environment variable names. It skips the test if the variable is not set, and fails it
// if no file matches.
func Files(tb testing.TB, variable, pattern string) []string {
	tb.Helper()
	folder := Folder(tb, variable)
	paths, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil {
		tb.Fatal(err)
	}
	if len(paths) == 0 {
		tb.Fatalf("%s: no file of %s matches %s", variable, folder, pattern)
	}
	return paths
}

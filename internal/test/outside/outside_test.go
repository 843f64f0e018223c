package outside

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A probe is a test that records how it ends.
type probe struct {
	testing.TB
	end string
}

func (p *probe) Helper() {}

func (p *probe) Skipf(format string, args ...any) {
	p.end = "skip: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (p *probe) Fatalf(format string, args ...any) {
	p.end = "fail: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// endOf returns how a test that calls f ends.
func endOf(f func(testing.TB)) string {
	p := new(probe)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(p)
	}()
	<-done
	return p.end
}

func TestFolders(t *testing.T) {
	const variable = "POLYWIRE_TEST_FOLDER"
	dir := t.TempDir()
	full, empty := filepath.Join(dir, "full"), filepath.Join(dir, "empty")
	for _, d := range []string{full, empty} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(full, "a.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing")
	type ends struct{ Lookup, Folder, Files string }
	for _, tt := range []struct {
		name, value string
		want        ends
	}{
		{"not set", "", ends{
			Folder: "skip: POLYWIRE_TEST_FOLDER is not set: it names the folder of the documents, which are not part of the repository",
			Files:  "skip: POLYWIRE_TEST_FOLDER is not set: it names the folder of the documents, which are not part of the repository",
		}},
		{"missing", missing, ends{
			Lookup: "fail: POLYWIRE_TEST_FOLDER: open " + missing + ": no such file or directory",
			Folder: "fail: POLYWIRE_TEST_FOLDER: open " + missing + ": no such file or directory",
			Files:  "fail: POLYWIRE_TEST_FOLDER: open " + missing + ": no such file or directory",
		}},
		{"empty", empty, ends{
			Lookup: "fail: POLYWIRE_TEST_FOLDER: " + empty + " is empty",
			Folder: "fail: POLYWIRE_TEST_FOLDER: " + empty + " is empty",
			Files:  "fail: POLYWIRE_TEST_FOLDER: " + empty + " is empty",
		}},
		{"relative", "testdata", ends{
			Lookup: "fail: POLYWIRE_TEST_FOLDER: want an absolute path, not testdata",
			Folder: "fail: POLYWIRE_TEST_FOLDER: want an absolute path, not testdata",
			Files:  "fail: POLYWIRE_TEST_FOLDER: want an absolute path, not testdata",
		}},
		{"without such files", full, ends{Files: "fail: POLYWIRE_TEST_FOLDER: no file of " + full + " matches *.jsonl"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(variable, tt.value)
			got := ends{
				endOf(func(tb testing.TB) { Lookup(tb, variable) }),
				endOf(func(tb testing.TB) { Folder(tb, variable) }),
				endOf(func(tb testing.TB) { Files(tb, variable, "*.jsonl") }),
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Setenv(variable, full)
	if diff := cmp.Diff([]string{filepath.Join(full, "a.json")}, Files(t, variable, "*.json")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

package content_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/polywire/polywire/content"
)

const filePDF = "%PDF-1.7\n"

var shelf = fstest.MapFS{
	"report":       {Data: []byte(filePDF)},
	"notes.TXT":    {Data: []byte("a")},
	"lies.png":     {Data: []byte(filePDF)},
	"sub/song.mp3": {Data: []byte("ID3")},
	"unknown.xyz":  {Data: []byte("?")},
	"empty":        {},
	"big":          {Data: make([]byte, 11)},
	"pipe":         {Mode: fs.ModeNamedPipe},
	"denied":       {Mode: 0},
	".env":         {Data: []byte("KEY=secret")},
	"sub/.git/x":   {Data: []byte("secret")},
	"files/odd":    {Data: []byte("b")},
	"a:b":          {Data: []byte("secret")},
}

func TestFiles(t *testing.T) {
	files := content.Files{FS: shelf, MaxBytes: 10}
	for _, tt := range []struct{ id, wantType, wantData string }{
		{"report", "application/pdf", filePDF},
		{"files/report", "application/pdf", filePDF},
		{"https://files.example/v1beta/files/report", "application/pdf", filePDF},
		{"files/files/odd", "", "b"},
		{"notes.TXT", "text/plain", "a"},
		{"lies.png", "application/pdf", filePDF},
		{"sub/song.mp3", "audio/mpeg", "ID3"},
		{"unknown.xyz", "", "?"},
		{"empty", "", ""},
	} {
		b, err := files.Resolve(t.Context(), &content.File{ID: tt.id})
		if err != nil || b.MediaType != tt.wantType || string(b.Data) != tt.wantData {
			t.Errorf("%s: %q %q, %v; want %q %q", tt.id, b.MediaType, b.Data, err, tt.wantType, tt.wantData)
		}
	}
}

func TestFilesThatAreNotThere(t *testing.T) {
	files := content.Files{FS: shelf, MaxBytes: 10}
	for _, tt := range []struct {
		id   string
		want content.Code
	}{
		{"", content.CodeValue}, {"nothing", content.CodeValue}, {"files/nothing", content.CodeValue},
		{"../report", content.CodeValue}, {"files/../report", content.CodeValue}, {"/report", content.CodeValue},
		{"sub/../report", content.CodeValue}, {"./report", content.CodeValue}, {"sub//song.mp3", content.CodeValue},
		{".", content.CodeValue}, {"..", content.CodeValue}, {"sub", content.CodeValue}, {"sub/", content.CodeValue},
		{`..\report`, content.CodeValue}, {"report\x00", content.CodeValue}, {"a:b", content.CodeValue},
		{".env", content.CodeValue}, {"sub/.git/x", content.CodeValue}, {"pipe", content.CodeValue},
		{"report/x", content.CodeValue}, {"big", content.CodeLimit},
		{"https://files.example/files/../../etc/passwd", content.CodeValue},
	} {
		var e *content.Violation
		if _, err := files.Resolve(t.Context(), &content.File{ID: tt.id}); !errors.As(err, &e) || e.Code != tt.want || errors.Is(err, content.ErrUnresolved) {
			t.Errorf("%q: got %v, want a violation of code %s", tt.id, err, tt.want)
		}
	}
	for _, s := range []content.Source{
		nil, (*content.File)(nil), &content.URL{URL: "https://files.example/report"}, &content.PlainText{Text: "a"},
		&content.File{ID: "gs://bucket/report"}, &content.File{ID: "https://files.example/report"}, &content.File{ID: "http://files.example/files/report"},
	} {
		if _, err := files.Resolve(t.Context(), s); !errors.Is(err, content.ErrUnresolved) {
			t.Errorf("%#v: got %v, want ErrUnresolved", s, err)
		}
	}
	if _, err := (content.Files{}).Resolve(t.Context(), &content.File{ID: "report"}); err == nil {
		t.Error("a file without a file system")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := files.Resolve(ended, &content.File{ID: "report"}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// TestFilesBehindLinks checks symbolic links, which FS may follow or not.
func TestFilesBehindLinks(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "inside"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"in": "inside", "out": outside} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, tt := range []struct {
		name    string
		fs      fs.FS
		id      string
		allowed bool
	}{
		{"root", root.FS(), "in", true},
		{"root", root.FS(), "out", false},
		{"dir", os.DirFS(dir), "in", true},
		{"dir", os.DirFS(dir), "out", true},
	} {
		_, err := content.Files{FS: tt.fs}.Resolve(t.Context(), &content.File{ID: tt.id})
		var e *content.Violation
		if (err == nil) != tt.allowed || err != nil && !errors.As(err, &e) {
			t.Errorf("%s, %s: %v", tt.name, tt.id, err)
		}
	}
}

func FuzzFiles(f *testing.F) {
	for _, id := range []string{"a", "files/a", "../a", "https://x/files/../a", "a/../../b", ".a", "a\\..\\b", "sub/a"} {
		f.Add(id)
	}
	outer := f.TempDir()
	inner := filepath.Join(outer, "inner", "sub")
	if err := os.MkdirAll(inner, 0o700); err != nil {
		f.Fatal(err)
	}
	for path, text := range map[string]string{filepath.Join(outer, "a"): "secret", filepath.Join(inner, "a"): "good", filepath.Join(outer, "inner", "a"): "good"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	files := content.Files{FS: os.DirFS(filepath.Join(outer, "inner"))}
	f.Fuzz(func(t *testing.T, id string) {
		b, err := files.Resolve(t.Context(), &content.File{ID: id})
		if err == nil && string(b.Data) != "good" {
			t.Errorf("%q found %q", id, b.Data)
		}
	})
}

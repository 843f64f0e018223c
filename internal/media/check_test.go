package media

import (
	"encoding/base64"
	"image/color"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type colorModel = color.Color

func rgba(grey uint8) color.Color { return color.RGBA{grey, grey, grey, 255} }

// TestCheckLabels checks each type of file under each media type.
func TestCheckLabels(t *testing.T) {
	labels := []string{"image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp", "application/pdf",
		"text/plain", "audio/wav", "image/heic", "IMAGE/PNG", "image/png ", ""}
	for name, s := range samples(t) {
		for _, label := range labels {
			f := File{MediaType: label, Data: base64.StdEncoding.EncodeToString(s.data)}
			want := FileType
			if label == s.mediaType || label == "image/jpg" && s.mediaType == "image/jpeg" {
				want = 0
			}
			if got := f.Check(Base64Strict, Limits{}); got.Violation != want || got.Actual != s.mediaType {
				t.Errorf("%s called %q: %+v, want violation %v", name, label, got, want)
			}
		}
	}
	// Unknown bytes are of none of the five types, so any other media type is accepted.
	for _, label := range labels {
		f := File{MediaType: label, Data: base64.StdEncoding.EncodeToString([]byte("RIFF1234WAVEfmt "))}
		got := f.Check(Base64Strict, Limits{})
		if want := IsDetectable(Canonical(label)); (got.Violation == FileType) != want {
			t.Errorf("audio called %q: %+v, want a violation: %v", label, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	enc := base64.StdEncoding.EncodeToString
	all := samples(t)
	pngData, big := enc(all["png"].data), []byte(all["png"].data)
	big = append([]byte(nil), big...)
	copy(big[16:], "\x7f\xff\xff\xff\x7f\xff\xff\xff")
	tests := []struct {
		name string
		file File
		rule Base64Rule
		lim  Limits
		want FileReport
	}{
		{"good", File{MediaType: "image/png", Data: pngData}, 0, Limits{FileBytes: int64(len(all["png"].data)), ImageSide: 13, ImagePixels: 91},
			FileReport{Declared: "image/png", Actual: "image/png", Size: int64(len(all["png"].data)), Width: 13, Height: 7}},
		{"empty", File{MediaType: "image/png"}, 0, Limits{}, FileReport{Violation: FileEmpty, Declared: "image/png"}},
		{"one byte too many", File{MediaType: "application/pdf", Data: enc([]byte("%PDF-"))}, 0, Limits{FileBytes: 4},
			FileReport{Violation: FileTooLarge, Declared: "application/pdf", Size: 5}},
		{"size before encoding", File{MediaType: "application/pdf", Data: "!!!!!!!!"}, 0, Limits{FileBytes: 4},
			FileReport{Violation: FileTooLarge, Declared: "application/pdf", Size: 6}},
		{"one pixel too wide", File{MediaType: "image/png", Data: pngData}, 0, Limits{ImageSide: 12},
			FileReport{Violation: FileSide, Declared: "image/png", Actual: "image/png", Size: int64(len(all["png"].data)), Width: 13, Height: 7}},
		{"one pixel too many", File{MediaType: "image/png", Data: pngData}, 0, Limits{ImagePixels: 90},
			FileReport{Violation: FilePixels, Declared: "image/png", Actual: "image/png", Size: int64(len(all["png"].data)), Width: 13, Height: 7}},
		{"huge dimensions", File{MediaType: "image/png", Data: enc(big)}, 0, Limits{ImagePixels: 1e8},
			FileReport{Violation: FilePixels, Declared: "image/png", Actual: "image/png", Size: int64(len(big)), Width: 1<<31 - 1, Height: 1<<31 - 1}},
		{"no padding", File{MediaType: "application/pdf", Data: "JVBERi0"}, 0, Limits{},
			FileReport{Violation: FileEncoding, Declared: "application/pdf", Size: 5, Detail: "has missing or misplaced base64 padding"}},
		{"no padding, Base64Any", File{MediaType: "application/pdf", Data: "JVBERi0"}, Base64Any, Limits{},
			FileReport{Declared: "application/pdf", Actual: "application/pdf", Size: 5}},
		{"text", File{MediaType: "text/plain", Data: enc([]byte(strings.Repeat("é", 2000)))}, 0, Limits{},
			FileReport{Declared: "text/plain", Size: 4000}},
		{"truncated text", File{MediaType: "text/plain", Data: enc([]byte(strings.Repeat("é", 2000))[:3999])}, 0, Limits{},
			FileReport{Violation: FileNotText, Declared: "text/plain", Size: 3999}},
		{"JSON is text", File{MediaType: "application/json", Data: enc([]byte("{\"a\":\"\xff\"}"))}, 0, Limits{},
			FileReport{Violation: FileNotText, Declared: "application/json", Size: 9}},
		{"truncated header", File{MediaType: "image/gif", Data: enc(all["gif"].data[:12])}, 0, Limits{},
			FileReport{Violation: FileHeader, Declared: "image/gif", Actual: "image/gif", Size: 12}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.file.Check(tt.rule, tt.lim)); diff != "" {
				t.Errorf("Check (-want +got):\n%s", diff)
			}
		})
	}
	for f := FileEmpty; f <= FilePixels; f++ {
		if f.String() == "" {
			t.Errorf("violation %d has no text", f)
		}
	}
}

// TestTextAcrossPieces checks characters that are split across windows.
func TestTextAcrossPieces(t *testing.T) {
	for at := 500; at < 520; at++ {
		for _, r := range []string{"é", "€", "😀"} {
			text := strings.Repeat("a", at) + r + strings.Repeat("b", 600)
			f := File{MediaType: "text/plain", Data: base64.StdEncoding.EncodeToString([]byte(text))}
			if got := f.Check(Base64Strict, Limits{}); got.Violation != 0 {
				t.Fatalf("%q at %d: %v", r, at, got.Violation)
			}
			f.Data = base64.StdEncoding.EncodeToString([]byte(text[:at+len(r)-1] + "b" + text[at+len(r):]))
			if got := f.Check(Base64Strict, Limits{}); got.Violation != FileNotText {
				t.Fatalf("an invalid %q at %d: %v, want %v", r, at, got.Violation, FileNotText)
			}
		}
	}
}

func TestBase64(t *testing.T) {
	tests := []struct {
		data        string
		strict, any bool
		want        string
	}{
		{"aGk=", true, true, "hi"},
		{"aGk", false, true, "hi"},
		{"-_-_", false, true, "\xfb\xff\xbf"},
		{"+/+/", true, true, "\xfb\xff\xbf"},
		{"-/-/", false, false, ""},
		{"", false, false, ""},
		{"=", false, false, ""},
		{"a", false, false, ""},
		{"aGl=", false, false, ""}, // nonzero bits after the last byte
		{"aGk=\n", false, false, ""},
		{"aG\nk=", false, false, ""},
		{"aG\r\nk=", false, false, ""},
		{"aGk=aGk=", false, false, ""},
		{"aGk==", false, false, ""},
		{"aG k=", false, false, ""},
		{"aGké", false, false, ""},
		{"data:image/png;base64,aGk=", false, false, ""},
	}
	for _, tt := range tests {
		if got := Base64Strict.Check(tt.data); (got == "") != tt.strict {
			t.Errorf("Base64Strict.Check(%q) = %q, want good: %v", tt.data, got, tt.strict)
		}
		if got := Base64Any.Check(tt.data); (got == "") != tt.any {
			t.Errorf("Base64Any.Check(%q) = %q, want good: %v", tt.data, got, tt.any)
		}
		s := File{Data: tt.data}
		if b, ok := s.Bytes(); string(b) != tt.want || ok != tt.any {
			t.Errorf("Bytes of %q = %q, %v; want %q, %v", tt.data, b, ok, tt.want, tt.any)
		}
		if tt.any && s.Size() != int64(len(tt.want)) {
			t.Errorf("Size of %q = %d, want %d", tt.data, s.Size(), len(tt.want))
		}
	}
}

// decodePrefix decodes the first len(dst) bytes of a file into dst through a window.
func decodePrefix(f File, dst []byte) (n int, ok bool) {
	w := newWindow(f.Data)
	for n < len(dst) && w.bytes(n, 1) != nil {
		n += copy(dst[n:], w.buffered(n))
	}
	return n, !w.invalid
}

func TestWindow(t *testing.T) {
	want := make([]byte, 3000)
	for i := range want {
		want[i] = byte(i * 7)
	}
	for _, n := range []int{0, 1, 2, 3, 11, 509, 510, 511, 2999, 3000, 3001} {
		s := File{Data: base64.StdEncoding.EncodeToString(want)}
		dst := make([]byte, n)
		got, ok := decodePrefix(s, dst)
		if diff := cmp.Diff(want[:min(n, 3000)], dst[:got]); diff != "" || !ok {
			t.Errorf("decodePrefix of %d: %v (-want +got):\n%s", n, ok, diff)
		}
	}
	for _, data := range []string{"aG k", "aG\nk", "a", "aG=k"} {
		if n, ok := decodePrefix(File{Data: data}, make([]byte, 8)); ok {
			t.Errorf("decodePrefix of %q = %d bytes, true; want false", data, n)
		}
	}
	// Only the beginning is decoded.
	if n, ok := decodePrefix(File{Data: strings.Repeat("aGho", 1000) + "!"}, make([]byte, 8)); n != 8 || !ok {
		t.Errorf("decodePrefix = %d, %v; want 8, true", n, ok)
	}
}

func TestCheckAllocs(t *testing.T) {
	for name, s := range samples(t) {
		f := File{MediaType: s.mediaType, Data: base64.StdEncoding.EncodeToString(s.data)}
		if n := testing.AllocsPerRun(20, func() { f.Check(Base64Strict, Limits{ImageSide: 8000}) }); n != 0 {
			t.Errorf("%s: Check allocates %v times", name, n)
		}
	}
	f := File{MediaType: "text/plain", Data: base64.StdEncoding.EncodeToString([]byte(strings.Repeat("text ", 4000)))}
	if n := testing.AllocsPerRun(20, func() { f.Check(Base64Any, Limits{}) }); n != 0 {
		t.Errorf("text: Check allocates %v times", n)
	}
}

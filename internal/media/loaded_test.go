package media_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/media"
)

func TestCheckLoaded(t *testing.T) {
	const (
		pdf = "%PDF-1.7\n"
		gif = "GIF89a\x02\x00\x03\x00\x00\x00\x00"
		zip = "PK\x03\x04\x14"
	)
	report := func(f media.FileViolation, declared, actual string) media.FileReport {
		return media.FileReport{Violation: f, Declared: declared, Actual: actual}
	}
	good := func(mediaType, actual string) media.FileReport { return report(0, mediaType, actual) }
	const office = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	for _, tt := range []struct {
		name, label, declared, data string
		want                        media.FileReport
	}{
		{"empty", "image/gif", "image/gif", "", report(media.FileEmpty, "image/gif", "")},
		{"unknown", "", "", "x", good("", "")},
		{"type from bytes", "", "", pdf, good("application/pdf", "application/pdf")},
		{"generic label", "application/octet-stream", "", pdf, good("application/pdf", "application/pdf")},
		{"a label", "text/plain; charset=UTF-8", "", "x", good("text/plain", "")},
		{"a label in capitals", "Application/PDF", "", pdf, good("application/pdf", "application/pdf")},
		{"wrong label", "image/png", "", pdf, report(media.FileType, "image/png", "application/pdf")},
		{"wrong label for a detectable type", "text/html", "application/pdf", pdf, report(media.FileType, "text/html", "application/pdf")},
		{"detectable label for unknown bytes", "image/png", "", "x", report(media.FileType, "image/png", "")},
		{"declared", "", "application/pdf", pdf, good("application/pdf", "application/pdf")},
		{"declared wrongly", "", "image/png", pdf, report(media.FileType, "image/png", "application/pdf")},
		{"declared wrongly, label right", "application/pdf", "image/png", pdf, report(media.FileType, "image/png", "application/pdf")},
		{"HTML for a document", "text/html", "application/pdf", "<p>", report(media.FileType, "application/pdf", "text/html")},
		{"HTML for audio", "text/html", "audio/mp3", "<p>", report(media.FileType, "audio/mp3", "text/html")},
		{"HTML for an office document", "text/html", office, "<p>", report(media.FileType, office, "text/html")},
		{"audio under another name", "audio/mpeg", "audio/mp3", "ID3", good("audio/mp3", "")},
		{"audio as application", "application/ogg", "audio/ogg", "OggS", good("audio/ogg", "")},
		{"JSON as text", "text/plain", "application/json", "{}", good("application/json", "")},
		{"text as JSON", "application/json", "text/plain", "{}", good("text/plain", "")},
		{"RTF as text", "text/plain", "application/rtf", "{\\rtf1", good("application/rtf", "")},
		{"an office document", office, office, zip, good(office, "")},
		{"office document, generic label", "application/octet-stream", office, zip, good(office, "")},
		{"an office document as an archive", "application/zip", office, zip, good(office, "")},
		{"an office document as another", "application/msword", office, zip, report(media.FileType, office, "application/msword")},
		{"a PDF as an archive", "application/zip", "application/pdf", zip, report(media.FileType, "application/pdf", "application/zip")},
		{"text with invalid UTF-8", "text/plain", "", "\xff\xfe", report(media.FileNotText, "text/plain", "")},
		{"truncated image", "image/gif", "", gif[:8], report(media.FileHeader, "image/gif", "image/gif")},
		{"an image", "image/gif", "", gif, media.FileReport{Declared: "image/gif", Actual: "image/gif", Width: 2, Height: 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Size = int64(len(tt.data))
			got := media.CheckLoaded([]byte(tt.data), tt.label, tt.declared, media.Limits{})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckLoadedLimits(t *testing.T) {
	const gif = "GIF89a\x02\x00\x03\x00\x00\x00\x00"
	for _, tt := range []struct {
		lim  media.Limits
		want media.FileViolation
	}{
		{media.Limits{FileBytes: 12}, media.FileTooLarge},
		{media.Limits{ImageSide: 2}, media.FileSide},
		{media.Limits{ImagePixels: 5}, media.FilePixels},
		{media.Limits{FileBytes: 13, ImageSide: 3, ImagePixels: 6}, 0},
	} {
		if r := media.CheckLoaded([]byte(gif), "", "", tt.lim); r.Violation != tt.want {
			t.Errorf("%+v: %v, want %v", tt.lim, r.Violation, tt.want)
		}
	}
}

package content

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/polywire/polywire/internal/media"
)

// Files is a [Resolver] that finds the files of requests in a file system, by their id.
//
// An id is a slash-separated path below the root of FS that satisfies [fs.ValidPath].
// An id may also be "files/" and the path, or an https URL that contains "/files/" and
// the path. A path cannot leave FS, and no element of it may begin with a dot. Only
// regular files are read. FS determines whether symbolic links are followed: [os.DirFS]
// follows them anywhere, and the FS of an [os.Root] only below its root.
//
// For an id that names no file, Resolve returns a [*Violation]. For links and other
// URLs it returns [ErrUnresolved]. The media type is that of the leading bytes if they are
// those of a PNG, JPEG, GIF, WebP or PDF file, or else that of the file name extension. It
// is empty if neither is known.
//
// Files is safe for concurrent use if FS is.
type Files struct {
	FS fs.FS // nil contains no files

	// MaxBytes is the maximum size of a file. 0 means 32 MiB.
	MaxBytes int64
}

const maxFileBytes = 32 << 20

// Resolve returns the contents of a file.
func (f Files) Resolve(ctx context.Context, s Source) (Blob, error) {
	file, ok := s.(*File)
	if !ok || file == nil {
		return Blob{}, ErrUnresolved
	}
	name, known := fileName(file.ID)
	if !known {
		return Blob{}, ErrUnresolved
	}
	if f.FS == nil || !fs.ValidPath(name) || isHidden(name) {
		return Blob{}, fileNotFound(nil)
	}
	// Opening something other than a regular file, such as a pipe, may block.
	info, err := fs.Stat(f.FS, name)
	if err != nil {
		return Blob{}, fileNotFound(err)
	}
	if !info.Mode().IsRegular() {
		return Blob{}, fileNotFound(nil)
	}
	if err := context.Cause(ctx); err != nil {
		return Blob{}, err
	}
	data, err := f.read(name)
	if err != nil {
		return Blob{}, err
	}
	b := Blob{Data: data, MediaType: media.Detect(data)}
	if b.MediaType == "" {
		b.MediaType = extensionTypes[strings.ToLower(path.Ext(name))]
	}
	return b, nil
}

// fileName returns the file name in an id. known is false for URLs without a file name.
func fileName(id string) (name string, known bool) {
	if name, ok := strings.CutPrefix(id, "files/"); ok {
		return name, true
	}
	scheme, rest, address := strings.Cut(id, "://")
	if !address {
		return id, true
	}
	_, name, found := strings.Cut(rest, "/files/")
	return name, found && strings.EqualFold(scheme, "https")
}

// isHidden reports whether a name must not be served: one with an element that begins
// with a dot, or one that an operating system may read as a path of its own syntax.
func isHidden(name string) bool {
	return name[0] == '.' || strings.Contains(name, "/.") || strings.ContainsAny(name, "\\:\x00")
}

func (f Files) read(name string) ([]byte, error) {
	file, err := f.FS.Open(name)
	if err != nil {
		return nil, fileNotFound(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	maxBytes := cmp.Or(f.MaxBytes, maxFileBytes)
	if info.Size() > maxBytes {
		return nil, &Violation{Code: CodeLimit, Text: fmt.Sprintf("the file has %d bytes, at most %d are allowed", info.Size(), maxBytes)}
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(file, data); err != nil {
		return nil, err
	}
	return data, nil
}

// fileNotFound returns the error for an id that names no file. err is the cause for the
// log of the host, and may be nil.
func fileNotFound(err error) error {
	return &Violation{Code: CodeValue, Text: "there is no file with this id", Err: err}
}

// extensionTypes maps file name extensions to media types.
var extensionTypes = map[string]string{
	".txt": "text/plain", ".text": "text/plain", ".log": "text/plain", ".md": "text/markdown", ".csv": "text/csv",
	".html": "text/html", ".htm": "text/html", ".css": "text/css", ".xml": "text/xml", ".json": "application/json",
	".rtf": "application/rtf", ".js": "text/javascript", ".py": "text/x-python",
	".heic": "image/heic", ".heif": "image/heif", ".avif": "image/avif", ".bmp": "image/bmp", ".tif": "image/tiff",
	".tiff": "image/tiff", ".svg": "image/svg+xml",
	".mp3": "audio/mpeg", ".wav": "audio/wav", ".ogg": "audio/ogg", ".opus": "audio/opus", ".flac": "audio/flac",
	".aac": "audio/aac", ".m4a": "audio/mp4", ".aiff": "audio/aiff",
	".mp4": "video/mp4", ".webm": "video/webm", ".mov": "video/quicktime", ".mpeg": "video/mpeg", ".mpg": "video/mpeg",
	".avi": "video/x-msvideo", ".3gp": "video/3gpp", ".mkv": "video/x-matroska",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	".doc":  "application/msword", ".xls": "application/vnd.ms-excel", ".ppt": "application/vnd.ms-powerpoint",
	".odt": "application/vnd.oasis.opendocument.text", ".epub": "application/epub+zip", ".zip": "application/zip",
}

package content

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// Files is a [Resolver] of the files in a file system: what a request names by
// id is the file of that name. How files get there is the host's affair.
//
// An id is a slash-separated path below the root of FS, as [fs.ValidPath] has
// it. Of an id that begins with "files/", and of an https address with "/files/"
// in its path, what stands behind that is the name. No name leads out of FS, nor
// to a file or directory whose name begins with a dot; only regular files are
// read. What a symbolic link leads to is for FS to say: that of [os.DirFS]
// follows links anywhere, that of [os.Root] stays below its root.
//
// An id that names no file is an [*Violation]. Links, and addresses of any other
// kind, are [ErrUnresolved]. A file's type is shown by its leading bytes or
// else by the end of its name; it is empty if neither does.
type Files struct {
	FS fs.FS // nil has no files

	// MaxBytes is how long a file may be; 0 means 32 MiB.
	MaxBytes int64
}

const maxFileBytes = 32 << 20

// Resolve returns the bytes of a file.
func (f Files) Resolve(ctx context.Context, s Source) (Blob, error) {
	file, ok := s.(*File)
	if !ok || file == nil {
		return Blob{}, ErrUnresolved
	}
	name, known := fileName(file.ID)
	if !known {
		return Blob{}, ErrUnresolved
	}
	if f.FS == nil || !fs.ValidPath(name) || hidden(name) {
		return Blob{}, noFile(nil)
	}
	// Opening what is no file, such as a pipe, may block.
	info, err := fs.Stat(f.FS, name)
	if err != nil {
		return Blob{}, noFile(err)
	}
	if !info.Mode().IsRegular() {
		return Blob{}, noFile(nil)
	}
	if err := context.Cause(ctx); err != nil {
		return Blob{}, err
	}
	data, err := f.read(name)
	if err != nil {
		return Blob{}, err
	}
	b := Blob{Data: data, MediaType: DetectMediaType(data)}
	if b.MediaType == "" {
		b.MediaType = endings[strings.ToLower(path.Ext(name))]
	}
	return b, nil
}

// fileName returns the name of the file that an id means. Addresses of other
// places are not known.
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

// hidden reports whether a name is not to be found although it may exist: one
// that begins with a dot, or that some system would take for a path of its own
// kind.
func hidden(name string) bool {
	return name[0] == '.' || strings.Contains(name, "/.") || strings.ContainsAny(name, "\\:\x00")
}

func (f Files) read(name string) ([]byte, error) {
	file, err := f.FS.Open(name)
	if err != nil {
		return nil, noFile(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	most := f.MaxBytes
	if most == 0 {
		most = maxFileBytes
	}
	if info.Size() > most {
		return nil, &Violation{Code: CodeLimit, Text: fmt.Sprintf("the file has %d bytes, at most %d are allowed", info.Size(), most)}
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(file, data); err != nil {
		return nil, err
	}
	return data, nil
}

// noFile tells the client no more than that there is no file. The host is told
// why, if err is not nil.
func noFile(err error) error {
	return &Violation{Code: CodeValue, Text: "there is no file with this id", Err: err}
}

// endings are the media types that the end of a name shows.
var endings = map[string]string{
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

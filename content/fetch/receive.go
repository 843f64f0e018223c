package fetch

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/polywire/polywire/content"
)

// receive reads the file in an answer.
func (f *Fetcher) receive(resp *http.Response) (content.Blob, error) {
	if isEncoded(resp) {
		return content.Blob{}, &verdict{content.CodeMedia, "is sent compressed, which is not accepted"}
	}
	data, err := f.read(f.meter(resp.Body), resp.ContentLength)
	if err != nil {
		return content.Blob{}, err
	}
	if len(data) == 0 {
		return content.Blob{}, &verdict{content.CodeMedia, "is empty"}
	}
	kind := content.DetectMediaType(data)
	if kind == "" {
		kind = labelOf(resp)
		if content.Detectable(kind) {
			return content.Blob{}, &verdict{content.CodeMedia, "is not what its origin calls it, " + kind}
		}
	}
	return content.Blob{MediaType: kind, Data: data}, nil
}

func isEncoded(resp *http.Response) bool {
	for _, line := range resp.Header["Content-Encoding"] {
		for coding := range strings.SplitSeq(line, ",") {
			if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "identity") {
				return true
			}
		}
	}
	return resp.Uncompressed
}

// labelOf returns the type that an answer is said to be of, without parameters.
func labelOf(resp *http.Response) string {
	lines := resp.Header["Content-Type"]
	if len(lines) != 1 {
		return ""
	}
	kind, _, err := mime.ParseMediaType(lines[0])
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || !strings.Contains(kind, "/") {
		return ""
	}
	return content.CanonicalMediaType(kind)
}

const firstRead = 64 << 10

// read reads a body to its end, whose length is -1 if it is not known. What is
// allocated follows what has arrived: the promised length only keeps the last
// step from going too far.
func (f *Fetcher) read(body io.Reader, length int64) ([]byte, error) {
	most := f.o.Limits.File
	if length > most {
		return nil, f.tooLarge()
	}
	limit := most + 1 // the byte that tells that there are too many
	if length >= 0 {
		limit = length + 1
	}
	data := make([]byte, 0, min(limit, firstRead))
	for {
		n, err := body.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > most:
			return nil, f.tooLarge()
		case err == io.EOF && length >= 0 && int64(len(data)) != length:
			return nil, fmt.Errorf("%d bytes of %d", len(data), length)
		case err == io.EOF:
			return trim(data), nil
		case err != nil:
			return nil, err
		case int64(len(data)) == limit:
			return nil, errors.New("more bytes than promised")
		case len(data) == cap(data):
			next := make([]byte, len(data), min(limit, 2*int64(cap(data))))
			copy(next, data)
			data = next
		}
	}
}

// trim returns data without the room that was left for more, if that is much.
func trim(data []byte) []byte {
	if cap(data)-len(data) <= len(data)/4 {
		return data
	}
	return append(make([]byte, 0, len(data)), data...)
}

func (f *Fetcher) tooLarge() error {
	return &verdict{content.CodeLimit, fmt.Sprintf("is larger than %d bytes", f.o.Limits.File)}
}

package codec

import (
	"io"
	"strings"
	"sync"
)

// ReadText reads r to its end and returns the text. more reports that there are more than
// limit bytes. size is the expected number of bytes; -1 means that it is unknown.
func ReadText(r io.Reader, size, limit int64) (text string, more bool, err error) {
	buf := readBuffers.Get().(*[32 << 10]byte)
	defer readBuffers.Put(buf)
	var b strings.Builder
	b.Grow(int(max(0, min(size, limit, maxExpected))))
	n, err := io.CopyBuffer(&b, io.LimitReader(r, limit+1), buf[:])
	return b.String(), n > limit, err
}

// maxExpected bounds the memory that is allocated before the bytes of a response arrive.
const maxExpected = 1 << 20

// readBuffers are what io.Copy would allocate for each response.
var readBuffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

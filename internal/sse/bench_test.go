package sse

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/floor"
)

// BenchmarkReader compares reading a stream's events with copying the stream in
// pieces and searching its line feeds.
func BenchmarkReader(b *testing.B) {
	for _, size := range []int{16, 1000, 100_000} {
		var stream strings.Builder
		for i := range 1000 {
			data := fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"text":%q}}`, i, strings.Repeat("x", size))
			stream.WriteString(written(Event{"content_block_delta", data}))
			if stream.Len() > 4<<20 {
				break
			}
		}
		in := stream.String()
		buf := make([]byte, 16<<10)
		scan := func() {
			src := strings.NewReader(in)
			for {
				n, err := src.Read(buf)
				for p := buf[:n]; ; {
					i := bytes.IndexByte(p, '\n')
					if i < 0 {
						break
					}
					p = p[i+1:]
				}
				if err == io.EOF {
					return
				}
			}
		}
		read := func() {
			r := NewReader(strings.NewReader(in), 0)
			for {
				if _, err := r.Next(); err != nil {
					return
				}
			}
		}
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			floor.Against(b, "×copy+scan", scan, func() {
				b.SetBytes(int64(len(in)))
				b.ReportAllocs()
				for b.Loop() {
					read()
				}
			}, read)
		})
	}
}

// BenchmarkReaderLineEnds shows that reading is linear if every byte is a line end.
func BenchmarkReaderLineEnds(b *testing.B) {
	for _, unit := range []string{"\n", "\r", "\r\n", "data\r"} {
		in := strings.Repeat(unit, 1<<18)
		b.Run(fmt.Sprintf("%q", unit), func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				r := NewReader(strings.NewReader(in), 0)
				for {
					if _, err := r.Next(); err != nil {
						break
					}
				}
			}
		})
	}
}

package media

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// BenchmarkCheck compares File.Check with the decoder of the standard library and
// with gjson.Valid (V) on the same text.
func BenchmarkCheck(b *testing.B) {
	data := base64.StdEncoding.EncodeToString([]byte("%PDF-1.7\n" + strings.Repeat("stream of bytes\x00\xff\xfe", 60000)))
	f := File{MediaType: "application/pdf", Data: data}
	doc := `"` + data + `"`
	dst := make([]byte, len(data))
	b.SetBytes(int64(len(data)))
	v := floor(b, func() { gjson.Valid(doc) })
	std := floor(b, func() { base64.StdEncoding.Decode(dst, []byte(data)) })
	bytes := floor(b, func() { f.Bytes() })
	for b.Loop() {
		f.Check(Base64Strict, Limits{})
	}
	each := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
	b.ReportMetric(each/v, "V")
	b.ReportMetric(each/std, "of-decoding")
	b.ReportMetric(bytes/std, "Bytes/decoding")
}

// floor returns the lowest time of f in nanoseconds.
func floor(b *testing.B, f func()) float64 {
	b.Helper()
	best := time.Hour
	for range 20 {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	return float64(best.Nanoseconds())
}

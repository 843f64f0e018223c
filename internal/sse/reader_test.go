package sse

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// readAll returns all events and the error after them.
func readAll(src io.Reader, limit int) ([]Event, error) {
	r := NewReader(src, limit)
	var list []Event
	for {
		e, err := r.Next()
		if err != nil {
			return list, err
		}
		list = append(list, e)
	}
}

func TestReader(t *testing.T) {
	const bom = "\uFEFF"
	tests := []struct {
		name, in string
		want     []Event
		err      error
	}{
		{"empty", "", nil, io.EOF},
		{"one", "event: a\ndata: b\n\n", []Event{{"a", "b"}}, io.EOF},
		{"two", "event: a\ndata: b\n\nevent: c\ndata: d\n\n", []Event{{"a", "b"}, {"c", "d"}}, io.EOF},
		{"CR", "event: a\rdata: b\r\revent: c\rdata: d\r\r", []Event{{"a", "b"}, {"c", "d"}}, io.EOF},
		{"CRLF", "event: a\r\ndata: b\r\n\r\nevent: c\r\ndata: d\r\n\r\n", []Event{{"a", "b"}, {"c", "d"}}, io.EOF},
		{"mixed line ends", "event: a\rdata: b\n\r\nevent: c\r\ndata: d\r\n\n", []Event{{"a", "b"}, {"c", "d"}}, io.EOF},
		{"LF CR is two ends", "data: a\n\rdata: b\n\n", []Event{{"", "a"}, {"", "b"}}, io.EOF},
		{"byte order mark", bom + "data: a\n\n", []Event{{"", "a"}}, io.EOF},
		{"byte order mark before an empty line", bom + "\ndata: a\n\n", []Event{{"", "a"}}, io.EOF},
		{"only a byte order mark", bom, nil, io.EOF},
		{"half a byte order mark", bom[:2], nil, io.ErrUnexpectedEOF},
		{"byte order mark before a cut comment", bom + ": x", nil, io.EOF},
		{"second byte order mark", bom + bom + "data: a\n\ndata: b\n\n", []Event{{"", "b"}}, io.EOF},
		{"later byte order mark", "\n" + bom + "data: a\n\n", nil, io.EOF},
		{"comments", ": hi\ndata: a\n:\n: data: x\n\n:bye\n", []Event{{"", "a"}}, io.EOF},
		{"several data lines", "data: a\ndata: b\ndata\ndata: c\n\n", []Event{{"", "a\nb\n\nc"}}, io.EOF},
		{"data apart", "data: a\nid: 1\ndata: b\n\n", []Event{{"", "a\nb"}}, io.EOF},
		{"data before name", "data: a\nevent: n\n\n", []Event{{"n", "a"}}, io.EOF},
		{"last name counts", "event: m\nevent: n\ndata: a\n\n", []Event{{"n", "a"}}, io.EOF},
		{"an empty name clears", "event: m\nevent\ndata: a\n\n", []Event{{"", "a"}}, io.EOF},
		{"no space", "event:n\ndata:a\n\n", []Event{{"n", "a"}}, io.EOF},
		{"one space goes", "data:  a \n\n", []Event{{"", " a "}}, io.EOF},
		{"colons in values", "data: a:b: c\n\n", []Event{{"", "a:b: c"}}, io.EOF},
		{"unknown fields", "id: 7\nretry: 100\nfoo: bar\nfoo\ndata: a\n\n", []Event{{"", "a"}}, io.EOF},
		{"names are exact", "Data: a\n data: b\ndata : c\n\n", nil, io.EOF},
		{"no data", "event: a\n\ndata: b\n\n", []Event{{"", "b"}}, io.EOF},
		{"empty data", "event: a\ndata:\n\n", []Event{{"a", ""}}, io.EOF},
		{"two empty data", "data\ndata\n\n", []Event{{"", "\n"}}, io.EOF},
		{"empty lines", "\n\r\n\r\ndata: a\n\n\n\n", []Event{{"", "a"}}, io.EOF},
		{"bytes that are not valid UTF-8", "data: \xff\x00\xfe\n\n", []Event{{"", "\xff\x00\xfe"}}, io.EOF},
		{"no empty line at the end", "data: a\n\ndata: b\n", []Event{{"", "a"}}, io.ErrUnexpectedEOF},
		{"a line without end", "data: a\n\ndata: b", []Event{{"", "a"}}, io.ErrUnexpectedEOF},
		{"cut in a field name", "data: a\n\nda", []Event{{"", "a"}}, io.ErrUnexpectedEOF},
		{"only a name at the end", "event: a\n", nil, io.ErrUnexpectedEOF},
		{"cut in a comment", "data: a\n\n: by", []Event{{"", "a"}}, io.EOF},
		{"cut in a comment within an event", "data: a\n: by", nil, io.ErrUnexpectedEOF},
		{"ends with CR", "data: a\r\r", []Event{{"", "a"}}, io.EOF},
		{"ends with one CR", "data: a\r", nil, io.ErrUnexpectedEOF},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for cut := range len(tt.in) + 1 {
				src := io.MultiReader(strings.NewReader(tt.in[:cut]), strings.NewReader(tt.in[cut:]))
				got, err := readAll(src, 0)
				if diff := cmp.Diff(tt.want, got); diff != "" || err != tt.err {
					t.Fatalf("cut at %d: error %v, want %v; events (-want +got):\n%s", cut, err, tt.err, diff)
				}
			}
			got, err := readAll(iotest.OneByteReader(strings.NewReader(tt.in)), 0)
			if diff := cmp.Diff(tt.want, got); diff != "" || err != tt.err {
				t.Errorf("by bytes: error %v, want %v; events (-want +got):\n%s", err, tt.err, diff)
			}
		})
	}
}

func TestReaderLargeEvents(t *testing.T) {
	var in strings.Builder
	var want []Event
	for i, size := range []int{1, 5 << 10, 17 << 10, 300 << 10, 10, 70 << 10, 20} {
		e := Event{fmt.Sprint("n", i), strings.Repeat(string(rune('a'+i)), size)}
		want = append(want, e)
		in.WriteString(written(e))
	}
	for _, wrap := range []func(io.Reader) io.Reader{
		func(r io.Reader) io.Reader { return r }, iotest.HalfReader, iotest.DataErrReader,
		func(r io.Reader) io.Reader { return iotest.DataErrReader(iotest.OneByteReader(r)) },
	} {
		got, err := readAll(wrap(strings.NewReader(in.String())), 0)
		if diff := cmp.Diff(want, got); diff != "" || err != io.EOF {
			t.Errorf("error %v; events (-want +got):\n%.500s", err, diff)
		}
	}
}

func TestReaderLimit(t *testing.T) {
	const limit = 20
	tests := []struct {
		name, in string
		want     int // events
		err      error
	}{
		{"just so", "data: 12345678901234\n\ndata: 12345678901234\r\n\r\n", 2, io.EOF},
		{"one too many", "data: 123456789012345\n\n", 0, ErrTooLarge},
		{"without a line end", "data: 123456789012345", 0, ErrTooLarge},
		{"several lines just so", "event: a\ndata: 12345\n\n", 1, io.EOF},
		{"several lines", "event: a\ndata: 1234567\n\n", 0, ErrTooLarge},
		{"empty data lines", "data\ndata\ndata\ndata\ndata\ndata\n\n", 0, ErrTooLarge},
		{"name", "event: " + strings.Repeat("x", 14), 0, ErrTooLarge},
		{"unknown field", "data: 1\nfoo: 12345678901\n\n", 0, ErrTooLarge},
		{"comments do not count", "data: 12345678901234\n" + strings.Repeat(": 12345678\n", 9) + "\n", 1, io.EOF},
		{"a comment", ": 1234567890123456789012\ndata: a\n\n", 1, io.EOF},
		{"the event behind", "data: a\n\ndata: 123456789012345\n\n", 1, ErrTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := NewReader(strings.NewReader(tt.in), limit)
			n := 0
			_, err := r.Next()
			for ; err == nil; n++ {
				_, err = r.Next()
			}
			if n != tt.want || err != tt.err {
				t.Errorf("got %d events and %v, want %d and %v", n, err, tt.want, tt.err)
			}
			if _, again := r.Next(); again != err {
				t.Errorf("Next again: %v, want %v", again, err)
			}
		})
	}
	t.Run("endless comment", func(t *testing.T) {
		if _, err := readAll(endless(":x"), 1<<16); err != ErrTooLarge {
			t.Errorf("got %v", err)
		}
	})
	t.Run("endless line", func(t *testing.T) {
		if _, err := readAll(endless("data:x"), 1<<16); err != ErrTooLarge {
			t.Errorf("got %v", err)
		}
	})
}

// endless is a source that repeats itself.
type endless string

func (e endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		n += copy(p[n:], e)
	}
	return n, nil
}

func TestReaderErrors(t *testing.T) {
	broken := errors.New("broken")
	src := io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken))
	got, err := readAll(src, 0)
	if len(got) != 1 || err != broken {
		t.Errorf("got %v and %v", got, err)
	}
	if _, err := readAll(silent{}, 0); err != io.ErrNoProgress {
		t.Errorf("a source that gives nothing: %v", err)
	}
}

type silent struct{}

func (silent) Read([]byte) (int, error) { return 0, nil }

// reads returns its pieces one by one and fails the test for an extra read.
type reads struct {
	t      *testing.T
	pieces []string
}

func (r *reads) Read(p []byte) (int, error) {
	if len(r.pieces) == 0 {
		r.t.Fatal("a read too many")
	}
	n := copy(p, r.pieces[0])
	r.pieces = r.pieces[1:]
	return n, nil
}

func TestReaderBuffered(t *testing.T) {
	src := &reads{t, []string{"data: a\n\ndata: b\n\n: x\nevent: c\n", "data: c\r", "\r", "\ndata: d\n\n"}}
	r := NewReader(src, 0)
	if _, ok := r.Peek(); ok || r.Buffered() {
		t.Error("Buffered before the first read")
	}
	for _, want := range []struct {
		data string
		more bool // behind it
	}{{"a", true}, {"b", false}, {"c", false}, {"d", false}} {
		e, err := r.Next()
		if err != nil || e.Data != want.data || r.Buffered() != want.more {
			t.Errorf("got %v, %v and Buffered %v, want %v", e, err, r.Buffered(), want)
		}
		if next, ok := r.Peek(); ok != want.more || ok && next.Data != "b" {
			t.Errorf("behind %v: Peek returned %v, %v", e, next, ok)
		}
	}
	if len(src.pieces) != 0 {
		t.Errorf("not read: %q", src.pieces)
	}
}

func TestReaderMemory(t *testing.T) {
	large := written(Event{"a", strings.Repeat("x", 1<<20)})
	r := NewReader(strings.NewReader(large+"data: "+strings.Repeat("y", 1<<20)+"\ndata: z\n\n"+"data: b\n\ndata: c\n\n"), 0)
	for {
		if _, err := r.Next(); err != nil {
			break
		}
	}
	r.src = endless("\n")
	r.err = nil
	r.fill()
	if n := cap(r.buf) + cap(r.data); n > keepBuffer {
		t.Errorf("%d bytes are kept after large events", n)
	}
}

func TestReaderAllocations(t *testing.T) {
	stream := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(written(Event{"content_block_delta", fmt.Sprintf(`{"index":0,"text":"some words, number %d"}`, i)}))
		}
		return b.String()
	}
	measure := func(in string) float64 {
		return testing.AllocsPerRun(20, func() {
			r := NewReader(strings.NewReader(in), 0)
			for {
				if _, err := r.Next(); err != nil {
					break
				}
			}
		})
	}
	short, long := stream(1000), stream(2000)
	more := measure(long) - measure(short)
	if limit := float64(len(long)-len(short))/(16<<10) + 1; more > limit {
		t.Errorf("%d more bytes took %v more allocations, want at most %.1f", len(long)-len(short), more, limit)
	}
}

func TestLimit(t *testing.T) {
	for n, want := range map[int64]int{-1: 32 << 20, 0: 32 << 20, 1: 1, 100 << 20: 100 << 20, 1 << 40: 1<<31 - 1} {
		if got := EventLimit(n); got != want {
			t.Errorf("Limit(%d) = %d, want %d", n, got, want)
		}
	}
}

package jsonwire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

func TestWriter(t *testing.T) {
	var w Writer
	for range 2 { // the second time after Reset
		w.BeginObject()
		w.Name("a\n")
		w.String("x\"y")
		w.RawName(`"b":`)
		w.BeginArray()
		w.Int(-1)
		w.Float(0.5)
		w.Float(math.Inf(1))
		w.Bool(true)
		w.Bool(false)
		w.Null()
		w.BeginObject()
		w.EndObject()
		w.BeginArray()
		w.EndArray()
		w.String("")
		w.EndArray()
		w.Members(` { "c" : 1 , "d":[{}] } `)
		w.Members(`{ }`)
		w.Members(``)
		w.Members(`null`)
		w.Members(`[1]`)
		w.Name("e")
		w.Raw(`{"f": 1}`)
		if err := w.MembersExcept(`{"g":"\u0041","h":2,"i":3}`, func(name string) bool { return name == "h" }); err != nil {
			t.Error(err)
		}
		if err := w.MembersExcept(`{"g":`, func(string) bool { return false }); err == nil {
			t.Error("MembersExcept: no error for half an object")
		}
		if err := w.MembersExcept(`[1]`, func(string) bool { return false }); err != nil {
			t.Error(err)
		}
		w.EndObject()
		want := `{"a\n":"x\"y","b":[-1,0.5,null,true,false,null,{},[],""],"c" : 1 , "d":[{}],"e":{"f": 1},"g":"\u0041","i":3}`
		checkOutput(t, &w, want)
		w.Reset()
		if w.Len() != 0 || len(w.Bytes()) != 0 || w.Text() != "" {
			t.Error("Reset leaves something")
		}
	}
	w.BeginObject()
	w.Members(`{"a":1}`)
	w.Members(`{"b":2}`)
	w.EndObject()
	checkOutput(t, &w, `{"a":1,"b":2}`)
}

// checkOutput checks that all ways to read the document give the same text.
func checkOutput(t *testing.T, w *Writer, want string) {
	t.Helper()
	if err := Valid(want, Limits{}); err != nil {
		t.Fatal(err)
	}
	if got := w.Text(); got != want {
		t.Fatalf("Text: %.300s, want %.300s", got, want)
	}
	if got := string(w.Bytes()); got != want {
		t.Errorf("Bytes: %.300s", got)
	}
	if w.Len() != len(want) {
		t.Errorf("Len: %d, want %d", w.Len(), len(want))
	}
	for range 2 {
		var b, c bytes.Buffer
		n, err := w.WriteTo(&b)
		if err != nil || n != int64(len(want)) || b.String() != want {
			t.Errorf("WriteTo: %d %v %.300s", n, err, b.String())
		}
		n, err = w.WriteTo(struct{ io.Writer }{&c}) // one that takes no strings
		if err != nil || n != int64(len(want)) || c.String() != want {
			t.Errorf("WriteTo without WriteString: %d %v %.300s", n, err, c.String())
		}
		if err := iotest.TestReader(w.Reader(), []byte(want)); err != nil {
			t.Errorf("Reader: %v", err)
		}
	}
}

// mixed writes a document of short and long texts and returns the expected text.
func mixed(w *Writer) string {
	plain := strings.Repeat("plain text. ", 1000)
	escaped := strings.Repeat("line\n", 2000)
	both := plain + "\n" + plain + "\"" + escaped + plain
	bad := plain + "\xff" + plain
	raw := `{"raw":[` + strings.Repeat("1, ", 3000) + `1]}`
	var want []byte
	w.BeginArray()
	want = append(want, '[')
	for _, s := range []string{plain, escaped, both, bad, "short", plain, plain} {
		w.String(s)
		want = append(AppendString(want, s), ',')
	}
	w.Raw(raw)
	want = append(append(want, raw...), ",{"...)
	w.BeginObject()
	w.Members(raw)
	want = append(append(want, raw[1:len(raw)-1]...), '}', ']')
	w.EndObject()
	w.EndArray()
	return string(want)
}

func TestWriterReferences(t *testing.T) {
	var w Writer
	want := mixed(&w)
	if len(w.refs) != 9 {
		t.Errorf("%d references, want 9", len(w.refs))
	}
	checkOutput(t, &w, want)
	w.Reset()
	for _, r := range w.refs[:cap(w.refs)] {
		if r.text != "" {
			t.Error("Reset keeps a text alive")
		}
	}
	checkOutput(t, func() *Writer { w.Null(); return &w }(), "null")
	w.Reset()
	for range keepBuffer / 2 {
		w.Raw("[1]")
	}
	w.Reset()
	if cap(w.buf) > keepBuffer {
		t.Errorf("Reset keeps %d bytes", cap(w.buf))
	}
}

func TestReader(t *testing.T) {
	var w Writer
	want := mixed(&w)
	r := w.Reader()
	for _, at := range []int64{0, 1, 100, 13_000, 60_000, int64(len(want)) - 1, int64(len(want)), 5} {
		if n, err := r.Seek(at, io.SeekStart); n != at || err != nil {
			t.Fatalf("Seek: %d %v", n, err)
		}
		if r.Len() != len(want)-int(at) {
			t.Errorf("Len at %d: %d", at, r.Len())
		}
		got, err := io.ReadAll(r)
		if string(got) != want[at:] || err != nil {
			t.Errorf("from %d on: %d bytes (%v), want %d", at, len(got), err, len(want)-int(at))
		}
	}
	if n, err := r.Seek(10, io.SeekEnd); n != int64(len(want))+10 || err != nil || r.Len() != 0 {
		t.Errorf("Seek behind the end: %d %v, Len %d", n, err, r.Len())
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("Read behind the end: %d %v", n, err)
	}
	if _, err := r.Seek(-1, io.SeekStart); err == nil {
		t.Error("Seek before the start: no error")
	}
	if _, err := r.Seek(0, 7); err == nil {
		t.Error("Seek from nowhere: no error")
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// A limitedWriter fails after some bytes.
type limitedWriter struct{ left int }

var errFull = errors.New("full")

func (w *limitedWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	w.left -= n
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

func TestWriteToFails(t *testing.T) {
	var w Writer
	want := mixed(&w)
	for _, at := range []int{0, 1, 5000, 40_000, len(want) - 1} {
		r := w.Reader()
		n, err := r.WriteTo(&limitedWriter{at})
		if n != int64(at) || !errors.Is(err, errFull) {
			t.Errorf("after %d bytes: %d %v", at, n, err)
		}
		rest, err := io.ReadAll(r)
		if string(rest) != want[at:] || err != nil {
			t.Errorf("after %d bytes: %d are left (%v), want %d", at, len(rest), err, len(want)-at)
		}
	}
}

// TestJoinedString checks that several texts become one string.
func TestJoinedString(t *testing.T) {
	long := strings.Repeat("x", 2*refSize)
	for _, texts := range [][]string{nil, {""}, {"a", "\"b\n", "ü\xff"}, {"data:,", long, "\\"}, {long + "\"", long}} {
		var want, got Writer
		for _, w := range []*Writer{&want, &got} {
			w.BeginArray()
			w.Int(1)
		}
		want.String(strings.Join(texts, ""))
		got.JoinedString(texts...)
		for _, w := range []*Writer{&want, &got} {
			w.Int(2)
			w.EndArray()
		}
		if want.Text() != got.Text() {
			t.Errorf("%.20q: %.80s, want %.80s", texts, got.Text(), want.Text())
		}
	}
}

// TestLiterals checks that strings of a document are written as they were there, whatever the
// order, and other strings are escaped.
func TestLiterals(t *testing.T) {
	var elems []string
	for i := range 100 {
		elems = append(elems, fmt.Sprintf(`"\u003c%d\/%s\n"`, i, strings.Repeat("x", literalSize)))
	}
	d, err := Parse("["+strings.Join(elems, ",")+`,"\u003c"]`, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var w Writer
	d.Literals = &w.Literals
	var texts []string
	for _, v := range d.Root().Elems() {
		texts = append(texts, v.Str())
	}
	if len(w.Literals) != len(elems) {
		t.Errorf("%d literals, want %d", len(w.Literals), len(elems))
	}
	write := func(texts ...string) {
		for _, s := range texts {
			w.String(s)
		}
	}
	other := texts[3][:len(texts[3])-1] + "\t"
	w.BeginArray()
	write(texts[5], texts[5], texts[1], other, texts[60], texts[100])
	w.JoinedString(texts[100], texts[99], "\n")
	w.EndArray()
	escaped := func(s string) string { return string(AppendString(nil, s)) }
	want := []string{
		elems[5], escaped(texts[5]), escaped(texts[1]), escaped(other), elems[60], `"<"`,
		`"<` + strings.Trim(elems[99], `"`) + `\n"`,
	}
	checkOutput(t, &w, "["+strings.Join(want, ",")+"]")
}

// TestWriterChunks checks documents of many buffers with texts between them, and
// that a growing document is not copied.
func TestWriterChunks(t *testing.T) {
	var w Writer
	escaped := strings.Repeat("line\n\x01", 40_000)
	plain := strings.Repeat("plain text. ", 1000)
	build := func() string {
		var want []byte
		w.BeginArray()
		want = append(want, '[')
		for i := range 20_000 {
			s := strings.Repeat("é\"", i%400)
			switch i % 2000 {
			case 7:
				s = escaped
			case 500, 501, 502:
				s = plain
			}
			w.String(s)
			want = append(AppendString(want, s), ',')
		}
		w.Raw("1")
		w.EndArray()
		return string(append(want, '1', ']'))
	}
	want := build()
	if len(w.full) < 10 {
		t.Errorf("%d full buffers", len(w.full))
	}
	checkOutput(t, &w, want)
	w.Reset()
	want = build()
	checkOutput(t, &w, want)

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w = Writer{}
	w.BeginArray()
	for range 1 << 20 {
		w.String("twenty bytes of text")
	}
	w.EndArray()
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > uint64(w.Len())*5/4 {
		t.Errorf("%d bytes allocated for a document of %d", n, w.Len())
	}
}

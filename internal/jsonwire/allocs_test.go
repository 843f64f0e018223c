package jsonwire

import (
	"encoding/base64"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/race"
)

// allocs returns the number of allocations of f with warm pools. The garbage
// collector is off, since it empties pools.
func allocs(f func()) float64 {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	return testing.AllocsPerRun(50, f)
}

func TestParseAllocs(t *testing.T) {
	if race.Enabled {
		t.Skip("pools drop things at random under the race detector")
	}
	for name, body := range map[string]string{
		"small": smallBody(), "chat": chatBody(words["english"], 20), "agent": agentBody(),
		"intl": chatBody(words["russian"], 20), "file": fileBody(1 << 20),
	} {
		if n := allocs(func() {
			d, err := Parse(body, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			d.Close()
		}); n > 1 {
			t.Errorf("%s: %v allocations to parse, want 1", name, n)
		}
	}
}

func TestReadAllocs(t *testing.T) {
	d, err := Parse(`{"type":"text","n":12.0,"esc\u0061ped":"\n","list":[1,2,3],"data":"`+strings.Repeat("QUJD", 50)+`"}`, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	v := d.Root()
	v.Is("") // which makes room to unescape into
	v.Get("escaped").Is("\n")
	count := 0
	if n := allocs(func() {
		for i, e := range v.Get("list").Elems() {
			x, _ := e.Int()
			count += i + int(x)
		}
		if !v.Get("type").Is("text") || !v.Get("escaped").Is("\n") || v.Get("type").Str() != "text" {
			t.Error("wrong text")
		}
		if _, e := v.Get("data").Base64(); e != 0 {
			t.Error(e)
		}
		n, _ := v.Get("n").Int()
		count += int(n) + v.Len()
	}); n > 0 {
		t.Errorf("%v allocations to read, want 0", n)
	}
	plain := mustParse(t, `{"a":1,"b":{"c":2}}`)
	if n := allocs(func() {
		for name, m := range plain.Members() {
			count += len(name) + len(m.Raw())
		}
	}); n > 0 {
		t.Errorf("%v allocations to range over members, want 0", n)
	}
}

// TestStrAllocs checks that some 16 KB of strings take one allocation.
func TestStrAllocs(t *testing.T) {
	d, err := Parse("["+strings.Repeat(`"a line of text\n",`, 10_000)+"0]", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	n := allocs(func() {
		for _, e := range d.Root().Elems() {
			_ = e.Str()
		}
	})
	if limit := float64(10_000*15/arenaChunk + 2); n > limit {
		t.Errorf("%v allocations for 150 KB of strings, want at most %v", n, limit)
	}
}

func TestAppendAllocs(t *testing.T) {
	data := base64.StdEncoding.EncodeToString(make([]byte, 1000))
	dst := make([]byte, 0, 1<<10)
	if n := allocs(func() {
		dst = AppendString(dst[:0], "an event with a \"quote\" and é\n")
		dst = AppendInt(dst, 12)
		dst = AppendFloat(dst, 0.7)
		dst = AppendCompact(dst, "{ \"a\" : 1 }\n")
		if CheckBase64(data) != 0 {
			t.Error("not base64")
		}
	}); n > 0 {
		t.Errorf("%v allocations to append, want 0", n)
	}
}

// TestWriterAllocs checks that writing a file of 24 MB allocates a few KB.
func TestWriterAllocs(t *testing.T) {
	data := strings.Repeat("QUJD", 6<<20)
	raw := `"` + data + `"`
	write := func() {
		var w Writer
		w.BeginObject()
		w.Name("data")
		w.String(data)
		w.Name("raw")
		w.Raw(raw)
		w.EndObject()
		if n, err := w.WriteTo(struct{ io.Writer }{io.Discard}); err != nil || n < int64(len(data)) {
			t.Error(n, err)
		}
		if n, err := w.WriteTo(io.Discard); err != nil || n < int64(len(data)) {
			t.Error(n, err)
		}
		if n, err := io.Copy(struct{ io.Writer }{io.Discard}, w.Reader()); err != nil || n < int64(len(data)) {
			t.Error(n, err)
		}
	}
	write()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	write()
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 256<<10 {
		t.Errorf("%d bytes allocated, want at most 256 KB", n)
	}
	var w Writer
	if n := allocs(func() {
		w.Reset()
		w.BeginObject()
		w.Name("type")
		w.String("text")
		w.Name("data")
		w.String(data[:10_000])
		w.EndObject()
	}); n > 0 {
		t.Errorf("%v allocations of a Writer in use, want 0", n)
	}
}

// TestParseMemory bounds the memory of the densest documents, and checks that it is
// released.
func TestParseMemory(t *testing.T) {
	for name, body := range map[string]string{
		"values":  "[" + strings.Repeat("1,", 999_000) + "1]",
		"members": membersBody(400_000),
		"objects": "[" + strings.Repeat(`{"":0},`, 333_000) + "0]",
		"deep":    strings.Repeat("[", 900_000) + strings.Repeat("]", 900_000),
		"lenient": `["` + strings.Repeat("\xff", 1_000_000) + `"]`,
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		d, err := Parse(body, Limits{Depth: 1 << 20, AllowInvalidUTF8: true})
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if n, limit := int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(4*len(body)+64<<20); n > limit {
			t.Errorf("%s: %d bytes held, want at most %d", name, n, limit)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 256<<20 {
			t.Errorf("%s: %d bytes allocated", name, n)
		}
		d.Close()
		if d.tape != nil || d.nodes != nil {
			t.Errorf("%s: the tape is still there", name)
		}
	}
}

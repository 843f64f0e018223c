package sse

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// pieces returns a text in reads of the given sizes, which repeat.
type pieces struct {
	text string
	cuts []byte
	at   int
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.text == "" {
		return 0, io.EOF
	}
	n := len(p.text)
	if len(p.cuts) > 0 {
		n = min(n, 1+int(p.cuts[p.at%len(p.cuts)]))
		p.at++
	}
	n = copy(b, p.text[:n])
	p.text = p.text[n:]
	return n, nil
}

// written returns the wire form of an event.
func written(e Event) string {
	name := ""
	if e.Name != "" {
		name = "event: " + e.Name + "\n"
	}
	return name + "data: " + strings.ReplaceAll(e.Data, "\n", "\ndata: ") + "\n\n"
}

// reference is a slow reader that follows the standard's wording.
func reference(in string) ([]Event, error) {
	in = strings.TrimPrefix(in, "\uFEFF")
	in = strings.ReplaceAll(strings.ReplaceAll(in, "\r\n", "\n"), "\r", "\n")
	var list []Event
	var name string
	var data []string
	fields := false
	all := strings.Split(in, "\n")
	for _, line := range all[:len(all)-1] {
		switch {
		case line == "":
			if data != nil {
				list = append(list, Event{name, strings.Join(data, "\n")})
			}
			name, data, fields = "", nil, false
			continue
		case line[0] == ':':
			continue
		}
		fields = true
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			name = value
		case "data":
			data = append(data, value)
		}
	}
	last := all[len(all)-1]
	if fields || last != "" && last[0] != ':' {
		return list, io.ErrUnexpectedEOF
	}
	return list, io.EOF
}

func FuzzReader(f *testing.F) {
	f.Add("event: a\ndata: b\r\n\rdata: c\n\n", []byte{3, 0})
	f.Add("\uFEFFdata: a\r\rdata\ndata:\r\n\r\n: x\nevent:n\ndata:1\n\n", []byte{})
	f.Add("id: 1\nretry\n\n\n\ndata: x", []byte{0, 1, 2})
	f.Fuzz(func(t *testing.T, in string, cuts []byte) {
		want, wantErr := reference(in)
		for name, src := range map[string]io.Reader{
			"pieces": &pieces{text: in, cuts: cuts},
			"bytes":  iotest.OneByteReader(strings.NewReader(in)),
			"whole":  strings.NewReader(in),
		} {
			got, err := readAll(src, 0)
			if diff := cmp.Diff(want, got); diff != "" || err != wantErr {
				t.Errorf("%s: error %v, want %v; events (-want +got):\n%s", name, err, wantErr, diff)
			}
		}
		// Events can be written and read again.
		var again strings.Builder
		for _, e := range want {
			again.WriteString(written(e))
		}
		got, err := readAll(strings.NewReader(again.String()), 0)
		if diff := cmp.Diff(want, got); diff != "" || err != io.EOF {
			t.Errorf("written again: %v (-want +got):\n%s", err, diff)
		}
	})
}

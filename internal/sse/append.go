package sse

import "strings"

// AppendEvent appends an event. Line breaks of any kind in data, which JSON
// has only between its tokens, begin new "data" lines and are read back as LF.
// An empty name leaves out the "event" line; what stands behind a line break in
// a name is left out too, so that no text can break the framing.
func AppendEvent(dst []byte, name, data string) []byte {
	if i := strings.IndexAny(name, "\r\n"); i >= 0 {
		name = name[:i]
	}
	if name != "" {
		dst = append(dst, "event: "...)
		dst = append(dst, name...)
		dst = append(dst, '\n')
	}
	if strings.IndexByte(data, '\n') < 0 && strings.IndexByte(data, '\r') < 0 {
		return append(appendData(dst, data), '\n')
	}
	for {
		i := strings.IndexAny(data, "\r\n")
		if i < 0 {
			return append(appendData(dst, data), '\n')
		}
		dst = appendData(dst, data[:i])
		if strings.HasPrefix(data[i:], "\r\n") {
			i++
		}
		data = data[i+1:]
	}
}

func appendData(dst []byte, line string) []byte {
	dst = append(dst, "data: "...)
	dst = append(dst, line...)
	return append(dst, '\n')
}

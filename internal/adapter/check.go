package adapter

import (
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"
)

// base returns the URL that paths are appended to, with the version.
func (c *Config) base() (*url.URL, []string) {
	base, err := url.Parse(c.Base)
	switch {
	case err != nil:
		return nil, []string{"base URL: it cannot be read"} // it may hold a key
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return nil, []string{"base URL: it has to begin with http:// or https:// and a host"}
	case base.User != nil || base.Fragment != "":
		return nil, []string{"base URL: it has no place for user-info or a fragment"}
	}
	if len(c.Versions) > 0 && !slices.Contains(c.Versions, path.Base(base.EscapedPath())) {
		base = base.JoinPath(c.Versions[0])
	}
	return base, nil
}

// maxName bounds the name of a server, in bytes.
const maxName = 128

func (c *Config) name() []string {
	if len(c.Name) > maxName || strings.ContainsFunc(c.Name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		c.Name = "upstream"
		return []string{fmt.Sprintf("name: it must have at most %d bytes and no control characters", maxName)}
	}
	return nil
}

func (c *Config) key() []string {
	var faults []string
	if c.Key != "" && c.KeyFunc != nil {
		faults = append(faults, "key: there is both a Key and a KeyFunc")
	}
	if !sendable(c.Key) {
		faults = append(faults, "key: no header can hold it: "+unsendable)
	}
	if c.KeyHeader != "" && !headerName(c.KeyHeader) {
		faults = append(faults, fmt.Sprintf("key header: %q is no name of a header", c.KeyHeader))
	}
	return faults
}

func (c *Config) limits() []string {
	var faults []string
	for _, l := range []struct {
		name string
		most int64
	}{
		{"Body", c.Limits.Body}, {"Depth", int64(c.Limits.Depth)}, {"Values", int64(c.Limits.Values)}, {"Reply", c.MaxResponse},
	} {
		if l.most < 0 {
			faults = append(faults, fmt.Sprintf("limit %s: it is negative", l.name))
		}
	}
	return faults
}

func (c *Config) headers() []string {
	var faults []string
	for _, name := range slices.Sorted(maps.Keys(c.Header)) {
		switch {
		case !headerName(name):
			faults = append(faults, fmt.Sprintf("header %q: it is no name of a header", name))
		case slices.ContainsFunc(c.Header[name], func(v string) bool { return !sendable(v) }):
			faults = append(faults, fmt.Sprintf("header %q: %s", name, unsendable))
		}
	}
	return faults
}

func headerName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.!#$%&'*+^`|~") == ""
}

// sendable reports whether net/http sends a value in a header.
func sendable(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// unsendable says what is wrong otherwise.
const unsendable = "there is a line break or another control character in it"

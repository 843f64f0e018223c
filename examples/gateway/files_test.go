package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const pdf = "%PDF-1.7\n"

// postDocument sends a request with one document in a format, and returns the status and body
// of the response.
func (g *gateway) postDocument(t *testing.T, format, link string) (int, string) {
	t.Helper()
	path, body := "/v1/messages", `{"model":"m","max_tokens":900,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"url","url":"`+link+`"}}]}]}`
	if !strings.Contains(link, "://") {
		body = strings.Replace(body, `"type":"url","url"`, `"type":"file","file_id"`, 1)
	}
	if format == "generatecontent" {
		if !strings.Contains(link, "://") {
			link = "files/" + link
		}
		path, body = "/v1beta/models/m:generateContent", `{"contents":[{"parts":[{"fileData":{"mimeType":"application/pdf","fileUri":"`+link+`"}}]}]}`
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", g.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if format == "messages" {
		r.Header.Set("anthropic-version", "2023-06-01")
		r.Header.Set("anthropic-beta", "files-api-2025-04-14")
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// Flags configure files that are not in the request.
func TestFiles(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, pdf) }))
	defer origin.Close()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "report"), []byte(pdf), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args, file string
		status     int
		text       string
	}{
		{"", origin.URL, 400, "https"},
		{"-allow-private", origin.URL, 200, "9 bytes"},
		{"-allow-private", "http://169.254.169.254/", 400, "not on the public internet"},
		{"-links off", "https://files.example.org/a", 400, "this server does not fetch links"},
		{"-links pass", "https://files.example.org/a", 200, "files.example.org"},
		{"-links pass", "https://localhost/a", 400, "not on the public internet"},
		{"", "report", 200, "report"},
		{"-files " + dir, "report", 200, "9 bytes"},
		{"-files " + dir, "../report", 400, "no file with this id"},
	} {
		t.Run(tt.args+" "+tt.file, func(t *testing.T) {
			g := start(t, strings.Fields(tt.args)...)
			defer g.stop(t)
			for _, format := range []string{"messages", "generatecontent"} {
				if status, body := g.postDocument(t, format, tt.file); status != tt.status || !strings.Contains(body, tt.text) {
					t.Errorf("%s: %d %s, want %d and %q", format, status, body, tt.status, tt.text)
				}
			}
		})
	}
	if err := run(t.Context(), nil, []string{"-files", filepath.Join(dir, "nothing")}, io.Discard, io.Discard); err == nil {
		t.Error("a missing directory is not an error")
	}
}

// nameServer starts a DNS server on loopback that resolves every name to 127.0.0.1. It
// returns the address of the server.
func nameServer(t *testing.T) string {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	go func() {
		b := make([]byte, 1500)
		for {
			n, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			end := 12 // of the question: labels, a zero byte, type and class
			for end < n && b[end] != 0 {
				end += 1 + int(b[end])
			}
			end += 5
			isA := end <= n && b[end-3] == 1
			reply := append([]byte{b[0], b[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, b[12:end]...)
			if isA {
				reply[7] = 1
				reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1)
			}
			_, _ = c.WriteTo(reply, from)
		}
	}()
	return c.LocalAddr().String()
}

// -allow-origin allows nothing but the origin, and -resolver looks up its name.
func TestAllowOrigin(t *testing.T) {
	serve := func(h http.HandlerFunc) (port string) {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		_, port, err := net.SplitHostPort(s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return port
	}
	file := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/a", http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, pdf)
	}
	port, other := serve(file), serve(file)
	dns := nameServer(t)
	for _, tt := range []struct {
		args, link string
		status     int
		text       string
	}{
		{"-allow-origin 127.0.0.1:" + port, "http://127.0.0.1:" + port + "/a", 200, "9 bytes"},
		{"-allow-origin 127.0.0.1:1 -allow-origin 127.0.0.1:" + port, "http://127.0.0.1:" + port + "/a", 200, "9 bytes"},
		{"-allow-origin 127.0.0.1:" + port, "http://127.0.0.1:" + other + "/a", 400, "https"},
		{"-allow-origin 127.0.0.1:" + port, "https://127.0.0.1:" + other + "/a", 400, "port"},
		{"-allow-origin 127.0.0.1:" + port, "https://127.0.0.1/a", 400, "not on the public internet"},
		{"-allow-origin 127.0.0.1:" + port, "http://files.corp.example:" + port + "/a", 400, "https"},
		{"-allow-origin 127.0.0.1:" + port, "http://127.0.0.1:" + port + "/moved", 400, "could not be"},
		{"-resolver " + dns + " -allow-origin Files.Corp.Example.:" + port, "http://files.corp.example:" + port + "/a", 200, "9 bytes"},
		{"-resolver " + dns + " -allow-origin intranet:" + port, "http://intranet:" + port + "/a", 200, "9 bytes"},
		{"-resolver " + dns, "https://files.example.org/a", 400, "could not be"},
	} {
		t.Run(tt.args+" "+tt.link, func(t *testing.T) {
			g := start(t, strings.Fields(tt.args)...)
			defer g.stop(t)
			for _, format := range []string{"messages", "generatecontent"} {
				if status, body := g.postDocument(t, format, tt.link); status != tt.status || !strings.Contains(body, tt.text) {
					t.Errorf("%s: %d %s, want %d and %q", format, status, body, tt.status, tt.text)
				}
			}
		})
	}
}

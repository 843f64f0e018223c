package main

import (
	"embed"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"path"
	"strings"
)

//go:embed page
var pageFiles embed.FS

// mediaTypes are the types of files of the page, by extension.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".png":  "image/png",
}

// headers are on every response. The page uses its own files only.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
		"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options":       "nosniff",
	"Referrer-Policy":              "no-referrer",
	"Cache-Control":                "no-store",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
}

// newHandler returns the handler of the page and of its API. If loopback is false, the limits
// are those for a server that others reach. If it is true, requests
// to other hosts than this machine are refused: a page of another site could otherwise
// reach the server under a name that it has given a loopback address.
func newHandler(loopback bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", servePage)
	mux.HandleFunc("/losses.html", serveLosses)
	newAPI(loopback).serve(mux)
	origin := http.NewCrossOriginProtection()
	origin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeError(w, http.StatusForbidden, "requests from pages of other origins are not allowed")
	}))
	next := origin.Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		if loopback && !isLoopbackHost(r.Host) {
			writeError(w, http.StatusMisdirectedRequest, "unknown host; use localhost or a loopback address")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLoopbackHost reports whether a Host header, with or without a port, names this machine.
func isLoopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return err == nil && ip.IsLoopback()
}

// servePage serves the files of the page.
func servePage(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = "index.html"
	}
	mediaType, known := mediaTypes[path.Ext(name)]
	file, err := fs.ReadFile(pageFiles, "page/"+name)
	switch {
	case err != nil || !known:
		writeError(w, http.StatusNotFound, "not found")
		return
	case !allow(w, r, http.MethodGet):
		return
	}
	w.Header().Set("Content-Type", mediaType)
	w.Write(file)
}

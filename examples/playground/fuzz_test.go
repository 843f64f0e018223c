package main

import (
	"encoding/json"
	"net/http"
	"testing"
	"unicode/utf16"

	"github.com/polywire/polywire/examples/internal/format"
)

// quote returns a text as JSON.
func quote(t testing.TB, text string) string {
	t.Helper()
	b, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// No document makes the API fail, and every place is within its text.
func FuzzAPI(f *testing.F) {
	paths := []string{"/api/request", "/api/places", "/api/response", "/api/stream"}
	for kind := range paths {
		for i := range format.All {
			f.Add(uint8(kind), uint8(i), agentRequest)
			f.Add(uint8(kind), uint8(i), sampledRequest)
			f.Add(uint8(kind), uint8(i), "{\"a\":[\"😀\xff\\ud800\"}")
		}
	}
	for _, s := range samples {
		for i, from := range format.All {
			if from.Name == s.Format {
				kind := map[string]uint8{"request": 0, "response": 2, "stream": 3}[s.Kind]
				f.Add(kind, uint8(i), s.Text)
				f.Add(uint8(1), uint8(i), s.Text)
			}
		}
	}
	h := newHandler(true)
	f.Fuzz(func(t *testing.T, kind, from uint8, text string) {
		path := paths[int(kind)%len(paths)]
		source := format.All[int(from)%len(format.All)]
		var targets []string
		for _, to := range format.All {
			targets = append(targets, to.Name)
		}
		if path != "/api/places" {
			send(t, h, path, source.Name, text, targets)
			return
		}
		for _, to := range targets {
			send(t, h, path, source.Name, text, []string{to})
		}
	})
}

// send calls the API and checks its answer.
func send(t *testing.T, h http.Handler, path, format, text string, targets []string) {
	body := taskBody(t, format, text, targets...)
	w := call(t, h, path, body)
	if w.Code >= 500 || !json.Valid(w.Body.Bytes()) {
		t.Fatalf("%s: status %d: %s", path, w.Code, w.Body)
	}
	if w.Code != 200 {
		return
	}
	var a struct {
		Violations, Losses []anyPlace
		Steps              []anyPlace
		Outputs            []struct {
			Text               string
			Violations, Losses []anyPlace
		}
		Places []struct{ Output []span }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		t.Fatal(err)
	}
	input := unitsOf(t, text)
	check(t, input, a.Violations, a.Losses, a.Steps)
	for _, out := range a.Outputs {
		check(t, input, out.Violations, out.Losses)
		for _, l := range out.Losses {
			within(t, len(utf16.Encode([]rune(out.Text))), l.Output)
		}
	}
	if len(a.Places) == 0 {
		return
	}
	var r requestResult
	if err := json.Unmarshal(call(t, h, "/api/request", body).Body.Bytes(), &r); err != nil || len(r.Outputs) != 1 {
		t.Fatalf("places without an output: %v", err)
	}
	n := len(utf16.Encode([]rune(r.Outputs[0].Text)))
	for _, p := range a.Places {
		for _, s := range p.Output {
			within(t, n, &s)
		}
	}
}

// anyPlace has the places of every kind of object.
type anyPlace struct {
	span
	Input, Output *span
	Losses        []anyPlace
}

// unitsOf returns the length of a text as the server receives it.
func unitsOf(t *testing.T, text string) int {
	var received string
	if err := json.Unmarshal([]byte(quote(t, text)), &received); err != nil {
		t.Fatal(err)
	}
	return len(utf16.Encode([]rune(received)))
}

// check checks places in the input.
func check(t *testing.T, n int, lists ...[]anyPlace) {
	for _, list := range lists {
		for _, p := range list {
			within(t, n, &p.span)
			within(t, n, p.Input)
			check(t, n, p.Losses)
		}
	}
}

// within checks a place in a text of n units.
func within(t *testing.T, n int, s *span) {
	if s != nil && (s.From < 0 || s.From > s.To || s.To > n) {
		t.Fatalf("place %+v in a text of %d", *s, n)
	}
}

package gemini_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/fake"
	vendorfake "github.com/polywire/polywire/internal/test/fake/gemini"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

// lastWords returns the last text of a request.
func lastWords(r fake.Request) string {
	var doc struct {
		Contents []struct{ Parts []struct{ Text string } }
	}
	if json.Unmarshal(r.Body, &doc) != nil || len(doc.Contents) == 0 {
		return ""
	}
	for _, p := range slices.Backward(doc.Contents[len(doc.Contents)-1].Parts) {
		if p.Text != "" {
			return p.Text
		}
	}
	return ""
}

// obey returns the response that the last text of a request specifies.
func obey(r fake.Request) []fake.Piece {
	order, rest, _ := strings.Cut(lastWords(r), " ")
	switch order {
	case "LONG":
		return []fake.Piece{fake.Split(64), fake.Text(strings.Repeat("a line of a long answer\n", 4000))}
	case "SILENT":
		return []fake.Piece{fake.Silence(0)}
	case "CALL":
		return []fake.Piece{fake.Text("Looking."), fake.Call("weather", `{"city":"Rome"}`), fake.Call("weather", `{"city":"Lima"}`)}
	case "THINK":
		return []fake.Piece{fake.Thinking("First this, then that."), fake.Text("So it is.")}
	case "BUSY":
		return []fake.Piece{fake.Status{Code: 503, Message: "The model is overloaded. Please try again later."}}
	case "QUOTA":
		return []fake.Piece{fake.Status{Code: 429, Details: vendorfake.RetryInfo("31s")}}
	case "PAGE":
		return []fake.Piece{fake.Reply{Code: 502, ContentType: "text/html", Body: "<html>10.0.0.7</html>"}}
	case "SAY":
		return []fake.Piece{fake.Text(rest)}
	}
	return []fake.Piece{fake.Text("Hello there.")}
}

func request(text string) *upstream.Request {
	limit := int64(1000)
	return &upstream.Request{Model: "gemini-3.8-flash", MaxTokens: &limit,
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: text}}}}}
}

// counting is a vendor that counts, unlike the fake, which returns a constant.
type counting struct{ *vendorfake.Server }

// ServeHTTP responds to one request.
func (c counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, ":countTokens") {
		c.Server.ServeHTTP(w, r)
		return
	}
	rec := httptest.NewRecorder()
	c.Server.ServeHTTP(rec, r)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(rec.Code)
	_, _ = io.WriteString(w, strings.Replace(rec.Body.String(), `"totalTokens":42`, `"totalTokens":`+strconv.Itoa(len(c.Last().Body)/4), 1))
}

// TestSuite runs the conformance suite for the vendor's API and for Google Cloud.
func TestSuite(t *testing.T) {
	t.Run("vendor", func(t *testing.T) {
		runSuite(t, vendorfake.Options{}, gemini.Options{Key: "host-key-1234567"})
	})
	t.Run("cloud", func(t *testing.T) {
		token := func(context.Context) (string, error) { return "host-key-1234567", nil }
		runSuite(t, vendorfake.Options{Vertex: "p/locations/global"}, gemini.Options{Project: "p", Location: "global", KeyFunc: token})
	})
}

func runSuite(t *testing.T, server vendorfake.Options, o gemini.Options) {
	server.Key = "host-key-1234567"
	vendor := vendorfake.NewHandler(server)
	vendor.Answer(obey)
	ts := httptest.NewServer(counting{vendor})
	t.Cleanup(ts.Close)
	o.BaseURL = ts.URL
	c, err := gemini.New(&o)
	if err != nil {
		t.Fatal(err)
	}
	call := request("CALL")
	call.Tools = []content.Tool{{Name: "weather", Input: content.Schema{JSON: `{"type":"object","properties":{"city":{"type":"string"}}}`}}}
	think := request("THINK")
	think.Thinking = upstream.Thinking{Mode: upstream.ThinkingAuto, Display: "summarized"}
	lossy := request("SAY lossy")
	lossy.UserID, lossy.StopSequences = "u", []string{"a", "b", "c", "d", "e", "f"}
	bad := request("a file")
	bad.Turns[0].Parts = append(bad.Turns[0].Parts, &content.Image{Source: &content.File{ID: "file_1"}})
	hot := request("SAY hot")
	hot.Model = "no/../model"
	upstreamtest.Run(t, c, &upstreamtest.Options{
		Model: "gemini-3.8-flash", Text: request("hello"), Long: request("LONG"), Silent: request("SILENT"), Call: call, Think: think, Lossy: lossy,
		Invalid: []*upstream.Request{bad, hot}, Fail: []*upstream.Request{request("BUSY"), request("QUOTA"), request("PAGE")},
		Marked:  func(mark string) *upstream.Request { return request("SAY " + mark) },
		Secrets: []string{"host-key-1234567", strings.TrimPrefix(ts.URL, "http://"), "10.0.0.7"},
		Grace:   20 * time.Second,
	})
}

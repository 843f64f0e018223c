package messages

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/workload"
)

// ignoreOrigin makes requests equal that were parsed from different documents.
var ignoreOrigin = cmpopts.IgnoreUnexported(Request{})

func FuzzParseRequest(f *testing.F) {
	for _, b := range requestBodies(f) {
		f.Add(b)
	}
	for _, tt := range violationTests {
		f.Add(tt.body)
	}
	f.Add(workload.Small())
	f.Add(`{"model":"","messages":[]}`)
	f.Add(`{"model":"m","messages":[{"role":"user","content":[{"type":"document","x":1,"source":{"type":"url","url":""},"citations":{"y":2}}]}]}`)
	f.Add(`{"model":"m","max_tokens":9,"messages":[{"role":"us\r","content":"x"}],"thinking":{"type":"between_tools"}}`)
	for _, b := range formattest.RecordedSeeds(f, "messages", func(r *formattest.Record) string { return r.Request }) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, body string) {
		r, err := ParseRequest([]byte(body))
		if r != nil && !json.Valid([]byte(body)) {
			t.Fatal("encoding/json refuses what was parsed")
		}
		if r == nil {
			if err == nil {
				t.Fatal("neither a request nor an error")
			}
			return
		}
		if err != nil { // what could be read must not break anything
			_, _ = r.AppendJSON(nil)
			_, _, _ = RequestFromUpstream(r.Upstream())
			return
		}
		b, err := r.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseRequest(b)
		if err != nil {
			t.Fatalf("%v in %s", err, b)
		}
		if diff := cmp.Diff(r, again, ignoreOrigin); diff != "" {
			t.Fatalf("parsed again (-want +got):\n%s", diff)
		}
		if c, err := again.AppendJSON(nil); err != nil || string(c) != string(b) {
			t.Fatalf("encoded again (-want +got):\n%s, %v", cmp.Diff(string(b), string(c)), err)
		}
		back, losses, err := roundTrip(t, r)
		if len(losses) > 0 || err != nil {
			return
		}
		if diff := cmp.Diff(r, back, ignoreOrigin); diff != "" {
			t.Fatalf("through the neutral request (-want +got):\n%s", diff)
		}
	})
}

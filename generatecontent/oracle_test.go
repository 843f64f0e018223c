package generatecontent

import (
	"math/rand/v2"
	"testing"

	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/oracle"
	was "github.com/polywire/polywire/internal/oracle/generatecontent"
	"github.com/polywire/polywire/upstream"
)

func compareOracle(t *testing.T, b []byte) {
	batches := oracle.Batches(b)
	for _, signs := range []bool{false, true} {
		for _, fr := range []framing{inEvents, inArray} {
			for _, end := range []*handler.Failure{nil, {Code: upstream.CodeOverloaded}} {
				s := newStream(fr, "resp", "model")
				s.expectSigned = signs
				if d := oracle.Streams(was.NewOracle(fr == inEvents, signs), s, batches, end, 3); d != "" {
					t.Fatalf("%v %v: %s\n%q", signs, fr, d, b)
				}
			}
		}
		var a, c upstream.Collector
		for _, events := range batches {
			_ = a.Send(events)
			_ = c.Send(events)
		}
		r1, l1 := was.Whole(a.Response(), signs)
		res, l2 := convertResponse(c.Response(), signs)
		r2, err := res.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		if r1 != string(r2) {
			t.Fatalf("%v: whole:\nwas %s\nis  %s\n%s%q", signs, r1, r2, oracle.Describe(batches), b)
		}
		if d := oracle.Losses(l1, l2); d != "" {
			t.Fatalf("%v: whole %s%s\n%q", signs, d, oracle.Describe(batches), b)
		}
	}
}

func TestOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 30000 {
		b := make([]byte, r.IntN(160))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		compareOracle(t, b)
	}
}

func FuzzOracle(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 400 {
			compareOracle(t, b)
		}
	})
}

package generatecontent

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// citationsOf describes the citations in events: the block, the source and the segment.
func citationsOf(events []upstream.Event) (list []string) {
	for i := range events {
		if e := &events[i]; e.Kind == upstream.EventCitation {
			c := e.Citation
			list = append(list, fmt.Sprint(e.Block, " ", c.Kind, " ", c.URL, " ", c.Title, " ", c.Text, " ", c.Extra.JSON))
		}
	}
	return list
}

const (
	chunkA   = `{"web":{"uri":"https://a.example/","title":"A"}}`
	chunkB   = `{"web":{"uri":"https://b.example/"}}`
	citedA   = " web https://a.example/ A  "
	citedB   = " web https://b.example/   "
	noSource = `{"retrievedContext":{"uri":"store/1","title":"N","text":"x"}}`
)

// groundedBy returns groundingMetadata.
func groundedBy(chunks, supports string) string {
	return `"groundingMetadata":{"groundingChunks":[` + chunks + `],"groundingSupports":[` + supports + `]}`
}

// supportOf returns a support with the members of its segment.
func supportOf(segment, chunks string) string {
	return `{"segment":{` + segment + `},"groundingChunkIndices":[` + chunks + `]}`
}

func at(segment string) string { return `{"segment":{` + segment + `}}` }

func TestGroundingWholeResponse(t *testing.T) {
	const texts = `"content":{"parts":[{"text":"Hm.","thought":true},{"text":"Zoë came. "},{"functionCall":{"name":"f"}},{"text":"She left."}]},`
	tests := []struct {
		name, parts, grounds string
		want                 []string
	}{
		{"bytes, not letters", texts, groundedBy(chunkA, supportOf(`"partIndex":1,"startIndex":5,"endIndex":10,"text":"came."`, "0")),
			[]string{"1" + citedA + at(`"partIndex":1,"startIndex":5,"endIndex":10`)}},
		{"over all texts", texts, groundedBy(chunkA+","+chunkB, supportOf(`"startIndex":11,"endIndex":20,"text":"She left."`, "1,0")),
			[]string{"3" + citedB + at(`"startIndex":11,"endIndex":20`), "3" + citedA + at(`"startIndex":11,"endIndex":20`)}},
		{"two texts", texts, groundedBy(chunkA, supportOf(`"endIndex":20,"text":"Zoë came. She left."`, "0")),
			[]string{"3" + citedA + at(`"startIndex":0,"endIndex":20`)}},
		{"metadata first", groundedBy(chunkA, supportOf(`"partIndex":3,"startIndex":0,"endIndex":3`, "0")) + "," + texts, "",
			[]string{"3" + citedA + at(`"partIndex":3,"startIndex":0,"endIndex":3`)}},
		{"searched file", texts, groundedBy(`{"retrievedContext":{"uri":"https://c.example","title":"C","text":"p"}}`, supportOf(`"partIndex":3,"endIndex":3`, "0")),
			[]string{"3 web https://c.example C p " + at(`"partIndex":3,"startIndex":0,"endIndex":3`)}},
		{"letters, not bytes", texts, groundedBy(chunkA, supportOf(`"partIndex":1,"endIndex":3,"text":"Zo\u00eb"`, "0")), nil},
		{"not what stands there", texts, groundedBy(chunkA, supportOf(`"partIndex":1,"endIndex":4,"text":"Zora"`, "0")), nil},
		{"in a text that is too long to be looked at", `"content":{"parts":[{"text":"` + strings.Repeat("x", maxPassageText+1) + `"}]},`,
			groundedBy(chunkA, supportOf(`"endIndex":6,"text":"Herons"`, "0")), []string{"0" + citedA + at(`"startIndex":0,"endIndex":6`)}},
		{"in a thought", texts, groundedBy(chunkA, supportOf(`"partIndex":0,"endIndex":3,"text":"Hm."`, "0")), nil},
		{"beyond the end", texts, groundedBy(chunkA, supportOf(`"partIndex":3,"startIndex":5,"endIndex":12`, "0")), nil},
		{"nothing to cite", texts, groundedBy(noSource, supportOf(`"partIndex":3,"endIndex":3`, "0,1,-1,7000000000")), nil},
		{"no numbers", texts, groundedBy(chunkA, supportOf(`"partIndex":3,"startIndex":-1,"endIndex":"x"`, "0")), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.grounds != "" {
				tt.grounds += ","
			}
			f, err := DecodeFrame(`{"candidates":[{`+tt.parts+tt.grounds+`"finishReason":"STOP"}]}`, content.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, citationsOf(f.Events)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestGroundingSingleChunk checks that a stream of one chunk has the same citations as the
// complete response, although its texts are one block.
func TestGroundingSingleChunk(t *testing.T) {
	for _, parts := range []string{
		`{"text":"One."},{"text":"Two."}`, `{"text":"Hm.","thought":true},{"text":"One."},{"text":"Two."}`,
		`{"text":"One."},{"text":""},{"text":"Two."}`, `{"text":"One.","thoughtSignature":"AAAA"},{"text":"Two."}`,
		`{"text":"One."},{"functionCall":{"name":"f"}},{"text":"Two."},{"text":"Three."}`,
	} {
		for part := range 5 {
			for _, text := range []string{"", "One.", "Two.", "Six."} {
				reply := `{"candidates":[{"content":{"parts":[` + parts + `]},"finishReason":"STOP",` +
					groundedBy(chunkA, supportOf(fmt.Sprintf(`"partIndex":%d,"endIndex":4,"text":%q`, part, text), "0")) + `}]}`
				whole, err := DecodeFrame(reply, content.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				piece, err := NewStreamReader(strings.NewReader("data: "+reply+"\n\n"), nil).Next()
				if err != nil {
					t.Fatal(err)
				}
				if w, p := len(citationsOf(whole.Events)), len(citationsOf(piece.Events)); p != w {
					t.Errorf("part %d, %q of %s: %d citations in the response, %d in a chunk", part, text, parts, w, p)
				}
			}
		}
	}
}

func TestGroundingStream(t *testing.T) {
	piece := func(parts, more string) string {
		return `data: {"candidates":[{"content":{"role":"model","parts":[` + parts + `]}` + more + "}]}\n\n"
	}
	const stop = `,"finishReason":"STOP"`
	segment := func(from, to int) string { return fmt.Sprintf(`"startIndex":%d,"endIndex":%d`, from, to) }
	tests := []struct {
		name, stream string
		want         []string
	}{
		{"at the end", piece(`{"text":"Herons "}`, "") + piece(`{"text":"nest."}`, stop+","+groundedBy(chunkA, supportOf(segment(0, 12), "0"))),
			[]string{"0" + citedA + at(segment(0, 12))}},
		{"beside the signature", piece(`{"text":"Herons nest."}`, "") +
			piece(`{"text":"","thoughtSignature":"AAAA"}`, stop+","+groundedBy(chunkA, supportOf(segment(0, 12), "0"))),
			[]string{"0" + citedA + at(segment(0, 12))}},
		{"numbers go on", piece(`{"text":"Herons "}`, ","+groundedBy(chunkA, supportOf(segment(0, 6), "0"))) +
			piece(`{"text":"nest."}`, stop+","+groundedBy(chunkB, supportOf(segment(7, 12), "1,0"))),
			[]string{"0" + citedA + at(segment(0, 6)), "0" + citedB + at(segment(7, 12)), "0" + citedA + at(segment(7, 12))}},
		{"behind a thought", piece(`{"text":"Birds.","thought":true}`, "") + piece(`{"text":"Herons."}`, stop+","+groundedBy(chunkA, supportOf(segment(0, 7), "0"))),
			[]string{"1" + citedA + at(segment(0, 7))}},
		{"a text that is closed", piece(`{"text":"Herons "}`, "") + piece(`{"functionCall":{"name":"f"}}`, "") +
			piece(`{"text":"nest."}`, stop+","+groundedBy(chunkA, supportOf(segment(0, 6), "0")+","+supportOf(segment(7, 12), "0"))),
			[]string{"2" + citedA + at(segment(7, 12))}},
		{"not what stands there", piece(`{"text":"Herons "}`, "") + piece(`{"text":"nest."}`, stop+","+groundedBy(chunkA, supportOf(segment(0, 6)+`,"text":"erons "`, "0"))), nil},
		{"matching text", piece(`{"text":"Herons "}`, "") + piece(`{"text":"nest."}`, stop+","+groundedBy(chunkA, supportOf(segment(5, 11)+`,"text":"s nest"`, "0"))),
			[]string{"0" + citedA + at(segment(5, 11))}},
		{"in a text that is too long to be looked at", piece(`{"text":"`+strings.Repeat("x", maxPassageText)+`"}`, "") + piece(`{"text":"nest."}`, stop+","+groundedBy(chunkA, supportOf(segment(0, 6)+`,"text":"Herons"`, "0"))),
			[]string{"0" + citedA + at(segment(0, 6))}},
		{"part of the chunk", piece(`{"text":"One."},{"text":"Two."}`, stop+","+groundedBy(chunkA, supportOf(`"partIndex":1,`+segment(0, 4)+`,"text":"Two."`, "0"))),
			[]string{"0" + citedA + at(`"partIndex":1,`+segment(0, 4))}},
		{"text after thinking in the first chunk", piece(`{"text":"Hm.","thought":true},{"text":"One."},{"text":"Twos"},{"functionCall":{"name":"f"}},{"text":"Four."}`,
			stop+","+groundedBy(chunkA, supportOf(`"partIndex":2,`+segment(1, 4), "0")+","+supportOf(`"partIndex":4,`+segment(0, 5), "0")+","+supportOf(`"partIndex":4,`+segment(0, 9), "0"))),
			[]string{"1" + citedA + at(`"partIndex":2,`+segment(1, 4)), "3" + citedA + at(`"partIndex":4,`+segment(0, 5))}},
		{"part of a later chunk", piece(`{"text":"Zero."}`, "") + piece(`{"text":"One."},{"text":"Two."}`, stop+","+groundedBy(chunkA,
			supportOf(`"partIndex":1,`+segment(0, 4)+`,"text":"Two."`, "0")+","+supportOf(`"partIndex":1,`+segment(0, 4)+`,"text":"Six."`, "0"))),
			[]string{"0" + citedA + at(`"partIndex":1,`+segment(0, 4))}},
		{"in a part that is too long to be looked at", piece(`{"text":"`+strings.Repeat("x", maxPassageText)+`"},{"text":"Two."}`, stop+","+groundedBy(chunkA,
			supportOf(`"partIndex":1,`+segment(0, 4)+`,"text":"Two."`, "0"))),
			[]string{"0" + citedA + at(`"partIndex":1,`+segment(0, 4))}},
		{"text not received yet", piece(`{"text":"Herons"}`, stop+","+groundedBy(chunkA, supportOf(segment(0, 12), "0"))), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := NewStreamReader(strings.NewReader(tt.stream), nil)
			var got []string
			for {
				f, err := r.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if f.Format != Format {
					t.Error("the piece is no longer as it came")
				}
				got = append(got, citationsOf(f.Events)...)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestGroundingRoundTrip checks that groundingMetadata is written once and unchanged if the
// frames are not verbatim, and that no loss is reported.
func TestGroundingRoundTrip(t *testing.T) {
	grounds := groundedBy(chunkA, supportOf(`"startIndex":0,"endIndex":6,"text":"Herons"`, "0"))
	f, err := DecodeFrame(`{"candidates":[{"content":{"parts":[{"text":"Herons"}]},"finishReason":"STOP",`+grounds+`}],"usageMetadata":{"promptTokenCount":1}}`, content.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	f.Format = ""
	up := formattest.Frames(f)
	var report *upstream.Report
	h := NewHandler(up, &Options{HandlerOptions: upstream.HandlerOptions{OnDone: func(_ context.Context, r *upstream.Report) { report = r }}})
	for _, path := range []string{"/v1beta/models/m:generateContent", "/v1beta/models/m:streamGenerateContent?alt=sse"} {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, post(path, smallBody))
		if got := rec.Body.String(); strings.Count(got, "groundingChunks") != 1 || !strings.Contains(got, grounds) {
			t.Errorf("%s: %s", path, got)
		}
		if len(report.Losses) > 0 {
			t.Errorf("%s: losses %v", path, report.Losses)
		}
	}
}

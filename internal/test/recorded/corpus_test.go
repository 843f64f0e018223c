package recorded

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/outside"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream/openai"
)

// shortStride is the distance of the records that are replayed with -short.
const shortStride = 8

// The formats of the recordings, by the names of their files.
const (
	formatMessages  = messages.Format
	formatGenerate  = generatecontent.Format
	formatChat      = openai.ChatFormat
	formatResponses = openai.ResponsesFormat
)

// files are the recordings of each format.
var files = []struct {
	format content.Format
	name   string
}{
	{formatMessages, "messages"},
	{formatGenerate, "generatecontent"},
	{formatChat, "openai-chat"},
	{formatResponses, "openai-responses"},
}

// A record is one recorded exchange.
type record struct {
	*formattest.Record
	format content.Format
}

// all are the recordings, once they were read.
var (
	all        map[content.Format][]*record
	corpusLock sync.Mutex
)

// corpus returns all recordings, or skips the test if the environment names none.
func corpus(t *testing.T) map[content.Format][]*record {
	t.Helper()
	outside.Folder(t, outside.Recordings)
	corpusLock.Lock()
	defer corpusLock.Unlock()
	if all == nil {
		list := make(map[content.Format][]*record)
		for _, f := range files {
			for _, r := range formattest.Records(t, f.name) {
				list[f.format] = append(list[f.format], &record{r, f.format})
			}
		}
		all = list
	}
	return all
}

// eachRecord runs f as a subtest for each record that want selects. The formats
// run in parallel.
func eachRecord(t *testing.T, want func(*record) bool, f func(t *testing.T, r *record)) {
	t.Parallel()
	recordings := corpus(t)
	for _, file := range files {
		var list []*record
		for i, r := range recordings[file.format] {
			if want(r) && (!testing.Short() || i%shortStride == 0) {
				list = append(list, r)
			}
		}
		if len(list) == 0 {
			continue
		}
		t.Run(file.name, func(t *testing.T) {
			t.Parallel()
			for _, r := range list {
				t.Run(r.ID, func(t *testing.T) { f(t, r) })
			}
		})
	}
}

// accepted reports whether the vendor's status is 200.
func (r *record) accepted() bool { return r.Status == 200 }

// generates reports whether the request asks for a response of a model, rather
// than for a token count or a list of models.
func (r *record) generates() bool { return r.Endpoint != "count" && r.Endpoint != "models" }

// served reports whether Polywire has a handler for the format.
func (r *record) served() bool { return r.format == formatMessages || r.format == formatGenerate }

// asked reports whether there is a request document that a handler would parse.
func (r *record) asked() bool {
	return r.served() && r.Endpoint != "models" && r.Method == "POST" && r.Request != ""
}

// array reports whether the response is a stream of generateContent as a JSON array.
func (r *record) array() bool {
	return r.format == formatGenerate && strings.HasPrefix(strings.TrimSpace(r.Response), "[")
}

// streamed reports whether the response is a stream of either kind.
func (r *record) streamed() bool { return r.accepted() && (r.Events() || r.array()) }

// kind is "stream" or "plain", for the names of checks.
func (r *record) kind() string {
	if r.streamed() {
		return "stream"
	}
	return "plain"
}

// contentType is the response's media type; some sources leave it out.
func (r *record) contentType() string {
	if r.ResponseType == "" {
		if r.Events() {
			return "text/event-stream"
		}
		return "application/json"
	}
	return r.ResponseType
}

// model is the name of the model that the request asks.
func (r *record) model() string {
	if r.format == formatGenerate {
		path, _ := url.PathUnescape(r.URL)
		_, name, _ := strings.Cut(path, "/models/")
		name, _, _ = strings.Cut(name, ":")
		if name != "" {
			return name
		}
	}
	return cmp.Or(stringAt(parseJSON(r.Request), "model"), "model")
}

// errIncomparable is returned by a check that does not apply to a record.
var errIncomparable = errors.New("the check does not apply to the record")

// check runs one check of a record as a subtest. name begins with the number
// of the check. A failure that is listed as an exception is logged only.
func check(t *testing.T, r *record, name string, f func() error) {
	t.Helper()
	t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
		err := recovered(f)
		if errors.Is(err, errIncomparable) {
			return
		}
		reason := exception(r.ID, name)
		count(r.format, name, err, reason)
		switch {
		case err == nil:
		case reason != "":
			t.Logf("exception (%s): %s", reason, clip(err.Error(), maxDetail))
		default:
			t.Errorf("%s, check %s: %s\n%s %s, exchange %d", r.ID, name, clip(err.Error(), maxDetail), r.Repo, r.Path, r.N)
		}
	})
}

// maxDetail bounds the description of a failure, in bytes.
const maxDetail = 1000

func recovered(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}

// A row is one line of the table of checks.
type row struct {
	check  string
	format content.Format
}

// table counts the results of all checks: passed, failed, exceptions.
var table = struct {
	sync.Mutex
	rows map[row]*[3]int
}{rows: make(map[row]*[3]int)}

func count(format content.Format, check string, err error, exception string) {
	table.Lock()
	defer table.Unlock()
	c := table.rows[row{check, format}]
	if c == nil {
		c = new([3]int)
		table.rows[row{check, format}] = c
	}
	switch {
	case err == nil:
		c[0]++
	case exception == "":
		c[1]++
	default:
		c[2]++
	}
}

// printTable writes how many checks of each kind passed.
func printTable(w io.Writer) {
	table.Lock()
	defer table.Unlock()
	rows := make([]row, 0, len(table.rows))
	for k := range table.rows {
		rows = append(rows, k)
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(strings.Compare(a.check, b.check), strings.Compare(string(a.format), string(b.format)))
	})
	var sum [3]int
	fmt.Fprintf(w, "%-44s %-18s %6s %6s %9s\n", "check", "format", "passed", "failed", "exception")
	for _, k := range rows {
		c := table.rows[k]
		fmt.Fprintf(w, "%-44s %-18s %6d %6d %9d\n", k.check, k.format, c[0], c[1], c[2])
		for i := range sum {
			sum[i] += c[i]
		}
	}
	fmt.Fprintf(w, "%-44s %-18s %6d %6d %9d\n", "all", "", sum[0], sum[1], sum[2])
}

// clip shortens s to about n bytes.
func clip(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}

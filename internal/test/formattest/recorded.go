package formattest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/polywire/polywire/internal/test/outside"
)

// A Record is one recorded exchange with a vendor. Package internal/test/recorded
// describes the recordings.
type Record struct {
	ID             string            `json:"id"`
	Repo           string            `json:"repo"` // where it was recorded
	Path           string            `json:"path"`
	N              int               `json:"n"`        // number of the exchange in the file at Path
	Endpoint       string            `json:"endpoint"` // "models", "count", or another for those that generate
	Host           string            `json:"host"`
	URL            string            `json:"url"` // path and query
	Method         string            `json:"method"`
	Status         int               `json:"status"`
	RequestHeaders map[string]string `json:"request_headers"`
	Request        string            `json:"request_body"`
	ResponseType   string            `json:"response_type"`
	Response       string            `json:"response_body"`
}

// Events reports whether the response is an event stream.
func (r *Record) Events() bool {
	b := strings.TrimLeft(r.Response, " \r\n\ufeff")
	return strings.Contains(r.ResponseType, "event-stream") ||
		strings.HasPrefix(b, "data:") || strings.HasPrefix(b, "event:") || strings.HasPrefix(b, ": ")
}

// Stream returns the response if it is an event stream.
func (r *Record) Stream() string {
	if r.Status == http.StatusOK && r.Events() {
		return r.Response
	}
	return ""
}

// Whole returns the response if it is not an event stream and not an error.
func (r *Record) Whole() string {
	if r.Status == http.StatusOK && !r.Events() {
		return r.Response
	}
	return ""
}

var (
	recordsLock sync.Mutex
	records     = make(map[string][]*Record)
)

// Records returns the exchanges of a format by the name of its file:
// "messages", "generatecontent", "openai-chat" or "openai-responses". It
// returns nil if [outside.Recordings] is not set, and fails the test if the file is
// missing or empty. The records are shared: do not change them.
func Records(tb testing.TB, file string) []*Record {
	tb.Helper()
	folder := outside.Lookup(tb, outside.Recordings)
	if folder == "" {
		return nil
	}
	recordsLock.Lock()
	defer recordsLock.Unlock()
	list, read := records[file]
	if !read {
		var err error
		if list, err = readRecords(filepath.Join(folder, file+".jsonl")); err != nil {
			tb.Fatal(err)
		}
		if len(list) == 0 {
			tb.Fatalf("%s: %s.jsonl is empty", outside.Recordings, file)
		}
		records[file] = list
	}
	return list
}

func readRecords(path string) ([]*Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []*Record
	for r := bufio.NewReaderSize(f, 1<<20); ; {
		line, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			rec := new(Record)
			if err := json.Unmarshal(line, rec); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			list = append(list, rec)
		}
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Limits of [RecordedSeeds].
const (
	maxSeed  = 2 << 10 // bytes of a seed
	maxSeeds = 100
)

// RecordedSeeds returns recorded documents as seeds of a fuzz target: up to 100
// of at most 2 KB, spread over the recordings of a format. pick returns the
// document of a record, or "" to skip it.
func RecordedSeeds(tb testing.TB, file string, pick func(*Record) string) []string {
	tb.Helper()
	var all []string
	for _, r := range Records(tb, file) {
		if s := pick(r); s != "" && len(s) <= maxSeed {
			all = append(all, s)
		}
	}
	if len(all) <= maxSeeds {
		return all
	}
	seeds := make([]string, maxSeeds)
	for i := range seeds {
		seeds[i] = all[i*len(all)/maxSeeds]
	}
	return seeds
}

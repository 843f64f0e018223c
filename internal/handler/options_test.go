package handler

import (
	"net/http"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/polywire/polywire/upstream"
)

// TestDocumentedDefaults compares the defaults of Timeouts and FileLimits with those of
// docs/limits.md and docs/files.md.
func TestDocumentedDefaults(t *testing.T) {
	var s upstream.HandlerOptions
	setOptions("", &s, 1)
	row := regexp.MustCompile("(?m)^\\| [^|]* \\| ([0-9]+)(?: ([A-Za-z]+))? \\| `(Timeouts|FileLimits)\\.([A-Za-z]+)` \\|$")
	documented := make(map[string]int64)
	for _, path := range []string{"../../docs/limits.md", "../../docs/files.md"} {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range row.FindAllStringSubmatch(string(page), -1) {
			n, err := strconv.ParseInt(m[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			unit, ok := map[string]int64{"": 1, "s": int64(time.Second), "min": int64(time.Minute), "MiB": 1 << 20}[m[2]]
			if !ok {
				t.Errorf("%s: unknown unit: %s", path, m[0])
			}
			documented[m[3]+"."+m[4]] = n * unit
		}
	}
	for name, v := range map[string]reflect.Value{"Timeouts": reflect.ValueOf(s.Timeouts), "FileLimits": reflect.ValueOf(s.FileLimits)} {
		for i := range v.NumField() {
			field := name + "." + v.Type().Field(i).Name
			if got, ok := documented[field]; !ok || got != v.Field(i).Int() {
				t.Errorf("%s: documented is %d (%v), want %d", field, got, ok, v.Field(i).Int())
			}
			delete(documented, field)
		}
	}
	for field := range documented {
		t.Errorf("there is no field %s", strings.TrimSpace(field))
	}
}

// TestSessionHeaders checks which header names the session of a request.
func TestSessionHeaders(t *testing.T) {
	long := strings.Repeat("s", 256)
	for _, tt := range []struct {
		header http.Header
		want   string
	}{
		{http.Header{}, ""},
		{http.Header{"X-Claude-Code-Session-Id": {"b55682d6"}, "Session-Id": {"other"}}, "b55682d6"},
		{http.Header{"Session-Id": {long}}, long},
		{http.Header{"Session-Id": {long + "s"}, "X-Session-Affinity": {"a"}}, "a"},
		{http.Header{"Session-Id": {"a b"}, "X-Session-Id": {"a\x7f"}, "X-Opencode-Session": {"ä"}}, ""},
		{http.Header{"X-Session-Affinity": {""}, "X-Opencode-Session": {"o"}}, "o"},
	} {
		if got := sessionOf(tt.header); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.header, got, tt.want)
		}
	}
	h := http.Header{}
	h.Set("session_id", "s") // as Codex wrote it before it used session-id
	if got := sessionOf(h); got != "s" {
		t.Errorf("session_id: got %q", got)
	}
}

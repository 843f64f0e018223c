package handler

import (
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
	setDefaults(&s, 1)
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

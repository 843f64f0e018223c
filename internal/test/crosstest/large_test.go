package crosstest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/internal/test/race"
	"github.com/polywire/polywire/internal/test/workload"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// A forwarder encodes each request in one format and reads the body like an
// upstream.
type forwarder struct{ to wireFormat }

func (u forwarder) Generate(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
	body, size, err := u.body(r)
	if err != nil {
		return err
	}
	n, err := io.Copy(onlyWriter{io.Discard}, body)
	if err == nil && n != size {
		err = fmt.Errorf("%d bytes instead of %d", n, size)
	}
	if err != nil {
		return err
	}
	return w.Text(strconv.FormatInt(n, 10) + " bytes, at most " + strconv.Itoa(resident()) + " resident")
}

func (u forwarder) body(r *upstream.Request) (io.Reader, int64, error) {
	if w := snapshot.DocumentOf(r, u.to.format); w != nil {
		return onlyReader{strings.NewReader(w.Body)}, int64(len(w.Body)), nil
	}
	return u.to.encode(r)
}

func encodeMessages(r *upstream.Request) (io.Reader, int64, error) {
	m, _, _ := messages.RequestFromUpstream(r)
	b, err := m.Body()
	if err != nil {
		return nil, 0, err
	}
	return b.Reader(), b.Len(), nil
}

func encodeGenerate(r *upstream.Request) (io.Reader, int64, error) {
	g, _, err := generatecontent.RequestFromUpstream(r)
	if err != nil {
		return nil, 0, err
	}
	b, err := g.Body()
	if err != nil {
		return nil, 0, err
	}
	return b.Reader(), b.Len(), nil
}

// A largeDirection is a client format and an upstream format.
type largeDirection struct{ from, to wireFormat }

func (d largeDirection) name() string { return d.from.name + " to " + d.to.name }

// directionsOfLarge returns all pairs of formats in which a request can be forwarded: as it is,
// or encoded.
func directionsOfLarge() (list []largeDirection) {
	for _, from := range wireFormats {
		for _, to := range wireFormats {
			if from.name == to.name || to.encode != nil {
				list = append(list, largeDirection{from, to})
			}
		}
	}
	return list
}

// These types hide the methods that a connection to an upstream does not have.
type (
	onlyWriter struct{ io.Writer }
	onlyReader struct{ io.Reader }
)

// pdfBodies returns requests with a PDF of 25,000,000 bytes, by format.
func pdfBodies() map[content.Format]string {
	m := workload.PDF()
	from := strings.Index(m, `"data":"`) + len(`"data":"`)
	data := m[from : from+strings.IndexByte(m[from:], '"')]
	bodies := make(map[content.Format]string)
	for _, s := range wireFormats {
		bodies[s.format] = fmt.Sprintf(s.inline, "application/pdf", data)
	}
	return bodies
}

// eachDirection runs f for each combination of client format and upstream
// format.
func eachDirection(f func(name string, h http.Handler, path, body string)) {
	bodies := pdfBodies()
	for _, d := range directionsOfLarge() {
		f(d.name(), d.from.handler(forwarder{d.to}, upstream.HandlerOptions{}), d.from.path, bodies[d.from.format])
	}
}

// TestLargeBodyAllocations checks that a large request allocates at most 256 KB
// beyond its body, from the socket to the upstream's body.
func TestLargeBodyAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("pools drop objects under the race detector")
	}
	eachDirection(func(name string, h http.Handler, path, body string) {
		least := ^uint64(0)
		for range 3 { // the first run fills pools; other goroutines allocate too
			least = min(least, allocated(t, h, path, body))
		}
		if extra := int64(least) - int64(len(body)); extra > 256<<10 {
			t.Errorf("%s: %d KB beyond the body of %d MB, at most 256", name, extra>>10, len(body)>>20)
		} else {
			t.Logf("%s: %d KB beyond the body of %d MB", name, extra>>10, len(body)>>20)
		}
	})
}

func allocated(t testing.TB, h http.Handler, path, body string) uint64 {
	r := httptest.NewRequestWithContext(t.Context(), "POST", path, strings.NewReader(body))
	r.Header.Set("Anthropic-Version", "2023-06-01")
	w := httptest.NewRecorder()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	h.ServeHTTP(w, r)
	runtime.ReadMemStats(&after)
	if w.Code != 200 || !strings.Contains(w.Body.String(), " bytes, at most ") {
		t.Fatalf("%d %.500s", w.Code, w.Body)
	}
	return after.TotalAlloc - before.TotalAlloc
}

func BenchmarkLargeBody(b *testing.B) {
	eachDirection(func(name string, h http.Handler, path, body string) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				allocated(b, h, path, body)
			}
		})
	})
	b.Run("floor", func(b *testing.B) { // cost of io.Copy alone
		body := workload.PDF()
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			_, _ = io.Copy(onlyWriter{io.Discard}, onlyReader{strings.NewReader(body)})
		}
	})
}

// childDirection is the environment variable of the process that serves large
// bodies.
const childDirection = "POLYWIRE_TEST_DIRECTION"

// TestLargeChild serves one direction until its input ends.
// TestLargeBodyResident runs it.
func TestLargeChild(t *testing.T) {
	direction := os.Getenv(childDirection)
	if direction == "" {
		t.Skip("another test runs this one")
	}
	for _, d := range directionsOfLarge() {
		if d.name() == direction {
			s := httptest.NewServer(d.from.handler(forwarder{d.to}, upstream.HandlerOptions{}))
			defer s.Close()
			fmt.Printf("serving %s %d\n", s.URL, resident())
			_, _ = io.Copy(io.Discard, os.Stdin)
		}
	}
}

// TestLargeBodyResident checks that a process that forwards a large request
// grows by the body and at most 2 MB.
func TestLargeBodyResident(t *testing.T) {
	if resident() == 0 {
		t.Skip("this system does not report the resident size")
	}
	if race.Enabled || testing.Short() {
		t.Skip("needs a process for each direction, without the race detector")
	}
	bodies := pdfBodies()
	for _, d := range directionsOfLarge() {
		t.Run(d.name(), func(t *testing.T) {
			url, before, end := startChild(t, d.name())
			defer end()
			body := bodies[d.from.format]
			small := residentAfter(t, url+d.from.path, d.from.body(nil, false))
			after := residentAfter(t, url+d.from.path, body)
			if extra := after - max(before, small) - len(body); extra > 2<<20 {
				t.Errorf("%d KB beyond the body, at most 2048", extra>>10)
			} else {
				t.Logf("%d KB beyond the body", extra>>10)
			}
		})
	}
}

// startChild starts a process that serves. It returns its URL, its resident
// size, and a function that ends it.
func startChild(t *testing.T, direction string) (url string, before int, end func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestLargeChild$")
	cmd.Env = append(os.Environ(), childDirection+"="+direction)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if _, err2 := fmt.Sscanf(line, "serving %s %d", &url, &before); err != nil || err2 != nil {
		t.Fatalf("the child wrote %q: %v, %v", line, err, err2)
	}
	return url, before, func() {
		in.Close()
		_, _ = io.Copy(io.Discard, lines)
		if err := cmd.Wait(); err != nil {
			t.Errorf("child process: %v", err)
		}
	}
}

// residentAfter sends a request and returns the resident size in the response.
func residentAfter(t *testing.T, url, body string) int {
	t.Helper()
	res, answer := send(t, url, body, once)
	if res.StatusCode != 200 {
		t.Fatalf("%d %.500s", res.StatusCode, answer)
	}
	_, rest, _ := strings.Cut(answer, " bytes, at most ")
	number, _, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatalf("%v in %.500s", err, answer)
	}
	return n
}

// resident returns the peak resident size of this process in bytes, or 0 if the
// system does not report it.
func resident() int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kilobytes, err := strconv.Atoi(fields[0])
	if err != nil {
		return 0
	}
	return kilobytes << 10
}

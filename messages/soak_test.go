package messages

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// moody is an upstream with a behaviour that the model name selects.
func moody(c context.Context, r *upstream.Request, w *upstream.Writer) error {
	switch r.Model {
	case "fails":
		return errors.New("no")
	case "fails-late":
		_ = w.Text("a")
		return &upstream.Error{Code: upstream.CodeOverloaded}
	case "panics":
		_ = w.Text("a")
		panic("no")
	case "waits":
		_ = w.Text("a")
		<-c.Done()
		return c.Err()
	case "floods":
		for {
			if err := w.Text(strings.Repeat("x", 8<<10)); err != nil {
				return err
			}
		}
	case "unresponsive":
		_ = w.Text("a")
		time.Sleep(100 * time.Millisecond)
		_ = w.Text("late")
		return nil
	case "calls":
		for range 3 {
			call := w.ToolCall("", "look")
			_ = call.Input(`{"a":`)
			_ = call.Input(`1}`)
		}
	case "loses":
		_ = w.Part(&content.Image{})
	}
	for range 20 {
		if err := w.Text("word "); err != nil {
			return err
		}
	}
	return w.Usage(content.Usage{Output: 20})
}

// A visit is the behaviour of one client. want is the status of its response, 0 if it
// does not wait for one.
type visit struct {
	name string
	body string
	head string // one more line of the head; empty for the body's length
	key  string
	want int
	stay time.Duration // before it leaves, if want is 0
}

func asking(model string, stream bool) string {
	body := smallBody
	if stream {
		body = streamBody
	}
	return strings.Replace(body, `"m"`, `"`+model+`"`, 1)
}

func visits() []visit {
	var list []visit
	for _, stream := range []bool{false, true} {
		late := 200
		if !stream {
			late = 529
		}
		for _, v := range []visit{
			{name: "m", want: 200}, {name: "calls", want: 200}, {name: "loses", want: 200}, {name: "fails", want: 500},
			{name: "fails-late", want: late}, {name: "waits", stay: 5 * time.Millisecond}, {name: "waits"},
			{name: "floods", stay: 5 * time.Millisecond}, {name: "unresponsive", stay: time.Millisecond}, {name: "m"},
		} {
			v.body = asking(v.name, stream)
			list = append(list, v)
		}
	}
	return append(list,
		visit{name: "panics", body: asking("panics", false), want: 500},
		visit{name: "panics late", body: asking("panics", true), want: 200},
		visit{name: "bad", body: `{"model":1}`, want: 400},
		visit{name: "broken", body: `{"model":`, want: 400},
		visit{name: "deep", body: strings.Repeat("[", 10_000), want: 400},
		visit{name: "stranger", body: smallBody, key: "wrong", want: 401},
		visit{name: "large", head: "Content-Length: 99999999", body: "{", want: 413},
		visit{name: "chunks", head: "Transfer-Encoding: chunked", body: "1\r\n{\r\n0\r\n\r\n", want: 400},
		visit{name: "endless chunks", head: "Transfer-Encoding: chunked", body: "fffffff\r\n" + strings.Repeat(" ", 70<<10), want: 413},
		visit{name: "cut", head: "Content-Length: 5000", body: "{"},
		visit{name: "slow", head: "Content-Length: 5000", body: "{", stay: 20 * time.Millisecond},
	)
}

// pay performs a visit.
func (v *visit) pay(addr string, reset bool) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	head := v.head
	if head == "" {
		head = fmt.Sprintf("Content-Length: %d", len(v.body))
	}
	_, err = io.WriteString(c, requestHead("Connection: close\r\nx-api-key: "+or(v.key, "good")+"\r\n"+head)+v.body)
	if v.want == 0 {
		time.Sleep(v.stay)
		if reset {
			_ = c.(*net.TCPConn).SetLinger(0)
		}
		return nil
	}
	if err != nil && v.want != 413 {
		return err
	}
	b := bufio.NewReader(c)
	if _, err := b.Peek(1); err == nil && v.want == 413 {
		_ = c.(*net.TCPConn).CloseWrite() // or the server would wait for the rest, to throw it away
	}
	answer, err := io.ReadAll(b)
	if got := fmt.Sprintf("HTTP/1.1 %d ", v.want); !strings.HasPrefix(string(answer), got) {
		return fmt.Errorf("%s: %v, %.200q, want %d", v.name, err, answer, v.want)
	}
	return nil
}

// held counts the resources of a process.
type held struct {
	goroutines, files int
	heap              uint64
}

func holds() held {
	runtime.GC()
	runtime.GC() // once more for what pools hold
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, _ := os.ReadDir("/proc/self/fd") // elsewhere there are none before and none after
	return held{runtime.NumGoroutine(), len(files), m.HeapAlloc}
}

// TestSoak runs valid and invalid clients concurrently against one server, and
// checks that the server then holds the same resources as before.
func TestSoak(t *testing.T) {
	rounds := 80
	if testing.Short() {
		rounds = 4
	}
	var mu sync.Mutex
	reports := 0
	o := Options{HandlerOptions: upstream.HandlerOptions{
		Authenticate: upstream.Keys("good"),
		Budget:       new(upstream.Budget),
		Timeouts:     upstream.Timeouts{Grace: 20 * time.Millisecond},
		OnDone:       func(context.Context, *upstream.Report) { mu.Lock(); reports++; mu.Unlock() },
	}}
	o.Limits.Body = 64 << 10
	s := httptest.NewServer(NewHandler(upstream.Func(moody), &o))
	defer s.Close()
	list := visits()
	round := func(n int) {
		var clients sync.WaitGroup
		for k := range 8 {
			clients.Go(func() {
				for i := k; i < n*len(list); i += 8 {
					if err := list[i%len(list)].pay(s.Listener.Addr().String(), i%2 == 0); err != nil {
						t.Error(err)
					}
				}
			})
		}
		clients.Wait()
	}
	quiet := func() bool {
		n, bytes := o.Budget.InFlight()
		return n == 0 && bytes == 0
	}
	round(2) // for what is made once, and kept
	for end := time.Now().Add(soon); !quiet() && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
	}
	time.Sleep(50 * time.Millisecond)
	before := holds()
	round(rounds)
	var after held
	for end := time.Now().Add(soon); ; time.Sleep(20 * time.Millisecond) {
		after = holds()
		back := quiet() && after.goroutines <= before.goroutines && after.files <= before.files && after.heap < before.heap+1<<20
		if back || time.Now().After(end) {
			break
		}
	}
	if after.goroutines > before.goroutines || after.files > before.files || after.heap >= before.heap+1<<20 || !quiet() {
		n, bytes := o.Budget.InFlight()
		t.Errorf("%d visits: held %+v before, %+v after; %d requests and %d bytes in flight", rounds*len(list), before, after, n, bytes)
	}
	mu.Lock()
	defer mu.Unlock()
	if total := (rounds + 2) * len(list); reports > total || reports < total/2 {
		t.Errorf("%d reports of %d visits", reports, total)
	}
}

// TestSharedBudget checks that several handlers can share a budget, and that
// an abandoned upstream keeps its bytes until it returns.
func TestSharedBudget(t *testing.T) {
	for name, budget := range map[string]*upstream.Budget{
		"requests": {Requests: 1}, "bytes": {Bytes: int64(len(smallBody)) + 10},
	} {
		t.Run(name, func(t *testing.T) {
			serving := upstream.HandlerOptions{Budget: budget, Timeouts: upstream.Timeouts{FirstByte: 20 * time.Millisecond, Grace: time.Millisecond}}
			inside, on, out := make(chan struct{}), make(chan struct{}), make(chan struct{})
			one := NewHandler(upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error {
				close(inside)
				<-on // unresponsive
				defer close(out)
				return nil
			}), &Options{HandlerOptions: serving})
			other := NewHandler(hello, &Options{HandlerOptions: serving})
			refuse := func(what string) {
				t.Helper()
				w := httptest.NewRecorder()
				other.ServeHTTP(w, post(smallBody))
				checkError(t, w.Result(), 529, "overloaded_error", "Overloaded", "")
				if w.Header().Get("Retry-After") != "1" {
					t.Errorf("%s: Retry-After %q", what, w.Header().Get("Retry-After"))
				}
			}
			answered := make(chan int)
			go func() {
				w := httptest.NewRecorder()
				one.ServeHTTP(w, post(smallBody))
				answered <- w.Code
			}()
			<-inside
			refuse("while the other runs")
			if code := <-answered; code != http.StatusGatewayTimeout {
				t.Errorf("status %d", code)
			}
			refuse("while its upstream runs on")
			if n, bytes := budget.InFlight(); n != 1 || bytes != int64(len(smallBody)) {
				t.Errorf("in flight: %d, %d bytes", n, bytes)
			}
			close(on)
			<-out
			for end := time.Now().Add(soon); time.Now().Before(end); time.Sleep(time.Millisecond) {
				if n, _ := budget.InFlight(); n == 0 {
					break
				}
			}
			w := httptest.NewRecorder()
			other.ServeHTTP(w, post(smallBody))
			if w.Code != 200 {
				t.Errorf("afterwards: %d %s", w.Code, w.Body)
			}
		})
	}
}

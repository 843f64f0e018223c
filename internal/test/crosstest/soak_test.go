package crosstest

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
		_ = w.Text("ab")
		return &upstream.Error{Code: upstream.CodeOverloaded}
	case "panics":
		_ = w.Text("ab")
		panic("no")
	case "waits":
		return waiting{begun: true}.Generate(c, r, w)
	case "floods":
		for {
			if err := w.Text(strings.Repeat("x", 8<<10)); err != nil {
				return err
			}
		}
	case "unresponsive":
		_ = w.Text("ab")
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
	mode mode
	body string
	head string // one more line of the head; empty for the body's length
	key  string
	want int
	stay time.Duration // before it leaves, if want is 0
}

// about returns the mode with requests to another model.
func (m mode) about(model string) mode {
	m.body = strings.Replace(m.body, `"m"`, `"`+model+`"`, 1)
	m.path = strings.Replace(m.path, "/m:", "/"+model+":", 1)
	return m
}

func (s wireFormat) visits() []visit {
	var list []visit
	for _, m := range s.modes {
		late := func(code upstream.Code) int {
			if m.stream {
				return 200
			}
			return s.failure(code).status
		}
		for _, v := range []visit{
			{name: "m", want: 200}, {name: "calls", want: 200}, {name: "loses", want: 200}, {name: "fails", want: 500},
			{name: "fails-late", want: late(upstream.CodeOverloaded)}, {name: "waits", stay: 5 * time.Millisecond}, {name: "waits"},
			{name: "floods", stay: 5 * time.Millisecond}, {name: "unresponsive", stay: time.Millisecond}, {name: "m"},
			{name: "panics", want: late(upstream.CodeInternal)},
		} {
			v.mode = m.about(v.name)
			v.body = v.mode.body
			list = append(list, v)
		}
	}
	m, tooLarge := s.modes[0], s.failure(upstream.CodeTooLarge).status
	return append(list,
		visit{name: "bad", mode: m, body: `{"model":1}`, want: 400},
		visit{name: "broken", mode: m, body: `{"model":`, want: 400},
		visit{name: "deep", mode: m, body: strings.Repeat("[", 10_000), want: 400},
		visit{name: "stranger", mode: m, body: m.body, key: "wrong", want: s.wrongKey},
		visit{name: "large", mode: m, head: "Content-Length: 999999999", body: "{", want: tooLarge},
		visit{name: "chunks", mode: m, head: "Transfer-Encoding: chunked", body: "1\r\n{\r\n0\r\n\r\n", want: 400},
		visit{name: "endless chunks", mode: m, head: "Transfer-Encoding: chunked", body: "fffffff\r\n" + strings.Repeat(" ", 70<<10), want: tooLarge},
		visit{name: "cut", mode: m, head: "Content-Length: 5000", body: "{"},
		visit{name: "slow", mode: m, head: "Content-Length: 5000", body: "{", stay: 20 * time.Millisecond},
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
	head, key, unfinished := v.head, v.key, strings.HasPrefix(v.name, "large") || v.name == "endless chunks"
	if head == "" {
		head = fmt.Sprintf("Content-Length: %d", len(v.body))
	}
	if key == "" {
		key = "good"
	}
	_, err = io.WriteString(c, v.mode.head("Connection: close\r\nAuthorization: Bearer "+key+"\r\n"+head)+v.body)
	if v.want == 0 {
		time.Sleep(v.stay)
		if reset {
			_ = c.(*net.TCPConn).SetLinger(0)
		}
		return nil
	}
	if err != nil && !unfinished {
		return err
	}
	b := bufio.NewReader(c)
	if _, err := b.Peek(1); err == nil && unfinished {
		_ = c.(*net.TCPConn).CloseWrite() // or the server would wait for the rest to discard it
	}
	response, err := io.ReadAll(b)
	if got := fmt.Sprintf("HTTP/1.1 %d ", v.want); !strings.HasPrefix(string(response), got) {
		return fmt.Errorf("%s: %v, %.200q, want %d", v.name, err, response, v.want)
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

// TestSoak runs valid and invalid clients of both formats concurrently against one server,
// and checks that the server then holds the same resources as before.
func TestSoak(t *testing.T) {
	rounds := 30
	if testing.Short() {
		rounds = 2
	}
	var mu sync.Mutex
	reports := 0
	o := upstream.HandlerOptions{
		Authenticate: upstream.Keys("good"),
		Budget:       new(upstream.Budget),
		Timeouts:     upstream.Timeouts{Grace: 20 * time.Millisecond},
		OnDone:       func(context.Context, *upstream.Report) { mu.Lock(); reports++; mu.Unlock() },
	}
	o.Limits.Body = 64 << 10
	mux := http.NewServeMux()
	var list []visit
	for _, s := range wireFormats {
		h := s.handler(upstream.Func(moody), o)
		for _, root := range s.roots {
			mux.Handle(root, h)
		}
		list = append(list, s.visits()...)
	}
	server := httptest.NewServer(mux)
	defer server.Close()
	round := func(n int) {
		var clients sync.WaitGroup
		for k := range 8 {
			clients.Go(func() {
				for i := k; i < n*len(list); i += 8 {
					if err := list[i%len(list)].pay(server.Listener.Addr().String(), i%2 == 0); err != nil {
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
	back := func() bool {
		after = holds()
		return quiet() && after.goroutines <= before.goroutines && after.files <= before.files && after.heap < before.heap+1<<20
	}
	for end := time.Now().Add(soon); !back(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			n, bytes := o.Budget.InFlight()
			t.Errorf("%d visits: held %+v before, %+v after; %d requests and %d bytes in flight", rounds*len(list), before, after, n, bytes)
			break
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if total := (rounds + 2) * len(list); reports > total || reports < total/2 {
		t.Errorf("%d reports of %d visits", reports, total)
	}
}

// TestSharedBudget checks that handlers of both formats can share a budget, and that an
// abandoned upstream keeps its bytes until it returns.
func TestSharedBudget(t *testing.T) {
	for i, s := range wireFormats {
		m, other := s.modes[0], wireFormats[(i+1)%len(wireFormats)]
		for _, budget := range []*upstream.Budget{{Requests: 1}, {Bytes: int64(max(len(smallMessages), len(smallGenerate))) + 10}} {
			o := upstream.HandlerOptions{Budget: budget, Timeouts: upstream.Timeouts{FirstByte: 20 * time.Millisecond, Grace: time.Millisecond}}
			inside, on, out := make(chan struct{}), make(chan struct{}), make(chan struct{})
			one := s.handler(upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error {
				close(inside)
				<-on // unresponsive
				defer close(out)
				return nil
			}), o)
			two := other.handler(hello, o)
			refuses := func(when string) {
				t.Helper()
				a := other.ask(t, two, other.modes[0])
				a.wants(t, other.failure(upstream.CodeOverloaded), "")
				if a.header.Get("Retry-After") != "1" {
					t.Errorf("%s: Retry-After %q", when, a.header.Get("Retry-After"))
				}
			}
			answered := make(chan int)
			go func() {
				w := httptest.NewRecorder()
				one.ServeHTTP(w, m.request())
				answered <- w.Code
			}()
			<-inside
			refuses("while the other runs")
			if code := <-answered; code != http.StatusGatewayTimeout {
				t.Errorf("status %d", code)
			}
			refuses("while its upstream runs on")
			checkInFlight(t, budget, 1, int64(len(m.body)))
			close(on)
			<-out
			checkBudgetEmpty(t, budget)
			if a := other.ask(t, two, other.modes[0]); a.status != 200 {
				t.Errorf("afterwards: %d %s", a.status, a.body)
			}
		}
	}
}

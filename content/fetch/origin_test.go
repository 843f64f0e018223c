package fetch

import (
	"context"
	"crypto/x509"
	"encoding/binary"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

// A panicTripper is a transport that must not be used.
type panicTripper struct{}

func (panicTripper) RoundTrip(*http.Request) (*http.Response, error) {
	panic("the transport was asked")
}

const (
	png    = "\x89PNG\r\n\x1a\nrest"
	pdf    = "%PDF-1.7\nrest"
	public = "93.184.216.34" // the address of the origin
)

// A testNetwork replaces the internet for a Fetcher. It has a name server over UDP, an
// origin at the address public with a certificate for *.example.com, and a listener for
// all other addresses, to which no Fetcher may connect.
type testNetwork struct {
	t      *testing.T
	origin *httptest.Server
	names  *nameServer
	secret *countingListener

	mu     sync.Mutex
	dialed []string
	open   atomic.Int32 // connections
}

func newTestNetwork(t *testing.T, h http.Handler) *testNetwork {
	w := &testNetwork{t: t, origin: httptest.NewUnstartedServer(h), names: newNameServer(t), secret: newSecret(t)}
	w.origin.Config.ErrorLog = log.New(io.Discard, "", 0)
	w.origin.StartTLS()
	t.Cleanup(w.origin.Close)
	w.names.set("files.example.com", public)
	return w
}

// options returns Options for a Fetcher that connects to the test network only.
func (w *testNetwork) options() Options {
	roots := x509.NewCertPool()
	roots.AddCert(w.origin.Certificate())
	return Options{RootCAs: roots, Lookup: w.names.resolver().LookupNetIP, Dial: w.dial}
}

func (w *testNetwork) fetcher(change func(*Options)) *Fetcher {
	w.t.Helper()
	o := w.options()
	if change != nil {
		change(&o)
	}
	f, err := New(&o)
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

func (w *testNetwork) dial(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dialed = append(w.dialed, address)
	w.mu.Unlock()
	to := w.secret.Addr().String()
	if host, _, _ := net.SplitHostPort(address); host == public {
		to = w.origin.Listener.Addr().String()
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, to)
	if err != nil {
		return nil, err
	}
	w.open.Add(1)
	return &countedConn{Conn: conn, open: &w.open}, nil
}

// takeDialed returns the addresses dialed since the last call.
func (w *testNetwork) takeDialed() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.dialed
	w.dialed = nil
	return d
}

// checkClosed checks that no connection or goroutine of a fetch is left, and that no
// Fetcher connected to the secret listener.
func (w *testNetwork) checkClosed() {
	w.t.Helper()
	checkEnded(w.t, &w.open)
	if n := w.secret.accepted.Load(); n != 0 {
		w.t.Errorf("%d connections to refused addresses", n)
	}
}

// checkEnded checks that all connections are closed and that no goroutine of a fetch is
// left. It waits up to 5 s.
func checkEnded(t *testing.T, open *atomic.Int32) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		n, left := open.Load(), fetchStack()
		if n == 0 && left == "" {
			return
		}
		if time.Now().After(end) {
			t.Errorf("%d connections are open; goroutines of a fetch: %s", n, left)
			return
		}
	}
}

// fetchStack returns the stack of a goroutine that works for a Fetcher, or "".
func fetchStack() string {
	b := make([]byte, 1<<20)
	for stack := range strings.SplitSeq(string(b[:runtime.Stack(b, true)]), "\n\n") {
		for _, part := range []string{"net/http.(*persistConn)", "net/http.(*Transport)", "fetch.(*Fetcher)"} {
			if strings.Contains(stack, part) {
				return stack
			}
		}
	}
	return ""
}

type countedConn struct {
	net.Conn
	once sync.Once
	open *atomic.Int32
}

func (c *countedConn) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}

// A countingListener sends a secret on every connection.
type countingListener struct {
	net.Listener
	accepted atomic.Int32
}

func (l *countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.accepted.Add(1)
	}
	return c, err
}

func newSecret(t *testing.T) *countingListener { return newSecretOn(t, "127.0.0.1:0") }

func newSecretOn(t *testing.T, address string) *countingListener {
	inner, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	l := &countingListener{Listener: inner}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(png)) })}
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { s.Close(); <-done })
	return l
}

// A nameServer answers queries for A and AAAA records over UDP.
type nameServer struct {
	conn net.PacketConn

	mu      sync.Mutex
	answers map[string][][]netip.Addr // one list for each lookup; the last is repeated
	asked   []string                  // names of A queries
}

func newNameServer(t *testing.T) *nameServer {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nameServer{conn: conn, answers: make(map[string][][]netip.Addr)}
	done := make(chan struct{})
	go func() { defer close(done); s.serve() }()
	t.Cleanup(func() { conn.Close(); <-done })
	return s
}

// set sets the addresses of a name, separated by spaces. With several lists, each
// lookup returns the next one.
func (s *nameServer) set(name string, lists ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[name] = nil
	for _, l := range lists {
		var addrs []netip.Addr
		for a := range strings.FieldsSeq(l) {
			addrs = append(addrs, netip.MustParseAddr(a))
		}
		s.answers[name] = append(s.answers[name], addrs)
	}
}

func (s *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", s.conn.LocalAddr().String())
	}}
}

func (s *nameServer) serve() {
	b := make([]byte, 1500)
	for {
		n, from, err := s.conn.ReadFrom(b)
		if err != nil {
			return
		}
		if reply := s.reply(b[:n]); reply != nil {
			_, _ = s.conn.WriteTo(reply, from)
		}
	}
}

const typeA, typeAAAA = 1, 28

func (s *nameServer) reply(q []byte) []byte {
	if len(q) < 17 {
		return nil
	}
	var labels []string
	at := 12
	for q[at] != 0 {
		n := int(q[at])
		labels = append(labels, string(q[at+1:at+1+n]))
		at += 1 + n
	}
	kind := binary.BigEndian.Uint16(q[at+1:])
	addrs := s.next(strings.ToLower(strings.Join(labels, ".")), kind)
	out := append([]byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, q[12:at+5]...)
	for _, a := range addrs {
		if a.Is4() != (kind == typeA) || kind != typeA && kind != typeAAAA {
			continue
		}
		data := a.AsSlice()
		out = append(out, 0xc0, 12, 0, byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(len(data)))
		out = append(out, data...)
		out[7]++
	}
	if addrs == nil {
		out[3] |= 3 // no such name
	}
	return out
}

// next returns the addresses for a query. Both queries of a lookup have the same list.
func (s *nameServer) next(name string, kind uint16) []netip.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := 0
	for _, q := range s.asked {
		if q == name+" "+string(rune(kind)) {
			asked++
		}
	}
	s.asked = append(s.asked, name+" "+string(rune(kind)))
	lists := s.answers[name]
	if len(lists) == 0 {
		return nil
	}
	return lists[min(asked, len(lists)-1)]
}

// fetch resolves a link.
func fetch(t testing.TB, f *Fetcher, link string) (content.Blob, error) {
	t.Helper()
	return f.Resolve(t.Context(), &content.URL{URL: link})
}

// onlyPublic reports whether all dialed addresses are the origin's.
func onlyPublic(dialed []string) bool {
	return !slices.ContainsFunc(dialed, func(a string) bool { return a != public+":443" })
}

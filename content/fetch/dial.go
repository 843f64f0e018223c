package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"syscall"
	"time"
)

// maxAttempts limits the addresses that are tried for a host name.
const maxAttempts = 8

// transport returns the transport for one request, and a function that releases it.
// Each request has a new transport, so that no connection is reused and every dial ends
// with its request, which [http.Transport] does not guarantee.
func (f *Fetcher) transport(ctx context.Context, req *http.Request) (http.RoundTripper, func(), error) {
	if f.o.Transport != nil {
		return f.o.Transport, func() {}, nil
	}
	t := &http.Transport{
		DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
			return f.dial(ctx, address)
		},
		TLSClientConfig:        &tls.Config{RootCAs: f.o.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    f.o.Timeouts.TLS,
		ResponseHeaderTimeout:  f.o.Timeouts.Header,
		MaxResponseHeaderBytes: f.o.Limits.Header,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		Protocols:              new(http.Protocols),
	}
	t.Protocols.SetHTTP1(true)
	if f.o.Proxy != nil {
		proxy, err := f.o.Proxy(req)
		if err != nil {
			return nil, nil, err
		}
		if proxy != nil {
			t.Proxy = http.ProxyURL(proxy)
			t.DialContext = (&net.Dialer{Timeout: f.o.Timeouts.Connect, KeepAlive: -1}).DialContext
		}
	}
	return t, t.CloseIdleConnections, nil
}

// dial connects to a host. [http.Transport] has converted its name to ASCII, so this is
// where names and addresses are checked in their final form.
func (f *Fetcher) dial(ctx context.Context, address string) (conn net.Conn, err error) {
	// dial runs on a goroutine of the transport, where a panic of the host's functions
	// would end the process.
	defer func() {
		if v := recover(); v != nil {
			conn, err = nil, fmt.Errorf("panic while connecting: %v", v)
		}
	}()
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, err
	}
	if !isASCII(host) {
		return nil, errors.New("the host name cannot be converted to ASCII")
	}
	if problem := f.guard.checkHost(host); problem != "" {
		return nil, errors.New("the link with its host converted to ASCII " + problem)
	}
	addrs, err := f.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	return f.connect(ctx, addrs, uint16(port))
}

// lookup returns the addresses of a host.
func (f *Fetcher) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, f.o.Timeouts.Lookup)
	defer cancel()
	look := f.o.Lookup
	if look == nil {
		look = net.DefaultResolver.LookupNetIP
	}
	return look(ctx, "ip", f.guard.lookupName(host))
}

// connect connects to the first allowed address that accepts a connection.
func (f *Fetcher) connect(ctx context.Context, addrs []netip.Addr, port uint16) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, f.o.Timeouts.Connect)
	defer cancel()
	var errs []error
	for i, a := range addrs {
		if len(errs) == maxAttempts || ctx.Err() != nil {
			break
		}
		if !f.guard.permits(a) {
			errs = append(errs, fmt.Errorf("the address %v is not permitted", a))
			continue
		}
		left := min(len(addrs)-i, maxAttempts-len(errs))
		conn, err := f.attempt(ctx, netip.AddrPortFrom(a.Unmap(), port), left)
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		return nil, errors.New("the host has no address")
	}
	return nil, errors.Join(errs...)
}

// attempt connects to one address. It uses an equal share of the time that is left for
// the given number of attempts.
func (f *Fetcher) attempt(ctx context.Context, to netip.AddrPort, left int) (net.Conn, error) {
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/time.Duration(left))
		defer cancel()
	}
	if f.o.Dial != nil {
		return f.o.Dial(ctx, "tcp", to.String())
	}
	d := net.Dialer{KeepAlive: -1, Control: f.control}
	return d.DialContext(ctx, "tcp", to.String())
}

// control checks the address of a socket before it connects. It repeats the check of
// connect in case something in between changes the address.
func (f *Fetcher) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if !f.guard.permits(to.Addr()) {
		return fmt.Errorf("the address %v is not permitted", to.Addr())
	}
	return nil
}

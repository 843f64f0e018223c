package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A sample is the result of one measurement. A unit is a request, or an event of a stream.
type sample struct {
	rate float64       // units in a second
	p50  time.Duration // of a request, or of an event from the server to the client
	cpu  time.Duration // of the relay's process for each unit; 0 if it is unknown
}

// measure puts a load on a relay for the time d.
func (l *load) measure(ctx context.Context, p *process, d time.Duration) (sample, error) {
	before := p.cpuTime()
	began := time.Now()
	took, err := l.drive(ctx, p.url, d)
	if err != nil {
		return sample{}, err
	}
	elapsed := time.Since(began)
	if len(took) == 0 {
		return sample{}, errors.New("the responses have no events with a time")
	}
	slices.Sort(took)
	n := len(took)
	return sample{float64(n) / elapsed.Seconds(), took[n/2], (p.cpuTime() - before) / time.Duration(n)}, nil
}

// drive sends requests for the time d and waits for their responses. It returns the times of
// all units.
func (l *load) drive(ctx context.Context, url string, d time.Duration) ([]time.Duration, error) {
	// Each stream has its own connection: ReverseProxy of Go 1.26 breaks off one in
	// twenty streams on reused connections.
	transport := &http.Transport{MaxIdleConnsPerHost: l.conns, DisableCompression: true, MaxResponseHeaderBytes: 64 << 10, DisableKeepAlives: l.events > 0}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		took  []time.Duration
		first error
	)
	began := time.Now()
	for range l.conns {
		wg.Go(func() {
			for again := true; again; again = time.Since(began) < d {
				list, err := l.once(ctx, client, url)
				mu.Lock()
				took = append(took, list...)
				if err != nil && first == nil {
					first = err
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return took, first
}

// once sends one request and reads its response. It returns the time that this took, or the
// travel time of each event of a stream.
func (l *load) once(ctx context.Context, client *http.Client, url string) ([]time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+l.path, strings.NewReader(l.body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range l.header {
		req.Header.Set(name, value)
	}
	began := time.Now()
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 1<<10))
		return nil, fmt.Errorf("status %d: %s", res.StatusCode, text)
	}
	if l.events > 0 {
		list, err := l.arrivals(res.Body)
		if err == nil && len(list) != l.events {
			err = fmt.Errorf("the stream has %d events, want %d", len(list), l.events)
		}
		return list, err
	}
	_, err = io.Copy(io.Discard, res.Body)
	return []time.Duration{time.Since(began)}, err
}

// arrivals reads a stream and returns the travel times of its events.
func (l *load) arrivals(r io.Reader) (list []time.Duration, err error) {
	lines := bufio.NewReader(r)
	complete := false
	for {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF && complete {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the stream: %w", err)
		}
		complete = complete || bytes.Contains(line, []byte(l.last))
		_, rest, ok := bytes.Cut(line, []byte(mark))
		if !ok {
			continue
		}
		digits := bytes.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
		at, err := strconv.ParseInt(string(rest[:max(digits, 0)]), 10, 64)
		if err != nil {
			return nil, err
		}
		list = append(list, time.Since(time.Unix(0, at)))
	}
}

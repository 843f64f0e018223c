package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/polywire/polywire/internal/workload"
)

// A scenario is one way of using a relay.
type scenario struct {
	name   string
	unit   string // of what is counted in a second
	body   string
	conns  int
	stream bool
}

// scenarios returns what is measured.
func scenarios() []scenario {
	agent, pdf := workload.Agent(), workload.PDF()
	return []scenario{
		{"agent body, 1 connection", "requests/s", asking(agent, modelWhole), 1, false},
		{"agent body, 8 connections", "requests/s", asking(agent, modelWhole), 8, false},
		{"stream unpaced, 1 connection", "events/s", asking(workload.Small(), modelFlood), 1, true},
		{"stream unpaced, 8 connections", "events/s", asking(workload.Small(), modelFlood), 8, true},
		{"stream paced, 8 connections", "events/s", asking(workload.Small(), modelPaced), 8, true},
		{"pdf, 4 connections", "requests/s", asking(pdf, modelWhole), 4, false},
	}
}

// asking returns a body that asks for a model, and for a stream where that is
// what the model answers with. Both stand in front.
func asking(body, model string) string {
	_, rest, _ := strings.Cut(body, ",") // the model
	if cut, ok := strings.CutSuffix(rest, `,"stream":true}`); ok {
		rest = cut + "}"
	}
	return `{"model":"` + model + `","stream":` + strconv.FormatBool(model != modelWhole) + `,` + rest
}

// A sample is what one measurement has found.
type sample struct {
	rate float64       // units in a second
	p50  time.Duration // for a request, or from the server to the client for an event
}

// drive sends requests for some time, and finishes those that were begun.
func (s *scenario) drive(ctx context.Context, url string, d time.Duration) (sample, error) {
	// Streams have a connection each: of those on a connection that is used
	// again, ReverseProxy of Go 1.26 breaks off one in twenty.
	transport := &http.Transport{MaxIdleConnsPerHost: s.conns, DisableCompression: true, DisableKeepAlives: s.stream}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		took  []time.Duration
		fault error
	)
	began := time.Now()
	for range s.conns {
		wg.Go(func() {
			for first := true; first || time.Since(began) < d; first = false {
				list, err := s.once(ctx, client, url)
				mu.Lock()
				took = append(took, list...)
				if err != nil && fault == nil {
					fault = err
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	elapsed := time.Since(began)
	if fault != nil || len(took) == 0 {
		return sample{}, fmt.Errorf("nothing was measured: %w", fault)
	}
	slices.Sort(took)
	return sample{float64(len(took)) / elapsed.Seconds(), took[len(took)/2]}, nil
}

// once sends one request and reads its answer. It returns how long that took,
// or how long each event was on its way.
func (s *scenario) once(ctx context.Context, client *http.Client, url string) ([]time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/messages", strings.NewReader(s.body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
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
	if s.stream {
		return arrivals(res.Body)
	}
	_, err = io.Copy(io.Discard, res.Body)
	return []time.Duration{time.Since(began)}, err
}

// arrivals reads a stream, and returns how long each of its events was on its
// way.
func arrivals(r io.Reader) (list []time.Duration, err error) {
	lines := bufio.NewReader(r)
	whole := false
	for {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF && whole {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the stream broke off: %w", err)
		}
		whole = whole || bytes.Contains(line, []byte("event: message_stop"))
		_, rest, ok := bytes.Cut(line, []byte(mark))
		if !ok {
			continue
		}
		digits, _, _ := bytes.Cut(rest, []byte(`"`))
		at, err := strconv.ParseInt(string(digits), 10, 64)
		if err != nil {
			return nil, err
		}
		list = append(list, time.Since(time.Unix(0, at)))
	}
}

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

	"github.com/polywire/polywire/internal/workload"
)

// A scenario is a load on a relay.
type scenario struct {
	name   string
	unit   string // of the rate
	body   string
	conns  int
	stream bool
}

// scenarios returns all scenarios.
func scenarios() []scenario {
	agent, pdf := workload.Agent(), workload.PDF()
	return []scenario{
		{"agent body, 1 connection", "requests/s", requestFor(agent, modelWhole), 1, false},
		{"agent body, 8 connections", "requests/s", requestFor(agent, modelWhole), 8, false},
		{"stream unpaced, 1 connection", "events/s", requestFor(workload.Small(), modelFlood), 1, true},
		{"stream unpaced, 8 connections", "events/s", requestFor(workload.Small(), modelFlood), 8, true},
		{"stream paced, 8 connections", "events/s", requestFor(workload.Small(), modelPaced), 8, true},
		{"pdf, 4 connections", "requests/s", requestFor(pdf, modelWhole), 4, false},
	}
}

// requestFor returns body for another model, with "stream" set for models that stream. The
// two members are the first.
func requestFor(body, model string) string {
	_, rest, _ := strings.Cut(body, ",") // the model
	if cut, ok := strings.CutSuffix(rest, `,"stream":true}`); ok {
		rest = cut + "}"
	}
	return `{"model":"` + model + `","stream":` + strconv.FormatBool(model != modelWhole) + `,` + rest
}

// A sample is the result of one measurement.
type sample struct {
	rate float64       // units in a second
	p50  time.Duration // of a request, or of an event from the server to the client
}

// drive sends requests for the time d and waits for their responses.
func (s *scenario) drive(ctx context.Context, url string, d time.Duration) (sample, error) {
	// Each stream has its own connection: ReverseProxy of Go 1.26 breaks off one in
	// twenty streams on reused connections.
	transport := &http.Transport{MaxIdleConnsPerHost: s.conns, DisableCompression: true, DisableKeepAlives: s.stream}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		took  []time.Duration
		first error
	)
	began := time.Now()
	for range s.conns {
		wg.Go(func() {
			for again := true; again; again = time.Since(began) < d {
				list, err := s.once(ctx, client, url)
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
	elapsed := time.Since(began)
	if first != nil {
		return sample{}, first
	}
	if len(took) == 0 {
		return sample{}, errors.New("the responses have no events with a time")
	}
	slices.Sort(took)
	return sample{float64(len(took)) / elapsed.Seconds(), took[len(took)/2]}, nil
}

// once sends one request and reads its response. It returns the time that this took, or the
// travel time of each event of a stream.
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

// arrivals reads a stream and returns the travel times of its events.
func arrivals(r io.Reader) (list []time.Duration, err error) {
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
		complete = complete || bytes.Contains(line, []byte("event: message_stop"))
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

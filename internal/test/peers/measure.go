package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"
)

// A result compares the contestants in one task. The first entry is that of Polywire.
type result struct {
	*task
	entries []*entry // nil for a contestant without the route
	names   []string
}

// An entry is the result of one contestant.
type entry struct {
	other  bool  // it reads or writes another format
	err    error // the translation failed
	gaps   []gap // content that is missing or differs
	notes  []gap // differences that do not make the translation incomplete
	time   time.Duration
	allocs uint64
	bytes  uint64
}

// complete reports whether the entry can be compared.
func (e *entry) complete() bool { return e.err == nil && len(e.gaps) == 0 }

// compare checks all contestants and then measures them alternately.
func (c *config) compare(t *task, list []*contestant) *result {
	r := &result{task: t}
	inputs := make(map[format][]byte)
	input := func(f format) []byte {
		if inputs[f] == nil {
			inputs[f] = t.inputs[f]()
		}
		return inputs[f]
	}
	var runs []func()
	var measured []*entry
	for _, p := range list {
		r.names = append(r.names, p.name)
		tr, ok := p.routes[t.route]
		if !ok || t.inputs[tr.source(t.route)] == nil {
			r.entries = append(r.entries, nil)
			continue
		}
		from := input(tr.source(t.route))
		e := &entry{other: tr.other(t.route)}
		r.entries = append(r.entries, e)
		if e.check(t, &tr, input(t.from), from); e.err != nil {
			continue
		}
		runs = append(runs, func() { e.err = cmp.Or(e.err, safely(tr.translate, from, io.Discard)) })
		measured = append(measured, e)
	}
	for range c.rounds {
		for i, e := range measured {
			if d := c.perRun(runs[i]); e.time == 0 || d < e.time {
				e.time = d
			}
		}
	}
	for i, e := range measured {
		e.allocs, e.bytes = memory(runs[i])
	}
	return r
}

// check translates once and compares the output with the input of the task.
func (e *entry) check(t *task, tr *translator, original, from []byte) {
	var out bytes.Buffer
	if e.err = safely(tr.translate, from, &out); e.err != nil {
		return
	}
	var gaps []gap
	if t.stream {
		got, err := readStream(tr.target(t.route), out.String())
		if err != nil {
			e.gaps = []gap{{what: "invalid: " + err.Error()}}
			return
		}
		gaps = compareReplies(t.reply, got)
	} else {
		want, err := readRequest(t.from, original)
		if err != nil {
			e.err = err
			return
		}
		got, err := readRequest(tr.target(t.route), out.Bytes())
		if err != nil {
			e.gaps = []gap{{what: "invalid: " + err.Error()}}
			return
		}
		gaps = compare(want, got)
	}
	for _, g := range gaps {
		if g.what == overlapping || slices.Contains(vendorOnly, kind(g.what)) {
			e.notes = append(e.notes, g)
		} else {
			e.gaps = append(e.gaps, g)
		}
	}
}

// safely calls translate and returns a panic as an error.
func safely(translate func([]byte, io.Writer) error, input []byte, out io.Writer) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return translate(input, out)
}

// perRun calls run until the time of a measurement is over, at least once, and returns the
// time of one call. Garbage of earlier measurements is collected before.
func (c *config) perRun(run func()) time.Duration {
	runtime.GC()
	start := time.Now()
	for n := time.Duration(1); ; n++ {
		run()
		if d := time.Since(start); d >= c.time {
			return d / n
		}
	}
}

// memory returns the allocations and bytes of one call.
func memory(run func()) (allocs, bytes uint64) {
	const n = 3
	var before, after runtime.MemStats
	run()
	runtime.ReadMemStats(&before)
	for range n {
		run()
	}
	runtime.ReadMemStats(&after)
	return (after.Mallocs - before.Mallocs) / n, (after.TotalAlloc - before.TotalAlloc) / n
}

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/polywire/polywire/content"
)

// A row is a line of the output of -jsonl. It has a Request or Errors.
type row struct {
	Row     int             `json:"row"` // the number of the input line, from 1
	Request json.RawMessage `json:"request,omitempty"`
	Losses  []place         `json:"losses,omitempty"`
	Errors  []place         `json:"errors,omitempty"`
}

// A place is a loss or an error in a row.
type place struct {
	Path     string `json:"path,omitempty"` // in the document of the input
	Severity string `json:"severity,omitempty"`
	Text     string `json:"text"`
	More     int    `json:"more,omitempty"` // further places
}

const progressRows = 1000 // between two lines of progress

// rows translates each line of the input, which is a request. Every line becomes one row of the
// output, so as many lines as the output has rows are skipped: an earlier run has written them.
func (t *task) rows(ctx context.Context) error {
	done := 0
	if t.output != "" {
		f, err := os.OpenFile(t.output, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		if done, err = resume(f); err != nil {
			return err
		}
		t.out = f
	}
	in, out := bufio.NewReader(t.in), json.NewEncoder(t.out)
	out.SetEscapeHTML(false)
	failed, lossy := 0, 0
	reasons := map[string]int{} // rows of this run
	progress := func(n int) {
		fmt.Fprintf(t.log, "translate: %d rows: %d with losses, %d failed; %d are of an earlier run\n", n, lossy, failed, min(n, done))
	}
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if len(line) == 0 || err != nil && err != io.EOF {
			progress(n - 1)
			for _, reason := range slices.Sorted(maps.Keys(reasons)) {
				if t.summary {
					fmt.Fprintf(t.log, "%d rows: %s\n", reasons[reason], reason)
				}
			}
			if err == io.EOF {
				err = nil
			}
			return err
		}
		if n <= done {
			continue
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		r := t.row(ctx, n, bytes.TrimSpace(line))
		if len(r.Errors) > 0 {
			failed++
		} else if len(r.Losses) > 0 {
			lossy++
		}
		for _, l := range r.Losses {
			reasons[l.Severity+": "+l.Text]++
		}
		if err := out.Encode(r); err != nil {
			return err
		}
		if n%progressRows == 0 {
			progress(n)
		}
	}
}

// row translates a request.
func (t *task) row(ctx context.Context, n int, body []byte) row {
	document, losses, path, err := t.translate(ctx, body)
	r := row{Row: n, Request: document}
	for _, l := range losses {
		r.Losses = append(r.Losses, place{path(l.Path), l.Severity.String(), l.Reason, l.Count() - 1})
	}
	if err == nil {
		return r
	}
	r.Request = nil
	list, _ := content.Violations(err)
	for _, v := range list {
		r.Errors = append(r.Errors, place{Path: v.Path, Text: v.Text})
	}
	if len(list) == 0 {
		r.Errors = []place{{Text: err.Error()}}
	}
	return r
}

// resume returns the number of rows of an output, and sets f to its end. It removes a last row
// that was not written completely.
func resume(f *os.File) (rows int, err error) {
	r := bufio.NewReader(f)
	size := int64(0)
	for {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, err
		}
		size += int64(len(line))
		rows++
	}
	_, err = f.Seek(size, io.SeekStart)
	return rows, cmp.Or(f.Truncate(size), err)
}

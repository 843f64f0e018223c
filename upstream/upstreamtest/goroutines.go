package upstreamtest

import (
	"bytes"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"
)

// goroutinesOf returns the stacks of the goroutines with the label of a call: the
// goroutine that runs the call, and those that it has started.
func goroutinesOf(label string) (stacks []string) {
	var b bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
		return nil
	}
	mark := strconv.Quote(labelName) + ":" + strconv.Quote(label)
	_, records, _ := strings.Cut(b.String(), "\n") // without the title
	for record := range strings.SplitSeq(records, "\n\n") {
		head, stack, _ := strings.Cut(record, "\n")
		labels, stack, _ := strings.Cut(stack, "\n")
		if !strings.HasPrefix(labels, "# labels:") || !strings.Contains(labels, mark) {
			continue
		}
		count, _, _ := strings.Cut(head, " ")
		n, _ := strconv.Atoi(count)
		for range n {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

const pollInterval = 5 * time.Millisecond

// waitAlone waits until its goroutine is the only one with the label, at most
// for d.
func waitAlone(label string, d time.Duration) {
	for range d / pollInterval {
		if len(goroutinesOf(label)) <= 1 {
			return
		}
		time.Sleep(pollInterval)
	}
}

package upstreamtest

import (
	"bytes"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"
)

// labelled returns the stacks of the goroutines that bear a call's label: the
// one that made the call, if it is not over, and all that were started by it.
func labelled(label string) (stacks []string) {
	var b bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
		return nil
	}
	mark := strconv.Quote(labelName) + ":" + strconv.Quote(label)
	_, records, _ := strings.Cut(b.String(), "\n") // behind the title
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

const look = 5 * time.Millisecond

// alone waits until the goroutine that calls it is the only one of its call,
// for d at most.
func alone(label string, d time.Duration) {
	for range d / look {
		if len(labelled(label)) <= 1 {
			return
		}
		time.Sleep(look)
	}
}

package main

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// A result compares the two sides of a scenario.
type result struct {
	scenario
	lost            string // a string of the request that the other side does not send
	p50, cpu, rate  metric
	peak, otherPeak int64
}

// A metric has the measurements of the gateway, of the other side, and their ratios, by round.
type metric struct{ gateway, other, ratios []float64 }

func (m *metric) add(gateway, other float64) {
	m.gateway, m.other, m.ratios = append(m.gateway, gateway), append(m.other, other), append(m.ratios, gateway/other)
}

// ratio returns the median of the ratios, or 0 if it is unknown.
func (m *metric) ratio() float64 {
	if median(m.gateway) == 0 || median(m.other) == 0 {
		return 0
	}
	return median(m.ratios)
}

// add adds the samples of a round.
func (r *result) add(gateway, other sample) {
	r.p50.add(float64(gateway.p50), float64(other.p50))
	r.cpu.add(float64(gateway.cpu), float64(other.cpu))
	r.rate.add(gateway.rate, other.rate)
}

// median returns the median of list.
func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// other returns the name of the other side.
func (s *scenario) other() string {
	switch {
	case s.same != nil:
		return "same format"
	case s.portkey != "":
		return "Portkey"
	}
	return "ReverseProxy"
}

// sections returns the results by their other side, without empty lists.
func sections(results []*result) (list [][]*result) {
	for i, r := range results {
		if i == 0 || r.other() != results[i-1].other() {
			list = append(list, nil)
		}
		list[len(list)-1] = append(list[len(list)-1], r)
	}
	return list
}

// title returns the name of the section of s.
func (s *scenario) title() string {
	if s.same != nil {
		return "translation / " + s.other()
	}
	return "gateway / " + s.other()
}

// tables writes the results as Markdown tables.
func tables(w io.Writer, results []*result) {
	for i, section := range sections(results) {
		if i > 0 {
			fmt.Fprintln(w)
		}
		// A translation and the same format have one process, and so one peak of its memory.
		peaks := section[0].same == nil
		head, line := "| "+section[0].title()+" | p50 | ratio | CPU | ratio | rate | ratio |", "| --- | --- | --- | --- | --- | --- | --- |"
		if peaks {
			head, line = head+" peak memory |", line+" --- |"
		}
		fmt.Fprintf(w, "%s\n%s\n", head, line)
		for _, r := range section {
			name := r.name
			if r.lost != "" {
				name += fmt.Sprintf(" (%s does not send %.50q)", r.other(), r.lost)
			}
			fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %.0f / %.0f %s/s | %s |", name,
				r.p50.times(), ratio(&r.p50, r.goal.p50), r.cpu.times(), ratio(&r.cpu, r.goal.cpu),
				median(r.rate.gateway), median(r.rate.other), r.load.unit(), ratio(&r.rate, 0))
			if peaks {
				fmt.Fprintf(w, " %s / %s |", megabytes(r.peak), megabytes(r.otherPeak))
			}
			fmt.Fprintln(w)
		}
	}
}

// ratio returns the ratio of m with its goal, if there is one that the ratio exceeds. The
// ratio is a dash if it is unknown.
func ratio(m *metric, goal float64) string {
	switch {
	case m.ratio() == 0:
		return "–"
	case goal > 0 && m.ratio() > goal:
		return fmt.Sprintf("**%.2f** (goal %.1f: missed)", m.ratio(), goal)
	}
	return fmt.Sprintf("**%.2f**", m.ratio())
}

// times returns both medians of m as times, or a dash if they are unknown.
func (m *metric) times() string {
	if m.ratio() == 0 {
		return "–"
	}
	return fmt.Sprintf("%v / %v", round(median(m.gateway)), round(median(m.other)))
}

// round returns a time in nanoseconds with three digits or more.
func round(ns float64) time.Duration {
	d := time.Duration(ns)
	switch {
	case d > 10*time.Millisecond:
		return d.Round(100 * time.Microsecond)
	case d > 100*time.Microsecond:
		return d.Round(time.Microsecond)
	}
	return d.Round(10 * time.Nanosecond)
}

// megabytes returns n in MB, or a dash if it is 0.
func megabytes(n int64) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprintf("%d MB", n>>20)
}

package main

import (
	"fmt"
	"math"
	"strings"
)

// colors are those of the contestants after the first.
var colors = []string{"#4477aa", "#228833", "#ee6677", "#aa3377"}

// plot returns an SVG drawing of the ratios on a logarithmic axis. Incomplete results, and
// those of other formats, are hollow.
func plot(list []*result) string {
	const (
		left, right, top, row = 330, 60, 74, 22
		width                 = 860
	)
	low, high := 1.0, 10.0
	for _, r := range list {
		for _, e := range r.entries[1:] {
			if x := r.multiple(e); x > 0 {
				low, high = min(low, x), max(high, x)
			}
		}
	}
	from, to := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	place := func(x float64) float64 {
		return left + (math.Log10(x)-from)/(to-from)*(width-left-right)
	}
	height := top + row*len(list) + 34

	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	fmt.Fprintln(&b, `<text x="10" y="20" font-weight="bold">Time of other projects, as a multiple of Polywire's (logarithmic)</text>`)
	fmt.Fprintln(&b, `<text x="10" y="38" font-size="11">left of 1: faster than Polywire; filled: complete; hollow: content is missing, or another format is read or written</text>`)
	for i, name := range list[0].names[1:] {
		x, color := 16+110*i, colors[i%len(colors)]
		fmt.Fprintf(&b, `<circle cx="%d" cy="53" r="5" fill="%s"/><text x="%d" y="57" fill="%s">%s</text>`+"\n", x, color, x+10, color, name)
	}
	for p := from; p <= to; p++ {
		x := place(math.Pow(10, p))
		fmt.Fprintf(&b, `<line x1="%.0f" y1="%d" x2="%.0f" y2="%d" stroke="%s"/>`+"\n", x, top-8, x, height-24, map[bool]string{true: "#888888", false: "#dddddd"}[p == 0])
		fmt.Fprintf(&b, `<text x="%.0f" y="%d" text-anchor="middle" font-size="11">%g</text>`+"\n", x, height-8, math.Pow(10, p))
	}
	for i, r := range list {
		y := top + row*i + row/2
		fmt.Fprintf(&b, `<text x="10" y="%d">%s</text>`+"\n", y+4, r.name())
		for j, e := range r.entries[1:] {
			x := r.multiple(e)
			if x == 0 {
				continue
			}
			color := colors[j%len(colors)]
			fill := color
			if !e.complete() || e.other {
				fill = "white"
			}
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%d" r="5" fill="%s" stroke="%s" stroke-width="1.5"/>`+"\n", place(x), y, fill, color)
		}
	}
	fmt.Fprintln(&b, `</svg>`)
	return b.String()
}

// multiple returns the time of an entry as a multiple of Polywire's, or 0 without one.
func (r *result) multiple(e *entry) float64 {
	first := r.entries[0]
	if e == nil || e.err != nil || first == nil || first.time == 0 {
		return 0
	}
	return float64(e.time) / float64(first.time)
}

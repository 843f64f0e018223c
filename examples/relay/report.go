package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A result compares the two relays in one scenario.
type result struct {
	scenario
	gateway, proxy        series
	p50Ratios, rateRatios []float64 // gateway / proxy, of each round
}

// A series holds the measurements of one relay.
type series struct {
	rate []float64
	p50  []time.Duration
	peak int64
}

// add adds the samples of a round.
func (r *result) add(gateway, proxy sample) {
	r.gateway.rate, r.gateway.p50 = append(r.gateway.rate, gateway.rate), append(r.gateway.p50, gateway.p50)
	r.proxy.rate, r.proxy.p50 = append(r.proxy.rate, proxy.rate), append(r.proxy.p50, proxy.p50)
	r.p50Ratios = append(r.p50Ratios, float64(gateway.p50)/float64(proxy.p50))
	r.rateRatios = append(r.rateRatios, gateway.rate/proxy.rate)
}

// median returns the median of list.
func median[T float64 | time.Duration](list []T) T {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// table writes the results as a Markdown table.
func table(w io.Writer, results []*result) {
	fmt.Fprintln(w, "| gateway against ReverseProxy | p50 | ratio | rate | ratio | peak memory |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- |")
	for _, r := range results {
		fmt.Fprintf(w, "| %s | %v / %v | **%.2f** | %.0f / %.0f %s | **%.2f** | %s / %s |\n", r.name,
			round(median(r.gateway.p50)), round(median(r.proxy.p50)), median(r.p50Ratios),
			median(r.gateway.rate), median(r.proxy.rate), r.unit, median(r.rateRatios), megabytes(r.gateway.peak), megabytes(r.proxy.peak))
	}
}

func round(d time.Duration) time.Duration {
	if d > 10*time.Millisecond {
		return d.Round(100 * time.Microsecond)
	}
	return d.Round(time.Microsecond)
}

// megabytes returns n in MB, or a dash if it is 0.
func megabytes(n int64) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprintf("%d MB", n>>20)
}

// plot returns an SVG drawing of the ratios: two bars for each scenario, and lines at the
// goals.
func plot(results []*result) string {
	const (
		left, unit, row = 250, 220, 56 // pixels; a ratio of 1 is one unit
		width           = left + 2*unit + 60
	)
	var b strings.Builder
	height := 70 + row*len(results)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	fmt.Fprintln(&b, `<text x="10" y="20" font-weight="bold">Example gateway, as a multiple of httputil.ReverseProxy</text>`)
	fmt.Fprintln(&b, `<text x="10" y="38" fill="#4477aa">p50 (goal: at most 1.3)</text><text x="170" y="38" fill="#228833">rate (goal: at least 0.7)</text>`)
	line := func(ratio float64, color string) {
		x := left + int(ratio*unit)
		fmt.Fprintf(&b, `<line x1="%d" y1="48" x2="%d" y2="%d" stroke="%s" stroke-dasharray="4 3"/>`+"\n", x, x, height-16, color)
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle" font-size="11">%.1f</text>`+"\n", x, height-4, ratio)
	}
	line(0.7, "#228833")
	line(1, "#888888")
	line(1.3, "#4477aa")
	for i, r := range results {
		y := 54 + i*row
		fmt.Fprintf(&b, `<text x="10" y="%d">%s</text>`+"\n", y+24, r.name)
		for j, bar := range []struct {
			ratio float64
			color string
		}{{median(r.p50Ratios), "#4477aa"}, {median(r.rateRatios), "#228833"}} {
			at := y + j*20
			fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="16" fill="%s"/>`+"\n", left, at, int(min(bar.ratio, 2)*unit), bar.color)
			fmt.Fprintf(&b, `<text x="%d" y="%d" font-size="11">%.2f</text>`+"\n", left+int(min(bar.ratio, 2)*unit)+4, at+12, bar.ratio)
		}
	}
	fmt.Fprintln(&b, `</svg>`)
	return b.String()
}

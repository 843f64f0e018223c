package main

import (
	"fmt"
	"strings"
)

// Lengths of the drawing in pixels.
const (
	plotLeft   = 340 // of the bars
	plotUnit   = 90  // of a ratio of 1
	maxRatio   = 5   // of the longest bar
	plotBar    = 13
	plotRow    = 2*plotBar + 12
	plotHeader = 40
)

// The color of a missed goal.
const missedColor = "#cc3311"

// plot returns an SVG drawing of the ratios: a section for each table, and in it two bars for
// each scenario, with marks at the goals.
func plot(results []*result) string {
	list := sections(results)
	width := plotLeft + maxRatio*plotUnit + 50
	height := plotHeader + 10 + len(list)*plotHeader + len(results)*plotRow
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	fmt.Fprintln(&b, `<text x="10" y="20" font-weight="bold">Example gateway, as a multiple of the other side</text>`)
	fmt.Fprintf(&b, `<text x="10" y="38"><tspan fill="#4477aa">p50</tspan> &#160; <tspan fill="#228833">CPU time</tspan> &#160; | goal &#160; <tspan fill="%s">missed</tspan></text>`+"\n", missedColor)
	y := plotHeader
	for _, section := range list {
		top := y + plotHeader - 8
		fmt.Fprintf(&b, `<text x="10" y="%d" font-weight="bold">%s</text>`+"\n", top, section[0].title())
		line(&b, 1, top, y+plotHeader+len(section)*plotRow-6, "#888888", ` stroke-dasharray="4 3"`)
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle" font-size="11">1.0</text>`+"\n", plotLeft+plotUnit, top-4)
		y += plotHeader
		for _, r := range section {
			fmt.Fprintf(&b, `<text x="10" y="%d">%s</text>`+"\n", y+plotBar+5, r.name)
			bar(&b, r.p50.ratio(), r.goal.p50, y, "#4477aa")
			bar(&b, r.cpu.ratio(), r.goal.cpu, y+plotBar+2, "#228833")
			y += plotRow
		}
	}
	fmt.Fprintln(&b, `</svg>`)
	return b.String()
}

// bar draws a ratio and its goal, if there is one. It draws nothing for an unknown ratio.
func bar(b *strings.Builder, ratio, goal float64, y int, color string) {
	if ratio == 0 {
		return
	}
	length := int(min(ratio, maxRatio) * plotUnit)
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", plotLeft, y, length, plotBar, color)
	text := "black"
	if goal > 0 {
		line(b, goal, y, y+plotBar, "black", ` stroke-width="2"`)
		if ratio > goal {
			text = missedColor
		}
	}
	at := max(length, int(goal*plotUnit))
	fmt.Fprintf(b, `<text x="%d" y="%d" font-size="11" fill="%s">%.2f</text>`+"\n", plotLeft+at+4, y+plotBar-3, text, ratio)
}

// line draws a vertical line at a ratio.
func line(b *strings.Builder, ratio float64, from, to int, color, style string) {
	x := plotLeft + int(ratio*plotUnit)
	fmt.Fprintf(b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="%s"%s/>`+"\n", x, from, x, to, color, style)
}

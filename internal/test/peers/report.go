package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// about returns a sentence with the date, the machine and the versions.
func about(now time.Time) string {
	versions := make(map[string]string)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			versions[d.Path] = d.Version
		}
	}
	var parts []string
	for _, c := range contestants()[1:] {
		version := cmp.Or(versions[c.module], "version unknown")
		parts = append(parts, fmt.Sprintf("%s is `%s` %s", c.name, c.module, version))
	}
	return fmt.Sprintf("%s, %s, %s, %d cores. %s.", now.Format("2 January 2006"), processor(), strings.Replace(runtime.Version(), "go", "Go ", 1),
		runtime.NumCPU(), strings.Join(parts, ", "))
}

// processor returns the model of the processor, which Linux reports.
func processor() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// report returns the tables: times, memory, and what is missing.
func report(list []*result, about string) string {
	var b strings.Builder
	b.WriteString(about + "\n\n")
	if h := headline(list); h != "" {
		b.WriteString(h + "\n\n")
	}
	table(&b, list, "time of Polywire; others as multiples of it", func(e, first *entry) string {
		if e == first {
			return duration(e.time)
		}
		if !first.complete() || first.time == 0 {
			return duration(e.time)
		}
		return ratio(e, first)
	})
	b.WriteString("\n")
	table(&b, list, "allocations, memory", func(e, _ *entry) string {
		return fmt.Sprintf("%s, %s", thousands(e.allocs), memorySize(e.bytes))
	})
	for _, part := range []struct {
		title string
		gaps  func(*entry) []gap
	}{
		{"What is missing, or differs", func(e *entry) []gap {
			if e.err != nil {
				return []gap{{what: "fails: " + e.err.Error()}}
			}
			return e.gaps
		}},
		{"Differences that are not counted: other vendors do not accept thinking and signatures, and clients that read blocks by index accept overlapping blocks",
			func(e *entry) []gap { return e.notes }},
	} {
		rows := missing(list, part.gaps)
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s:\n\n| project | translation | content |\n| --- | --- | --- |\n%s", part.title, strings.Join(rows, ""))
	}
	return b.String()
}

// headline returns a sentence with the range of the ratios that are comparable.
func headline(list []*result) string {
	var parts []string
	for _, stream := range []bool{false, true} {
		var all []float64
		for _, r := range list {
			if r.stream != stream {
				continue
			}
			all = append(all, r.ratios()...)
		}
		if len(all) > 0 {
			parts = append(parts, fmt.Sprintf("%s %s to %s times", map[bool]string{false: "requests", true: "streams"}[stream],
				round(slices.Min(all)), round(slices.Max(all))))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Time of other projects where they keep the content, as a multiple of Polywire's: " + strings.Join(parts, ", ") + "."
}

// ratios returns the ratios of complete translations between the formats of the task.
func (r *result) ratios() (all []float64) {
	first := r.entries[0]
	if first == nil || !first.complete() || first.time == 0 {
		return nil
	}
	for _, e := range r.entries[1:] {
		if e != nil && e.complete() && !e.other {
			all = append(all, float64(e.time)/float64(first.time))
		}
	}
	return all
}

// table writes a row for each task and a column for each contestant.
func table(b *strings.Builder, list []*result, title string, cell func(e, first *entry) string) {
	fmt.Fprintf(b, "| %s | %s |\n|%s\n", title, strings.Join(list[0].names, " | "), strings.Repeat(" --- |", len(list[0].names)+1))
	for _, r := range list {
		fmt.Fprintf(b, "| %s |", r.name())
		for _, e := range r.entries {
			switch {
			case e == nil:
				b.WriteString(" |")
			case e.err != nil:
				b.WriteString(" fails |")
			default:
				fmt.Fprintf(b, " %s |", marked(e, cell(e, r.entries[0])))
			}
		}
		b.WriteString("\n")
	}
}

// marked puts an incomplete result in parentheses, and adds an asterisk to one of another
// format.
func marked(e *entry, s string) string {
	if !e.complete() {
		s = "(" + s + ")"
	}
	if e.other {
		s += "\\*"
	}
	return s
}

func ratio(e, first *entry) string { return round(float64(e.time) / float64(first.time)) }

// round returns x with two or more digits.
func round(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

// missing returns a row for each contestant and task with gaps. Tasks with equal gaps are
// one row.
func missing(list []*result, gaps func(*entry) []gap) (rows []string) {
	for i, name := range list[0].names {
		var phrases []string
		tasks := make(map[string][]string)
		for _, r := range list {
			e := r.entries[i]
			if e == nil {
				continue
			}
			var all []string
			for _, g := range gaps(e) {
				all = append(all, g.String())
			}
			if len(all) == 0 {
				continue
			}
			phrase := strings.Join(all, "; ")
			if tasks[phrase] == nil {
				phrases = append(phrases, phrase)
			}
			tasks[phrase] = append(tasks[phrase], r.name())
		}
		for _, p := range phrases {
			rows = append(rows, fmt.Sprintf("| %s | %s | %s |\n", name, strings.Join(tasks[p], "<br>"), cellText(p)))
		}
	}
	return rows
}

// cellText returns s as the text of a cell.
func cellText(s string) string {
	const limit = 200
	s = strings.NewReplacer("\n", " ", "|", "\\|").Replace(s)
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}

// duration returns d with three digits.
func duration(d time.Duration) string {
	switch {
	case d >= time.Millisecond:
		return digits(float64(d)/1e6) + " ms"
	case d >= time.Microsecond:
		return digits(float64(d)/1e3) + " µs"
	}
	return fmt.Sprintf("%d ns", d.Nanoseconds())
}

func memorySize(n uint64) string {
	switch {
	case n >= 1_000_000:
		return digits(float64(n)/1e6) + " MB"
	case n >= 1000:
		return digits(float64(n)/1e3) + " KB"
	}
	return fmt.Sprintf("%d B", n)
}

func digits(x float64) string {
	switch {
	case x < 10:
		return fmt.Sprintf("%.2f", x)
	case x < 100:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

// thousands returns n with commas.
func thousands(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

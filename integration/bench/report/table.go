package report

import (
	"fmt"
	"strconv"
	"strings"
)

// column is one column of the table.
type column struct {
	title string
	cell  func(r Row, rows []Row) (string, bool)
}

var columns = []column{
	{"CPU, µs", value(CPU, "%.1f", 1)},
	{"× nginx", ratio("nginx")},
	{"× ReverseProxy", ratio("ReverseProxy")},
	{"a second", rate},
	{"p50, ms", value(P50, "%.2f", 1e-3)},
	{"p99, ms", value(P99, "%.2f", 1e-3)},
	{"p50 paced, ms", value(PacedP50, "%.2f", 1e-3)},
	{"p99 paced, ms", value(PacedP99, "%.2f", 1e-3)},
	{"allocations", value(Allocs, "%.1f", 1)},
	{"MiB", value(Resident, "%.0f", 1)},
	{"KiB each", value(Each, "%.1f", 1)},
	{"idle stream, µs/s", value(Idle, "%.2f", 1)},
	{"misrouted", value(Misrouted, "%.3g %%", 100)},
}

// Table is rows as a table in Markdown.
func Table(rows []Row) string {
	var b strings.Builder
	b.WriteString("| work | proxy |")
	for _, c := range columns {
		b.WriteString(" " + c.title + " |")
	}
	b.WriteString("\n| --- | --- |" + strings.Repeat(" ---: |", len(columns)) + "\n")
	for _, r := range rows {
		b.WriteString("| " + r.work() + " | " + r.Contender + " |")
		for _, c := range columns {
			cell, ok := c.cell(r, rows)
			if !ok {
				cell = "–"
			}
			b.WriteString(" " + cell + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (r Row) work() string {
	if r.Unit == "" {
		return r.Kind
	}
	return r.Kind + ": " + r.Unit
}

func value(m Metric, format string, scale float64) func(Row, []Row) (string, bool) {
	return func(r Row, _ []Row) (string, bool) {
		v, ok := r.Median(m)
		return fmt.Sprintf(format, v*scale), ok
	}
}

func ratio(product string) func(Row, []Row) (string, bool) {
	return func(r Row, rows []Row) (string, bool) {
		other, ok := r.beside(rows, product)
		if !ok {
			return "", false
		}
		v, ok := r.Ratio(CPU, other)
		return fmt.Sprintf("%.2f", v), ok
	}
}

// saturated is the part of its core from which on a proxy counts as the limit.
const saturated = 0.9

// rate is what a proxy did a second, as a lower bound if it was not the limit.
func rate(r Row, _ []Row) (string, bool) {
	v, ok := r.Median(PerSecond)
	cell := thousands(int64(v + 0.5))
	if busy, measured := r.Median(Busy); measured && busy < saturated {
		cell = "> " + cell
	}
	return cell, ok
}

func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

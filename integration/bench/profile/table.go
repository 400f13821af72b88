package profile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Column is what was found of one contender, by name of a group or a system call.
type Column struct {
	Name   string
	Values map[string]float64
}

// SharesTable is shares of CPU time as a table in Markdown, groups that nobody spends time in left out.
func SharesTable(work string, columns []Column) string {
	var rows []string
	for _, name := range names() {
		if greatest(name, columns) >= 0.0005 {
			rows = append(rows, name)
		}
	}
	return table(work+": CPU time of", rows, columns, func(value float64) string { return fmt.Sprintf("%.1f %%", 100*value) })
}

// leastCalls is how many of a system call a unit are worth a line.
const leastCalls = 0.005

// CallsTable is system calls a unit as a table in Markdown, the most frequent first.
func CallsTable(work string, columns []Column) string {
	all := make(map[string]float64)
	for i, c := range columns {
		sum := 0.0
		for name, value := range c.Values {
			all[name] = max(all[name], value)
			sum += value
		}
		columns[i].Values = maps.Clone(c.Values)
		columns[i].Values["all"] = sum
	}
	rows := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(cmp.Compare(all[b], all[a]), cmp.Compare(a, b))
	})
	rows = slices.DeleteFunc(rows, func(name string) bool { return all[name] < leastCalls })
	return table(work+": system calls a request", append(rows, "all"), columns, func(value float64) string { return fmt.Sprintf("%.2f", value) })
}

// Rows of a CountsTable.
const (
	Instructions = "instructions"
	Code         = "lines of code that 32 KiB do not have"
	Data         = "lines of data that 32 KiB do not have"
	Far          = "of both, that 512 KiB do not have either"
)

// CountsTable is what a unit takes, as a table in Markdown.
func CountsTable(work string, rows []string, columns []Column) string {
	return table(work+": a request, outside the kernel", rows, columns, func(value float64) string { return fmt.Sprintf("%.0f", value) })
}

func greatest(name string, columns []Column) (most float64) {
	for _, c := range columns {
		most = max(most, c.Values[name])
	}
	return most
}

func table(title string, rows []string, columns []Column, format func(float64) string) string {
	var b strings.Builder
	b.WriteString("| " + title + " |")
	for _, c := range columns {
		b.WriteString(" " + c.Name + " |")
	}
	b.WriteString("\n| --- |" + strings.Repeat(" ---: |", len(columns)) + "\n")
	for _, name := range rows {
		b.WriteString("| " + name + " |")
		for _, c := range columns {
			b.WriteString(" " + format(c.Values[name]) + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

package verbs

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// table writes rows under a heading, aligned. Cells may hold what clients and servers worded.
func table(w io.Writer, heading string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(strings.Fields(heading), "\t"))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = orDash(plain(cell))
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	return t.Flush()
}

// ago is how long ago something was; "" of the zero time.
func ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return span(time.Since(t))
}

// until is how long it is to something; "" of the zero time.
func until(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return span(time.Until(t))
}

// span is a duration in at most two units.
func span(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%dh", int(d.Hours())/24, int(d.Hours())%24)
}

// seconds is a number of seconds as people read it.
func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(10 * time.Microsecond).String()
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

func count(n int) string { return fmt.Sprint(n) }

package verbs

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"berth/internal/api"
)

// statusLine says in one line what is left.
func statusLine(s api.MayStop) string {
	line := leftLine(s)
	switch {
	case s.Drained:
		line = "nothing is lost if it stops now"
	case !s.Draining:
		line = "takes new work; " + line
	case s.Heeding < s.Berths:
		line += fmt.Sprintf("; %d of %d berths have heard", s.Heeding, s.Berths)
	}
	if s.Movable > 0 {
		line += fmt.Sprintf("; %s that can move", many(s.Movable, "session"))
	}
	if s.Uncounted > 0 {
		line += fmt.Sprintf("; %s not counted yet", many(s.Uncounted, "binding"))
	}
	return line
}

func leftLine(s api.MayStop) string {
	var left []string
	for _, one := range []struct {
		n    int
		what string
	}{{s.Left.Tasks, "task"}, {s.Left.Sessions, "session"}, {s.Left.Streams, "stream"}, {s.Left.Requests, "request"}, {s.Left.Held, "held call"}} {
		if one.n > 0 {
			left = append(left, many(one.n, one.what))
		}
	}
	if len(left) == 0 {
		return "nothing is left"
	}
	line := "left: " + strings.Join(left, ", ")
	if s.Left.Tasks+s.Left.Sessions > 0 && !s.LostAfter.IsZero() {
		line += "; nothing is owned after " + s.LostAfter.Local().Format(time.DateTime)
	}
	return line
}

func many(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func tellStatus(w io.Writer, s api.MayStop) error {
	state := "takes new work"
	if s.Draining {
		state = "drains by the " + s.By
	}
	fmt.Fprintf(w, "%s/%s  %s  %s\n%s\n", s.Pool, s.Name, s.URL, state, statusLine(s))
	if len(s.Items) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KIND\tID\tTOOL\tSTATUS\tAGE\tCALLER\tFORGOTTEN")
	for _, i := range s.Items {
		age := "-"
		if !i.Made.IsZero() {
			age = time.Since(i.Made).Round(time.Second).String()
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", i.Kind, i.ID, orDash(i.Tool), orDash(i.Status), age, orDash(i.Caller), i.Expires.Local().Format(time.DateTime))
	}
	if s.More > 0 {
		fmt.Fprintf(table, "and %d more\n", s.More)
	}
	return table.Flush()
}

func tellAll(w io.Writer, all []api.Upstream) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "UPSTREAM\tSTATE\tTASKS\tSESSIONS\tSTREAMS\tREQUESTS\tHELD\tURL")
	for _, s := range all {
		state := "takes new work"
		switch {
		case s.Drained:
			state = "drained"
		case s.Draining:
			state = "drains"
		}
		fmt.Fprintf(table, "%s/%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\n", s.Pool, s.Name, state,
			s.Left.Tasks, s.Left.Sessions+s.Movable, s.Left.Streams, s.Left.Requests, s.Left.Held, s.URL)
	}
	return table.Flush()
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

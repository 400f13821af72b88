package verbs

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"berth/internal/api"
	"berth/routing/health"
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

// tellStatus tells whether one upstream may stop, and what is left there.
func tellStatus(w io.Writer, s api.MayStop) error {
	state := "takes new work"
	if s.Draining {
		state = "drains by the " + s.By
	}
	fmt.Fprintf(w, "%s/%s  %s  %s\n%s\n", s.Pool, s.Name, s.URL, state, statusLine(s))
	return tellItems(w, s)
}

// tellUpstream tells of one upstream: how it does, as stateLine has it and why, and what is left there.
func tellUpstream(w io.Writer, u api.Upstream) error {
	if isWell(u) {
		return tellStatus(w, u.MayStop)
	}
	state, left := u.State, statusLine(u.MayStop)
	if u.Draining {
		state = "drains by the " + u.By + ", " + state
	} else {
		left = leftLine(u.MayStop)
	}
	if since := ago(u.Since); since != "" {
		state += " for " + since
	}
	if u.Reason != "" {
		state += ": " + plain(u.Reason)
	}
	fmt.Fprintf(w, "%s/%s  %s  %s\n%s\n", u.Pool, u.Name, u.URL, state, left)
	return tellItems(w, u.MayStop)
}

func tellItems(w io.Writer, s api.MayStop) error {
	if len(s.Items) == 0 {
		return nil
	}
	var rows [][]string
	for _, i := range s.Items {
		age := ""
		if !i.Made.IsZero() {
			age = time.Since(i.Made).Round(time.Second).String()
		}
		rows = append(rows, []string{i.Kind, i.ID, i.Tool, i.Status, age, i.Caller, i.Expires.Local().Format(time.DateTime)})
	}
	if s.More > 0 {
		rows = append(rows, []string{fmt.Sprintf("and %d more", s.More)})
	}
	return table(w, "KIND ID TOOL STATUS AGE CALLER FORGOTTEN", rows)
}

func tellAll(w io.Writer, all []api.Upstream) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "UPSTREAM\tSTATE\tTASKS\tSESSIONS\tSTREAMS\tREQUESTS\tHELD\tURL")
	for _, s := range all {
		fmt.Fprintf(table, "%s/%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\n", s.Pool, s.Name, stateLine(s),
			s.Left.Tasks, s.Left.Sessions+s.Movable, s.Left.Streams, s.Left.Requests, s.Left.Held, s.URL)
	}
	return table.Flush()
}

// stateLine says whether an upstream gets new work, and if not, why.
func stateLine(s api.Upstream) string {
	var state []string
	switch {
	case s.Drained:
		state = append(state, "drained")
	case s.Draining:
		state = append(state, "drains")
	}
	switch {
	case !isWell(s):
		state = append(state, s.State)
	case len(state) == 0:
		state = append(state, "takes new work")
	}
	line := strings.Join(state, ", ")
	if s.Disagree {
		line += " (berths disagree)"
	}
	return line
}

// isWell reports whether nothing keeps new work from an upstream but a drain. A berth before 0.9.0 does not say.
func isWell(u api.Upstream) bool { return u.State == "" || u.State == health.StateOK }

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

package verbs

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"berth/internal/api"
	"berth/internal/bulletin"

	"github.com/urfave/cli/v2"
)

func statusCommand() *cli.Command {
	return &cli.Command{
		Name: "status", Usage: "tell the whole at one glance: store, pools, tasks, troubles, berths", Flags: watchFlags(),
		Action: asks(at("/v1/status"), tellWhole),
	}
}

func tellWhole(w io.Writer, s api.Status) error {
	ready := "ready"
	if !s.Ready {
		ready = "not ready: " + strings.Join(s.NotReady, "; ")
	}
	fmt.Fprintf(w, "berth %s at %s  %s, up %s, %s\n", s.Berth.Version, plain(s.Berth.Host), s.Berth.State, ago(s.Berth.Started), plain(ready))
	fmt.Fprintf(w, "store %s  %s\n", strings.TrimSpace(s.Store.Kind+" "+plain(s.Store.Address)), storeLine(s.Store))
	if s.Partial != "" {
		fmt.Fprintln(w, "not all could be read:", plain(s.Partial))
	}
	for _, pool := range s.Pools {
		fmt.Fprintf(w, "\npool %s at %s  %s%s\n", plain(pool.Name), plain(pool.Path), pool.Picker, waitingLine(pool.Waiting))
		if err := tellSeen(w, pool.Upstreams); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, "tasks    ", tallyLine(s.Tasks))
	fmt.Fprintln(w, "troubles ", troublesLine(s.Troubles))
	fmt.Fprintln(w)
	return tellBerths(w, s.Berths)
}

func storeLine(s api.Store) string {
	switch {
	case s.NoWrites != "":
		return "answers, and takes no writes for " + ago(s.NoWritesSince) + ": " + plain(s.NoWrites)
	case s.Available:
		return "available"
	}
	return "away for " + ago(s.Since) + ": " + plain(s.Reason)
}

func waitingLine(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("  %d wait for room", n)
}

// tellSeen tells how upstreams do.
func tellSeen(w io.Writer, upstreams []api.Upstream) error {
	var rows [][]string
	for _, u := range upstreams {
		state := u.State
		if u.Disagree {
			state += " (berths disagree)"
		}
		if u.Draining {
			state += ", drains"
		}
		if u.Drained {
			state += ": may stop"
		}
		rows = append(rows, []string{u.Name, state, ago(u.Since), count(u.Left.Tasks), count(u.Left.Sessions + u.Movable), count(u.InFlight), u.Era, u.URL, u.Reason})
	}
	return table(w, "UPSTREAM STATE SINCE TASKS SESSIONS IN-FLIGHT-HERE ERA URL REASON", rows)
}

func tallyLine(t api.Tally) string {
	switch {
	case len(t.ByState) > 0:
	case t.AsOf.IsZero():
		return "not known"
	default:
		return "none"
	}
	var parts []string
	for _, state := range slices.Sorted(maps.Keys(t.ByState)) {
		part := fmt.Sprintf("%d %s", t.ByState[state], state)
		if oldest, ok := t.Oldest[state]; ok && !oldest.Made.IsZero() {
			part += " (oldest " + ago(oldest.Made) + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

func troublesLine(troubles []api.Trouble) string {
	var parts []string
	for _, t := range troubles {
		part := fmt.Sprintf("%d %s", t.Count, t.Kind)
		if t.Recent > 0 {
			part += fmt.Sprintf(" (%d in 5 min)", t.Recent)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

func berthsCommand() *cli.Command {
	return &cli.Command{
		Name: "berths", Usage: "tell of all berths on the store: state, version, lease, what they hold", Flags: watchFlags(),
		Action: asks(at("/v1/berths"), func(w io.Writer, b api.Berths) error {
			if b.Partial != "" {
				fmt.Fprintln(w, "not all could be read:", plain(b.Partial))
			}
			return tellBerths(w, b.Berths)
		}),
	}
}

func tellBerths(w io.Writer, berths []api.Berth) error {
	var rows [][]string
	for _, b := range berths {
		ready := "not ready"
		if b.Ready {
			ready = "ready"
		}
		rows = append(rows, []string{b.Name, b.Host, b.State, ready, b.Version, up(b), span2(b.Lease), count(b.Requests), count(b.Streams), count(b.Held), short(b.Config)})
	}
	return table(w, "BERTH HOST STATE READY VERSION UP LEASE REQUESTS STREAMS HELD CONFIG", rows)
}

// up is how long a berth has been there; "" of one that is not any more.
func up(b api.Berth) string {
	if b.State == bulletin.Gone || b.State == bulletin.Dead {
		return ""
	}
	return ago(b.Started)
}

func span2(s float64) string {
	if s <= 0 {
		return "over"
	}
	return fmt.Sprintf("%.0fs", s)
}

func short(digest string) string { return digest[:min(len(digest), 8)] }

package demo

import (
	"bytes"
	"fmt"
	"io"
)

// writeIntro says what is about to happen.
func writeIntro(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%d MCP servers with in-memory tasks, %d tool calls through each front,\n"+
		"%d at a time. A client gives a task up at its first lost poll.\n\n",
		len(upstreamNames), callsPerKind*len(kinds), concurrency)
	return err
}

// writeReport prints two trials side by side, no wider than 80 columns.
func writeReport(w io.Writer, berth, robin trial) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%-26s%24s    %24s\n", "", "through berth", "through a round robin")
	row := func(name string, cells ...any) {
		fmt.Fprintf(&b, "%-26s%8v%8v%8v    %8v%8v%8v\n", append([]any{name}, cells...)...)
	}
	row("upstream", "tasks", "polls", "lost", "tasks", "polls", "lost")
	for i, u := range berth.tallies {
		r := robin.tallies[i]
		row("  "+u.name, u.tasks, u.polls, u.lost, r.tasks, r.polls, r.lost)
	}
	berthPolls, berthLost := berth.polls()
	robinPolls, robinLost := robin.polls()
	row("as the clients saw it", berth.tasks(), berthPolls, berthLost, robin.tasks(), robinPolls, robinLost)
	b.WriteByte('\n')

	pair := func(name string, left, right any) { fmt.Fprintf(&b, "%-26s%24v    %24v\n", name, left, right) }
	pair("tool calls right", of(berth.rightInAll(), len(berth.outcomes)), of(robin.rightInAll(), len(robin.outcomes)))
	for _, k := range kinds {
		pair("  "+k.String(), of(berth.right(k)), of(robin.right(k)))
	}
	pair("sessions lost", berth.sessionsLost(), robin.sessionsLost())
	pair("polls lost", percent(berthLost, berthPolls), percent(robinLost, robinPolls))
	_, err := w.Write(b.Bytes())
	return err
}

func of(part, whole int) string { return fmt.Sprintf("%d of %d", part, whole) }

func percent(part, whole int) string {
	if whole == 0 {
		return "no polls"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
}

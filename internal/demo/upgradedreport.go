package demo

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
)

// writeRule says what the second part is about to do.
func writeRule(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "\nAn MCP server without tasks, whose tool takes %s, and berth in front\n"+
		"of it, without a rule and with this one:\n\n", seconds(napTime))
	for line := range strings.Lines(sleepRule) {
		fmt.Fprintf(&b, "    %s", line)
	}
	b.WriteByte('\n')
	_, err := w.Write(b.Bytes())
	return err
}

// writeUpgraded prints what became of the calls, no wider than 80 columns.
func writeUpgraded(w io.Writer, u upgraded) error {
	var b bytes.Buffer
	plain, ruled := u.plain.naps[0], u.ruled.naps[0]
	pair := func(name string, left, right any) { fmt.Fprintf(&b, "%-26s%24v    %24v\n", name, left, right) }
	pair("", "without a rule", "with the rule")
	pair("first answer", answered(plain), answered(ruled))
	pair("  after", seconds(plain.first), seconds(ruled.first))
	pair("polls", plain.Polls, ruled.Polls)
	pair("  progress they told", told(plain), told(ruled))
	pair("right result", of(u.plain.right(), 1), of(u.ruled.right(), 1))
	pair("  after", seconds(plain.whole), seconds(ruled.whole))
	pair("runs of the tool", u.plain.runs, u.ruled.runs)

	fmt.Fprintf(&b, "\n%d calls at once, of %s, with the rule. What their polls told:\n\n", len(u.queued.naps), seconds(queueTime))
	for _, n := range u.queued.naps {
		b.WriteString(row(n.steps()))
	}
	one := func(name string, value any) { fmt.Fprintf(&b, "%-26s%24v\n", name, value) }
	b.WriteByte('\n')
	one("right results", of(u.queued.right(), len(u.queued.naps)))
	one("runs of the tool", u.queued.runs)
	one("  at a time, at most", u.queued.atOnce)
	_, err := w.Write(b.Bytes())
	return err
}

// row is the steps of one call, in columns: below each other, those of a queue are stairs.
func row(steps []string) string {
	var b strings.Builder
	for _, step := range steps {
		fmt.Fprintf(&b, "  %-11s", step)
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}

func answered(n nap) string {
	switch {
	case n.handed:
		return "a task"
	case n.Err == nil:
		return "the result"
	}
	return "none"
}

func told(n nap) string {
	if texts := n.progress(); len(texts) > 0 {
		return strings.Join(texts, ", ")
	}
	return "-"
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

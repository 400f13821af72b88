package demo

import (
	"fmt"
	"strings"
	"time"
)

// intro says what the first part is about to do. Nothing here is wider than 80 columns.
func intro() string {
	return fmt.Sprintf("%d MCP servers with in-memory tasks, %d tool calls through each front,\n"+
		"%d at a time. A client gives a task up at its first lost poll.\n\n",
		len(upstreamNames), callsPerKind*len(kinds), concurrency)
}

// report has two trials side by side.
func report(berth, robin trial) string {
	return pair("", "through berth", "through a round robin") +
		pair("tool calls right", berth.right(), robin.right()) +
		pair("sessions lost", berth.failed(ErrSessionLost), robin.failed(ErrSessionLost)) +
		pair("polls lost", berth.pollsLost(), robin.pollsLost())
}

func (t trial) right() string { return fmt.Sprintf("%d of %d", len(t)-t.failed(nil), len(t)) }

func (t trial) pollsLost() string {
	sent, lost := t.polls()
	if sent == 0 {
		return "no polls"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(lost)/float64(sent))
}

// upgradedIntro says what the second part is about to do.
func upgradedIntro() string {
	return fmt.Sprintf("\nAn MCP server without tasks, whose tool takes %s, and berth in front\n"+
		"of it, without a rule and with this one:\n\n%s\n",
		seconds(napTime), indented(sleepRule))
}

// report is what became of the calls.
func (u upgraded) report() string {
	var b strings.Builder
	plain, ruled := u.plain.naps[0], u.ruled.naps[0]
	b.WriteString(pair("", "without a rule", "with the rule"))
	b.WriteString(pair("first answer", answered(plain), answered(ruled)))
	b.WriteString(pair("  after", seconds(plain.First), seconds(ruled.First)))
	fmt.Fprintf(&b, "\n%d calls at once, of %s, with the rule. What their polls told:\n\n", len(u.queued.naps), seconds(queueTime))
	for _, n := range u.queued.naps {
		b.WriteString(row(n.steps()))
	}
	return b.String()
}

func pair(name string, left, right any) string {
	return fmt.Sprintf("%-26s%24v    %24v\n", name, left, right)
}

// row is the steps of one call, in columns: below each other, those of a queue are stairs.
func row(steps []string) string {
	var b strings.Builder
	for _, step := range steps {
		fmt.Fprintf(&b, "  %-11s", step)
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}

func answered(o Outcome) string {
	switch {
	case o.Handed:
		return "a task"
	case o.Err == nil:
		return "the result"
	}
	return "none"
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

// bridgedIntro says what the third part is about to do.
func bridgedIntro() string {
	return "\nA server of 2025-11-25 by stdio, which berth runs, and a client of 2026-07-28:\n\n" +
		indented(tables("berth", ServerVerb)) + "\n"
}

// report is what the client saw.
func (b bridged) report() string {
	var text strings.Builder
	text.WriteString("greet asks in mid-call. What its client gets:\n\n")
	for _, r := range b.rounds {
		fmt.Fprintf(&text, "  %-16s%s\n", r.ResultType, r.text())
	}
	fmt.Fprintf(&text, "\nRuns of the tool: %d. A call of sleep, of %s, as a task:\n\n", b.runs, seconds(bridgedNap))
	text.WriteString(row(b.nap.steps()))
	return text.String()
}

// indented is a text with each line that is not empty moved in.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return b.String()
}

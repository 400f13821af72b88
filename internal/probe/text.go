package probe

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// WriteText writes the report for people: a table of the checks, what was not checked,
// and the verdict, with an empty line between them.
func (rep *Report) WriteText(w io.Writer) error {
	var parts [][]byte
	for _, write := range []func(*bytes.Buffer){rep.writeFacts, rep.writeChecks, rep.writeGaps, rep.writeVerdict, rep.writeAdvice} {
		var b bytes.Buffer
		if write(&b); b.Len() > 0 {
			parts = append(parts, b.Bytes())
		}
	}
	_, err := w.Write(bytes.Join(parts, []byte("\n")))
	return err
}

func (rep *Report) writeFacts(b *bytes.Buffer) {
	fmt.Fprintf(b, "%s\n", rep.URL)
	if len(rep.Revisions) > 0 {
		fmt.Fprintf(b, "speaks %s", strings.Join(rep.Revisions, " and "))
	} else {
		b.WriteString("speaks no revision of MCP that is known here")
	}
	if len(rep.Instances) > 1 {
		fmt.Fprintf(b, "; at least %d instances, by their names: %s", len(rep.Instances), strings.Join(rep.Instances, ", "))
	}
	if len(rep.Via) > 0 {
		fmt.Fprintf(b, "; via %s", strings.Join(rep.Via, ", "))
	}
	if rep.Tool != "" {
		fmt.Fprintf(b, "; tool %s", rep.Tool)
	}
	fmt.Fprintf(b, "\n%d requests in %.1f s, each on a connection of its own\n", rep.Requests, rep.Seconds)
}

func (rep *Report) writeChecks(b *bytes.Buffer) {
	if len(rep.Checks) == 0 {
		return
	}
	fmt.Fprintf(b, "%-10s  %-15s  %5s  %5s  %6s\n", "revision", "what", "asked", "lost", "failed")
	for _, c := range rep.Checks {
		fmt.Fprintf(b, "%-10s  %-15s  %5d  %5d  %6d%s\n", c.Revision, c.Name, c.Asked, c.Lost+c.Leaked, c.Failed, remark(c))
	}
}

// remark is what stands behind a check's numbers.
func remark(c Check) string {
	var s string
	if c.Expired > 0 {
		s = fmt.Sprintf("  (%d expired)", c.Expired)
	}
	if c.Example != "" {
		s += "  " + c.Example
	}
	return s
}

// writeGaps writes what was not checked, and what was left behind.
func (rep *Report) writeGaps(b *bytes.Buffer) {
	for _, s := range rep.Skipped {
		fmt.Fprintf(b, "not checked: %s%s: %s\n", prefix(s.Revision), s.Name, s.Why)
	}
	if !rep.Left.any() {
		return
	}
	fmt.Fprintf(b, "left behind: %d tasks (they end by their time to live), %d sessions", rep.Left.Tasks, rep.Left.Sessions)
	if rep.Left.Unknown > 0 {
		fmt.Fprintf(b, ", and what %d tool calls without an answer may have made", rep.Left.Unknown)
	}
	b.WriteByte('\n')
}

func (rep *Report) writeVerdict(b *bytes.Buffer) {
	switch {
	case rep.Verdict == Lost && rep.Reason != "":
		fmt.Fprintf(b, "lost (and it ended early: %s):\n", rep.Reason)
	case rep.Verdict == Lost:
		b.WriteString("lost:\n")
	case rep.Verdict == Clean:
		b.WriteString("nothing lost, as seen from this one address: a balancer that sorts clients by address would look the same\n")
	default:
		fmt.Fprintf(b, "no verdict: %s\n", rep.Reason)
	}
	for _, f := range rep.Findings {
		fmt.Fprintf(b, "  %s\n", f)
	}
}

func (rep *Report) writeAdvice(b *bytes.Buffer) {
	if rep.Command == "" {
		return
	}
	fmt.Fprintf(b, "what berth would need in front:\n  %s\n", rep.Command)
	for _, a := range rep.Advice {
		fmt.Fprintf(b, "  - %s\n", a)
	}
}

func prefix(revision string) string {
	if revision == "" {
		return ""
	}
	return revision + " "
}

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"berth/drain"

	"github.com/urfave/cli/v2"
)

func drainCommand() *cli.Command {
	return &cli.Command{
		Name:      "drain",
		Usage:     "give an upstream no new work, at every berth on the store, and tell when it may stop",
		ArgsUsage: "POOL/NAME",
		Flags: operatorFlags(
			&cli.BoolFlag{Name: "wait", Usage: "wait until nothing is lost if it stops"},
			&cli.DurationFlag{Name: "timeout", Value: 10 * time.Minute, Usage: "wait for so long at most"},
			&cli.BoolFlag{Name: "move-sessions", Usage: `have sessions move, where session_failover = "reinit"`},
		),
		Action: func(c *cli.Context) error {
			o, path, err := orderAbout(c)
			if err != nil {
				return err
			}
			var status drain.Status
			if err := o.call(c.Context, "POST", path+drainPath, drainOrder{MoveSessions: c.Bool("move-sessions")}, &status); err != nil {
				return err
			}
			if c.Bool("wait") {
				return o.awaitDrained(c.Context, path, c.Duration("timeout"))
			}
			return o.print(status, func(w io.Writer) error { return tellStatus(w, status) })
		},
	}
}

func undrainCommand() *cli.Command {
	return &cli.Command{
		Name:      "undrain",
		Usage:     "give an upstream new work again",
		ArgsUsage: "POOL/NAME",
		Flags:     operatorFlags(),
		Action: func(c *cli.Context) error {
			o, path, err := orderAbout(c)
			if err != nil {
				return err
			}
			var status drain.Status
			if err := o.call(c.Context, "POST", path+undrainPath, struct{}{}, &status); err != nil {
				return err
			}
			return o.print(status, func(w io.Writer) error { return tellStatus(w, status) })
		},
	}
}

func upstreamsCommand() *cli.Command {
	return &cli.Command{
		Name:      "upstreams",
		Usage:     "tell what each upstream owns; of one, what that is",
		ArgsUsage: "[POOL/NAME]",
		Flags:     operatorFlags(),
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				o, path, err := orderAbout(c)
				if err != nil {
					return err
				}
				var status drain.Status
				if err := o.call(c.Context, "GET", path, nil, &status); err != nil {
					return err
				}
				return o.print(status, func(w io.Writer) error { return tellStatus(w, status) })
			}
			o, err := newOperator(c)
			if err != nil {
				return err
			}
			var all upstreams
			if err := o.call(c.Context, "GET", upstreamsPath, nil, &all); err != nil {
				return err
			}
			return o.print(all, func(w io.Writer) error { return tellAll(w, all.Upstreams) })
		},
	}
}

// orderAbout reads the one argument that names an upstream, and returns the path of what is about it.
func orderAbout(c *cli.Context) (*operator, string, error) {
	pool, name, found := strings.Cut(c.Args().First(), "/")
	if c.NArg() != 1 || !found || pool == "" || name == "" {
		return nil, "", misused("%s: name one upstream, as POOL/NAME", c.Command.HelpName)
	}
	o, err := newOperator(c)
	return o, upstreamsPath + "/" + url.PathEscape(pool) + "/" + url.PathEscape(name), err
}

// askEvery is how often who waits asks.
const askEvery = 500 * time.Millisecond

// awaitDrained asks until nothing is left, or the time is over, and tells each change.
func (o *operator) awaitDrained(ctx context.Context, path string, limit time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	var status drain.Status
	told := ""
	for {
		var next drain.Status
		err := o.call(waiting, "GET", path, nil, &next)
		switch {
		case waiting.Err() != nil:
			return o.leftOver(status)
		case err != nil && !isPassing(err):
			return err
		case err == nil:
			status = next
			if line := statusLine(status); line != told && !o.json {
				told = line
				fmt.Fprintln(o.out, time.Now().Format(time.TimeOnly), line)
			}
		}
		switch {
		case err == nil && status.Drained:
			return o.print(status, func(io.Writer) error { return nil })
		case err == nil && !status.Draining:
			return cli.Exit(fmt.Errorf("%s/%s drains no more: somebody has undrained it", status.Pool, status.Name), codeFailed)
		}
		select {
		case <-waiting.Done():
		case <-tick.C:
		}
	}
}

// isPassing reports whether asking again may help: berth, or its store, is away for a moment.
func isPassing(err error) bool {
	coded, ok := errors.AsType[cli.ExitCoder](err)
	return ok && (coded.ExitCode() == codeUnreachable || strings.Contains(err.Error(), "unavailable"))
}

// leftOver tells what is left at the deadline.
func (o *operator) leftOver(status drain.Status) error {
	if err := o.print(status, func(w io.Writer) error { return tellStatus(w, status) }); err != nil {
		return err
	}
	return cli.Exit(fmt.Errorf("%s/%s: the time to wait is over: %s", status.Pool, status.Name, statusLine(status)), codeDeadline)
}

// statusLine says in one line what is left.
func statusLine(s drain.Status) string {
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

func leftLine(s drain.Status) string {
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

func tellStatus(w io.Writer, s drain.Status) error {
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

func tellAll(w io.Writer, all []drain.Status) error {
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

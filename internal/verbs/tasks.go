package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"berth/internal/admin"
	"berth/internal/api"

	"github.com/urfave/cli/v2"
)

const tasksPath = "/v1/tasks"

var taskFilters = []string{"pool", "upstream", "holder", "caller", "tool", "state", "kind", "older", "id"}

func tasksCommand() *cli.Command {
	filters := func() []cli.Flag {
		return watchFlags(
			stringFlag("pool", "of this `POOL`"), stringFlag("upstream", "at this upstream"), stringFlag("holder", "kept by the berth of this `NAME`"),
			stringFlag("caller", "of the caller with this `DIGEST`"), stringFlag("tool", "made by tools that this `GLOB` names"),
			stringFlag("state", "in one of these `STATES`, by commas"), stringFlag("kind", "`KIND`: server or upgraded"),
			stringFlag("older", "made before this `TIME`, such as 5m"), stringFlag("id", "with this id"), limitFlag(100),
			stringFlag("cursor", "go on after the page that gave this `CURSOR`"),
		)
	}
	ls := asks(filtered(tasksPath, append(taskFilters, "cursor")...), tellTasks)
	about := func(more ...cli.Flag) []cli.Flag {
		return operatorFlags(append(more, stringFlag("pool", "of this `POOL`, where an id is known in several"))...)
	}
	return &cli.Command{
		Name: "tasks", Usage: "list tasks, the oldest first; show, cancel, rerun or watch one", ArgsUsage: "[ls|show|cancel|rerun|watch] [ID]",
		Flags: filters(), Before: onlySubcommands, Action: ls,
		Subcommands: []*cli.Command{
			{Name: "ls", Usage: "list them", Flags: filters(), Action: ls},
			{Name: "show", Usage: "tell one's life", ArgsUsage: "ID", Flags: about(), Action: aboutTask("GET", ""), BashComplete: completeTasks},
			{Name: "cancel", Usage: "give one up, in its caller's name", ArgsUsage: "ID", Flags: about(), Action: aboutTask("POST", "/cancel"), BashComplete: completeTasks},
			{Name: "rerun", Usage: `send the call of one that failed again, where its rule says on_orphan = "rerun"`, ArgsUsage: "ID", Flags: about(), Action: aboutTask("POST", "/rerun"), BashComplete: completeTasks},
			{Name: "watch", Usage: "tell each change of one until it ends: exit code 0 if it completed, 1 otherwise", ArgsUsage: "ID", BashComplete: completeTasks,
				Flags: about(&cli.DurationFlag{Name: "timeout", Value: 10 * time.Minute, Usage: "for so long at most"}), Action: watchTask},
		},
	}
}

// onlySubcommands refuses an argument that is none of the verb's.
func onlySubcommands(c *cli.Context) error {
	name := c.Args().First()
	if name == "" || slices.ContainsFunc(c.Command.Subcommands, func(s *cli.Command) bool { return s.HasName(name) }) {
		return nil
	}
	return Misused("%s: no %q; see %s --help", c.Command.HelpName, name, c.Command.HelpName)
}

func tellTasks(w io.Writer, t api.Tasks) error {
	var rows [][]string
	for _, one := range t.Tasks {
		where := one.Upstream
		if one.Place > 0 {
			where = fmt.Sprintf("queued, %d", one.Place)
		}
		rows = append(rows, []string{one.ID, one.Pool, one.Tool, one.State, where, one.Holder, one.Caller, ago(one.Made), until(one.Expires), one.Message})
	}
	if err := table(w, "ID POOL TOOL STATE UPSTREAM HOLDER CALLER AGE EXPIRES-IN MESSAGE", rows); err != nil {
		return err
	}
	return tellPage(w, t.Page, len(rows))
}

// tellPage says what is not on the page.
func tellPage(w io.Writer, p api.Page, shown int) error {
	if p.Next != "" {
		of := "more"
		if p.Total > 0 {
			of = fmt.Sprintf("%d in all", p.Total)
		}
		fmt.Fprintf(w, "%d shown, %s: --cursor %s\n", shown, of, p.Next)
	}
	if p.Partial != "" {
		fmt.Fprintln(w, "not all could be read:", plain(p.Partial))
	}
	return nil
}

func taskPath(c *cli.Context, order string) (string, error) {
	id, err := oneArgument(c, "task, by its id")
	return tasksPath + "/" + url.PathEscape(api.PathOfTask(id)) + order, err
}

func aboutTask(method, order string) cli.ActionFunc {
	return func(c *cli.Context) error {
		path, err := taskPath(c, order)
		if err != nil {
			return err
		}
		o, err := newOperator(c)
		if err != nil {
			return err
		}
		var in any
		if pool := c.String("pool"); method == "POST" {
			in = map[string]string{"pool": pool}
		} else if pool != "" {
			path += "?pool=" + url.QueryEscape(pool)
		}
		var told api.TaskDetail
		if err := o.call(c.Context, method, path, in, &told); err != nil {
			return err
		}
		return o.print(told, func(w io.Writer) error { return tellTask(w, &told) })
	}
}

func tellTask(w io.Writer, t *api.TaskDetail) error {
	fmt.Fprintf(w, "%s  %s\n", plain(t.ID), taskLine(t))
	for _, line := range [][2]string{
		{"pool", t.Pool}, {"tool", t.Tool}, {"upstream", t.Upstream}, {"holder", t.Holder}, {"caller", t.Caller}, {"session", t.Session},
		{"dialect", t.Dialect}, {"queue", t.Queue}, {"follows", t.Follows}, {"message", t.Message},
		{"expires in", until(t.Expires)}, {"polls here", pollsLine(t)}, {"may", strings.Join(t.May, ", ")}, {"may not", t.MayNot},
	} {
		if line[1] != "" {
			fmt.Fprintf(w, "  %-11s %s\n", line[0], plain(line[1]))
		}
	}
	var rows [][]string
	for _, m := range t.Timeline {
		at, before := "-", "-" // of a server's own task nobody knows when it ended
		if !m.At.IsZero() {
			at, before = m.At.Local().Format("15:04:05.000"), ago(m.At)+" ago"
		}
		rows = append(rows, []string{at, before, m.What, m.Upstream, m.Holder, m.Detail})
	}
	if len(rows) == 0 {
		return nil
	}
	return table(w, "AT AGO WHAT UPSTREAM HOLDER DETAIL", rows)
}

func pollsLine(t *api.TaskDetail) string {
	if t.Polls == 0 {
		return ""
	}
	return fmt.Sprintf("%d, the last %s ago", t.Polls, ago(t.Polled.At))
}

func taskLine(t *api.TaskDetail) string {
	line := t.State
	if t.Place > 0 {
		line += fmt.Sprintf(", place %d", t.Place)
	}
	if !t.Made.IsZero() {
		line += ", made " + ago(t.Made) + " ago"
	}
	return line
}

// watchTask tells of a task until it has ended.
func watchTask(c *cli.Context) error {
	path, err := taskPath(c, "")
	if err != nil {
		return err
	}
	o, err := newOperator(c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Context, c.Duration("timeout"))
	defer cancel()
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	told, answered := "", false
	for {
		var t api.TaskDetail
		err := o.call(ctx, "GET", path, nil, &t)
		switch {
		case ctx.Err() != nil && c.Context.Err() == nil:
			return cli.Exit(errors.New("the time to wait is over"), codeDeadline)
		case ctx.Err() != nil:
			return cli.Exit(errors.New("the wait was interrupted"), codeFailed)
		case err != nil && endsWatch(err, answered):
			return err
		case err == nil && t.State+t.Upstream+t.Message != told:
			told = t.State + t.Upstream + t.Message
			if err := o.print(t, func(w io.Writer) error { return tellChange(w, &t) }); err != nil {
				return err
			}
		}
		o.waits(err)
		answered = answered || !errors.Is(err, admin.ErrNoBerth)
		switch {
		case err == nil && t.State == "completed":
			return nil
		case err == nil && (t.State == "failed" || t.State == "cancelled"):
			return cli.Exit("", codeFailed)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

func tellChange(w io.Writer, t *api.TaskDetail) error {
	_, err := fmt.Fprintln(w, strings.TrimRight(plain(strings.Join([]string{time.Now().Format(time.TimeOnly), taskLine(t), t.Upstream, t.Message}, "  ")), " "))
	return err
}

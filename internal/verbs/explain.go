package verbs

import (
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"berth/internal/api"

	"github.com/urfave/cli/v2"
)

const explainPath = "/v1/explain"

func explainCommand() *cli.Command {
	return &cli.Command{
		Name: "explain", Usage: "tell where a request about a task or session would go, and why; with -, a request on standard input",
		ArgsUsage: "ID|-", BashComplete: completeTasks,
		Flags: operatorFlags(
			stringFlag("pool", "in this `POOL`"), stringFlag("caller", "of this `PRINCIPAL`, in clear; for an id its owner's, unless said"),
			stringFlag("from", "with -: from this `ADDRESS`, for limits of callers"),
		),
		Action: func(c *cli.Context) error {
			what, err := oneArgument(c, "task or session, by its id, or - for a request on standard input")
			if err != nil {
				return err
			}
			o, err := newOperator(c)
			if err != nil {
				return err
			}
			var told api.Explanation
			if what == "-" {
				question, err := readQuestion(c)
				if err != nil {
					return err
				}
				err = o.call(c.Context, "POST", explainPath, question, &told)
				if err != nil {
					return err
				}
			} else if err := o.call(c.Context, "GET", explainPath+"?"+aboutID(c, what).Encode(), nil, &told); err != nil {
				return err
			}
			return o.print(told, func(w io.Writer) error { return tellExplanation(w, &told) })
		},
	}
}

func aboutID(c *cli.Context, id string) url.Values {
	query := url.Values{"id": {id}}
	for _, name := range []string{"pool", "caller"} {
		if c.IsSet(name) {
			query.Set(name, c.String(name))
		}
	}
	return query
}

func readQuestion(c *cli.Context) (*api.Question, error) {
	text, err := io.ReadAll(io.LimitReader(c.App.Reader, maxQuestion))
	if err != nil {
		return nil, cli.Exit(fmt.Errorf("%s: %w", c.Command.HelpName, err), codeFailed)
	}
	question, err := parseQuestion(string(text))
	if err != nil {
		return nil, Misused("%s: %w", c.Command.HelpName, err)
	}
	question.Pool, question.Caller, question.From = c.String("pool"), c.String("caller"), c.String("from")
	return question, nil
}

func tellExplanation(w io.Writer, e *api.Explanation) error {
	answer := e.Answer.Action
	switch {
	case e.Answer.Action == "ask":
		answer = "ask the fleet"
	case e.Answer.Status != 0:
		answer += fmt.Sprintf(" with %d %s", e.Answer.Status, e.Answer.Code)
	}
	for _, line := range [][2]string{
		{"answer", strings.TrimSpace(answer)}, {"", e.Answer.Detail}, {"why", e.Why}, {"pool", e.Pool}, {"about", e.Kind}, {"owner", e.Owner},
		{"rule", e.Rule}, {"plan", e.Plan}, {"key", e.Key},
	} {
		if line[1] != "" {
			fmt.Fprintf(w, "%-7s %s\n", line[0], plain(line[1]))
		}
	}
	var rows [][]string
	for _, s := range e.Steps {
		rows = append(rows, []string{s.What, s.Result, s.Detail})
	}
	fmt.Fprintln(w)
	if err := table(w, "STEP RESULT DETAIL", rows); err != nil || len(e.Candidates) == 0 {
		return err
	}
	rows = nil
	for _, c := range e.Candidates {
		rank, room := count(c.Rank), "room"
		if c.Rank < 0 {
			rank = "never"
		}
		if !c.Room {
			room = "full"
		}
		rows = append(rows, []string{c.Upstream, c.State, rank, count(c.Load), count(c.Weight), room, c.Why})
	}
	fmt.Fprintln(w)
	return table(w, "CANDIDATE STATE RANK LOAD WEIGHT ROOM WHY", rows)
}

func decisionsCommand() *cli.Command {
	return &cli.Command{
		Name: "decisions", Usage: "tell where the last requests at a berth went, the newest first",
		Flags: watchFlags(stringFlag("id", "about this task, or in this session"), stringFlag("pool", "of this `POOL`"),
			stringFlag("outcome", "with this `OUTCOME`: ok, refused, failed, …"), limitFlag(20)),
		Action: asks(func(c *cli.Context) (string, error) {
			if err := checkLimit(c); err != nil {
				return "", err
			}
			query := url.Values{"limit": {count(c.Int("limit"))}}
			for _, name := range []string{"id", "pool", "outcome"} {
				if c.IsSet(name) {
					query.Set(name, c.String(name))
				}
			}
			return "/v1/decisions?" + query.Encode(), nil
		}, func(w io.Writer, d api.Decisions) error {
			var rows [][]string
			for _, one := range d.Decisions {
				rows = append(rows, []string{ago(one.At), one.Pool, one.Method, one.Name, one.ID, one.Source, one.Upstream, one.Outcome, count(one.Status), count(one.Attempts), seconds(one.Took), one.Caller, one.Session})
			}
			return table(w, "AGO POOL METHOD NAME TASK SOURCE UPSTREAM OUTCOME STATUS SENT TOOK CALLER SESSION", rows)
		}),
	}
}

// troubleKinds are those of package trouble.
var troubleKinds = []string{"orphans", "holder_lost", "unknown_ids", "refusals", "store_outages"}

func troublesCommand() *cli.Command {
	return &cli.Command{
		Name: "troubles", Usage: "tell the last occurrences of a trouble at a berth: orphans, holder_lost, unknown_ids, refusals, store_outages",
		ArgsUsage: "KIND", Flags: watchFlags(),
		BashComplete: func(c *cli.Context) { complete(c, troubleKinds...) },
		Action: asks(func(c *cli.Context) (string, error) {
			kind, err := oneArgument(c, "kind of trouble: "+strings.Join(troubleKinds, ", "))
			if err == nil && !slices.Contains(troubleKinds, kind) {
				err = Misused("%s: no kind of trouble is called %q; there are %s", c.Command.HelpName, kind, strings.Join(troubleKinds, ", "))
			}
			return "/v1/troubles/" + url.PathEscape(kind), err
		}, func(w io.Writer, e api.Events) error {
			var rows [][]string
			for _, one := range e.Events {
				rows = append(rows, []string{ago(one.At), one.Pool, one.What, one.ID, one.Caller, one.Detail})
			}
			return table(w, "AGO POOL WHAT TASK CALLER DETAIL", rows)
		}),
	}
}

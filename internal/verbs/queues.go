package verbs

import (
	"io"
	"net/url"

	"berth/internal/api"

	"github.com/urfave/cli/v2"
)

const queuesPath = "/v1/queues"

func queuesCommand() *cli.Command {
	ls := asks(at(queuesPath), func(w io.Writer, q api.Queues) error { return tellQueues(w, q.Queues) })
	return &cli.Command{
		Name: "queues", Usage: "list the lines of rules with concurrency; pause or resume one, at every berth", ArgsUsage: "[ls|pause|resume] [ID]",
		Flags: watchFlags(), Before: onlySubcommands, Action: ls,
		Subcommands: []*cli.Command{
			{Name: "ls", Usage: "list them", Flags: watchFlags(), Action: ls},
			{Name: "pause", Usage: "send nothing new: what runs goes on, new calls join the line", ArgsUsage: "ID", Flags: operatorFlags(), Action: orderQueue("/pause"), BashComplete: completeQueues},
			{Name: "resume", Usage: "go on", ArgsUsage: "ID", Flags: operatorFlags(), Action: orderQueue("/resume"), BashComplete: completeQueues},
		},
	}
}

func tellQueues(w io.Writer, queues []api.Queue) error {
	var rows [][]string
	for _, q := range queues {
		places := "as before" // by the rule that its calls were made by
		if q.Places > 0 {
			places = count(q.Places) + " each"
		}
		paused := ""
		if q.Paused {
			paused = "for " + ago(q.Since)
			if q.PausedBy != "" {
				paused += " by " + q.PausedBy
			}
		}
		rows = append(rows, []string{q.ID, q.Pool, q.Rule, count(q.Waiting), ago(q.Oldest), count(q.Running), places, paused})
	}
	return table(w, "ID POOL RULE WAITING OLDEST RUNNING PLACES PAUSED", rows)
}

func orderQueue(order string) cli.ActionFunc {
	return func(c *cli.Context) error {
		id, err := oneArgument(c, "queue, by its id")
		if err != nil {
			return err
		}
		o, err := newOperator(c)
		if err != nil {
			return err
		}
		var told api.Queue
		if err := o.call(c.Context, "POST", queuesPath+"/"+url.PathEscape(id)+order, struct{}{}, &told); err != nil {
			return err
		}
		return o.print(told, func(w io.Writer) error { return tellQueues(w, []api.Queue{told}) })
	}
}

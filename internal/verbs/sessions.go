package verbs

import (
	"fmt"
	"io"
	"strings"

	"berth/internal/api"

	"github.com/urfave/cli/v2"
)

func sessionsCommand() *cli.Command {
	return &cli.Command{
		Name: "sessions", Usage: "list sessions of clients: where they are, until when, whether they can move",
		Flags: watchFlags(stringFlag("pool", "of this `POOL`"), stringFlag("upstream", "at this upstream"), stringFlag("caller", "of the caller with this `DIGEST`"),
			limitFlag(100), stringFlag("cursor", "go on after the page that gave this `CURSOR`")),
		Action: asks(filtered("/v1/sessions", "pool", "upstream", "caller", "cursor"), tellSessions),
	}
}

func tellSessions(w io.Writer, s api.Sessions) error {
	var rows [][]string
	for _, one := range s.Sessions {
		rows = append(rows, []string{one.ID, one.Pool, one.Upstream, one.Version, one.Caller, ago(one.Made), until(one.Expires), yes(one.Movable), one.Moved})
	}
	if err := table(w, "SESSION POOL UPSTREAM VERSION CALLER AGE EXPIRES-IN MOVABLE MOVED-FROM", rows); err != nil {
		return err
	}
	return tellPage(w, s.Page, len(rows))
}

func subscriptionsCommand() *cli.Command {
	return &cli.Command{
		Name: "subscriptions", Usage: "list streams of clients at the berth that answers", Flags: watchFlags(limitFlag(100)),
		Action: asks(filtered("/v1/subscriptions"), func(w io.Writer, s api.Subscriptions) error {
			var rows [][]string
			for _, one := range s.Subscriptions {
				rows = append(rows, []string{one.Pool, one.Kind, one.Caller, ago(one.Since), count(one.Tasks), fmt.Sprint(one.Events), strings.Join(one.Legs, ",")})
			}
			if err := table(w, "POOL KIND CALLER AGE TASKS EVENTS UPSTREAMS", rows); err != nil {
				return err
			}
			return tellPage(w, s.Page, len(rows))
		}),
	}
}

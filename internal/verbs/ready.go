package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"berth/internal/admin"

	"github.com/urfave/cli/v2"
)

// readyTimeout is shorter than what health checks of containers wait by default.
const readyTimeout = 3 * time.Second

var errNotReady = errors.New("not ready")

func readyCommand() *cli.Command {
	return &cli.Command{
		Name:  "ready",
		Usage: "tell whether a berth is ready, for health checks where there is no other client: exit code 0, 1 if it is not, 4 if nobody answers",
		Flags: operatorFlags(&cli.DurationFlag{Name: "timeout", Value: readyTimeout, Usage: "wait for the answer for so long at most"}),
		Action: func(c *cli.Context) error {
			o, err := newOperator(c)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeoutCause(c.Context, c.Duration("timeout"), fmt.Errorf("%w at %s within %s", admin.ErrNoBerth, c.String("admin"), c.Duration("timeout")))
			defer cancel()
			readiness, err := o.client.Ready(ctx)
			if err != nil {
				return coded(err)
			}
			if err := o.print(readiness, func(w io.Writer) error { return tellReadiness(w, readiness) }); err != nil {
				return err
			}
			if !readiness.Ready {
				return cli.Exit(errNotReady, codeFailed)
			}
			return nil
		},
	}
}

// tellReadiness tells of one that is ready only what is degraded.
func tellReadiness(w io.Writer, r admin.Readiness) error {
	for _, check := range r.Checks {
		if !strings.HasPrefix(check, "[+]") || strings.Contains(check, " degraded:") {
			fmt.Fprintln(w, check)
		}
	}
	if r.Ready {
		fmt.Fprintln(w, "ready")
	}
	return nil
}

package verbs

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"berth/internal/api"

	"github.com/urfave/cli/v2"
)

func drainCommand() *cli.Command {
	return &cli.Command{
		Name:      "drain",
		Usage:     "give an upstream no new work, at every berth on the store, and tell when it may stop",
		ArgsUsage: "POOL/NAME", BashComplete: completeUpstreams,
		Flags: operatorFlags(
			&cli.BoolFlag{Name: "wait", Usage: "wait until nothing is lost if it stops"},
			&cli.DurationFlag{Name: "timeout", Value: 10 * time.Minute, Usage: "with --wait: for so long at most"},
			&cli.BoolFlag{Name: "move-sessions", Usage: `have sessions move, where session_failover = "reinit"`},
		),
		Action: func(c *cli.Context) error {
			o, path, err := orderAbout(c)
			if err != nil {
				return err
			}
			if c.IsSet("timeout") && !c.Bool("wait") {
				return Misused("%s: --timeout is for --wait", c.Command.HelpName)
			}
			order := api.DrainOrder{MoveSessions: c.Bool("move-sessions")}
			if c.Bool("wait") {
				return o.drainAndWait(c.Context, path, order, c.Duration("timeout"))
			}
			return o.mark(c.Context, path+"/drain", order)
		},
	}
}

func undrainCommand() *cli.Command {
	return &cli.Command{
		Name:      "undrain",
		Usage:     "give an upstream new work again",
		ArgsUsage: "POOL/NAME", BashComplete: completeUpstreams,
		Flags: operatorFlags(),
		Action: func(c *cli.Context) error {
			o, path, err := orderAbout(c)
			if err != nil {
				return err
			}
			return o.mark(c.Context, path+"/undrain", struct{}{})
		},
	}
}

func upstreamsCommand() *cli.Command {
	return &cli.Command{
		Name:      "upstreams",
		Usage:     "tell what each upstream owns; of one, what that is",
		ArgsUsage: "[POOL/NAME]", BashComplete: completeUpstreams,
		Flags: operatorFlags(),
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				o, path, err := orderAbout(c)
				if err != nil {
					return err
				}
				var told api.Upstream
				if err := o.call(c.Context, "GET", path, nil, &told); err != nil {
					return err
				}
				if told.Partial != "" {
					fmt.Fprintln(c.App.ErrWriter, plain(told.Partial))
				}
				return o.print(told, func(w io.Writer) error { return tellUpstream(w, told) })
			}
			o, err := newOperator(c)
			if err != nil {
				return err
			}
			var all api.Upstreams
			if err := o.call(c.Context, "GET", api.UpstreamsPath, nil, &all); err != nil {
				return err
			}
			if all.Partial != "" {
				fmt.Fprintln(c.App.ErrWriter, plain(all.Partial))
			}
			return o.print(all, func(w io.Writer) error { return tellAll(w, all.Upstreams) })
		},
	}
}

// mark gives an order about a mark, and prints what stands after it.
func (o *operator) mark(ctx context.Context, path string, order any) error {
	var status api.MayStop
	if err := o.call(ctx, "POST", path, order, &status); err != nil {
		return err
	}
	return o.print(status, func(w io.Writer) error { return tellStatus(w, status) })
}

// orderAbout reads the one argument that names an upstream, and returns the path of what is about it.
func orderAbout(c *cli.Context) (*operator, string, error) {
	pool, name, found := strings.Cut(c.Args().First(), "/")
	if c.NArg() != 1 || !found || pool == "" || name == "" {
		return nil, "", Misused("%s: name one upstream, as POOL/NAME", c.Command.HelpName)
	}
	o, err := newOperator(c)
	if err == nil && strings.Contains(name, "/") {
		pool, name, err = o.tellApart(c.Context, pool, name)
	}
	return o, api.UpstreamsPath + "/" + url.PathEscape(pool) + "/" + url.PathEscape(name), err
}

// tellApart parts POOL/NAME where there are several slashes: either may have one, and berth knows which upstream there is. The first one
// parts what there is none of.
func (o *operator) tellApart(ctx context.Context, pool, name string) (string, string, error) {
	var all api.Upstreams
	if err := o.call(ctx, "GET", api.UpstreamsPath, nil, &all); err != nil {
		return pool, name, err
	}
	is := func(u api.Upstream) bool { return u.Pool == pool && u.Name == name }
	sounds := func(u api.Upstream) bool { return u.Pool+"/"+u.Name == pool+"/"+name }
	if at := slices.IndexFunc(all.Upstreams, sounds); at >= 0 && !slices.ContainsFunc(all.Upstreams, is) {
		return all.Upstreams[at].Pool, all.Upstreams[at].Name, nil
	}
	return pool, name, nil
}

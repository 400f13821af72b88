package verbs

import (
	"context"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"
)

// asks is a verb's action that asks for one thing and tells it: once, or each time that it was asked for with --watch.
func asks[T any](path func(c *cli.Context) (string, error), tell func(w io.Writer, told T) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		p, err := path(c)
		if err != nil {
			return err
		}
		o, err := newOperator(c)
		if err != nil {
			return err
		}
		return o.repeat(c, func(ctx context.Context) error {
			var told T
			if err := o.call(ctx, "GET", p, nil, &told); err != nil {
				return err
			}
			return o.print(told, func(w io.Writer) error { return tell(w, told) })
		})
	}
}

// at is a path that no argument changes.
func at(path string) func(*cli.Context) (string, error) {
	return func(*cli.Context) (string, error) { return path, nil }
}

// filtered is a path with the verb's flags of these names as its query.
func filtered(path string, names ...string) func(*cli.Context) (string, error) {
	return func(c *cli.Context) (string, error) {
		query := url.Values{}
		for _, name := range names {
			if c.IsSet(name) {
				query.Set(name, c.String(name))
			}
		}
		if err := checkLimit(c); err != nil {
			return "", err
		}
		if c.IsSet("limit") {
			query.Set("limit", strconv.Itoa(c.Int("limit")))
		}
		if len(query) == 0 {
			return path, nil
		}
		return path + "?" + query.Encode(), nil
	}
}

// watchFlags are those of a verb that can tell again and again.
func watchFlags(more ...cli.Flag) []cli.Flag {
	return operatorFlags(append(more,
		&cli.DurationFlag{Name: "watch", Usage: "tell it again each `TIME`, until interrupted or for --for"},
		&cli.DurationFlag{Name: "for", Value: time.Hour, Usage: "with --watch: for so long at most"},
	)...)
}

// repeat does what a verb does once, or again and again. A berth that has answered, and does not for a while, is waited for, and told of
// as such.
func (o *operator) repeat(c *cli.Context, once func(ctx context.Context) error) error {
	if !c.IsSet("watch") {
		return once(c.Context)
	}
	ctx, cancel := context.WithTimeout(c.Context, c.Duration("for"))
	defer cancel()
	tick := time.NewTicker(max(c.Duration("watch"), 100*time.Millisecond))
	defer tick.Stop()
	answered := false
	for {
		err := once(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
		case err != nil && endsWatch(err, answered):
			return err
		default:
			o.waits(err)
		}
		answered = answered || err == nil
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func stringFlag(name, usage string) cli.Flag { return &cli.StringFlag{Name: name, Usage: usage} }

func limitFlag(value int) cli.Flag {
	return &cli.IntFlag{Name: "limit", Value: value, Usage: "tell so many at most"}
}

func checkLimit(c *cli.Context) error {
	if n := c.Int("limit"); c.IsSet("limit") && n < 1 {
		return Misused("%s: --limit %d tells of nothing: it must be 1 at least", c.Command.HelpName, n)
	}
	return nil
}

// oneArgument is the verb's only argument.
func oneArgument(c *cli.Context, what string) (string, error) {
	if c.NArg() != 1 || c.Args().First() == "" {
		return "", Misused("%s: name one %s", c.Command.HelpName, what)
	}
	return c.Args().First(), nil
}

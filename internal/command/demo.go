package command

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"berth/internal/config"
	"berth/internal/demo"
	"berth/internal/storage"

	"github.com/urfave/cli/v2"
)

func demoCommand() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "a fleet of three servers, berth in front of it, and what a round robin loses",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "once", Usage: "end after the report; exit code 0 if berth lost nothing"}},
		Action: func(c *cli.Context) error {
			return demo.Run(c.Context, c.App.Writer, demo.Options{Once: c.Bool("once"), Front: demoFront})
		},
	}
}

// demoFront is berth as the flags of the simple case would make it.
func demoFront(upstreams map[string]string) (http.Handler, func(), error) {
	cfg := config.Default()
	pool := config.DefaultPool()
	for name, url := range upstreams {
		pool.Upstreams = append(pool.Upstreams, config.Upstream{Name: name, URL: url})
	}
	slices.SortFunc(pool.Upstreams, func(a, b config.Upstream) int { return strings.Compare(a.Name, b.Name) })
	cfg.Pools = []config.Pool{pool}
	store, err := storage.Open("memory:", storage.Options{})
	if err != nil {
		return nil, nil, err
	}
	g, err := newGraph(store, cfg, observers{})
	if err != nil {
		return nil, nil, err
	}
	g.open(cfg, true, observers{})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = g.Run(ctx) // nothing in it fails but for ctx
	}()
	return g.proxy, func() {
		stop()
		<-done
		_ = g.Close()
	}, nil
}

package command

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"

	"berth/internal/config"
	"berth/internal/demo"
	"berth/internal/storage"

	"github.com/urfave/cli/v2"
)

func demoCommand() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "a fleet of three servers, berth in front of it, and what a round robin loses; a plain tool as a task",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "once", Usage: "end after the reports; exit code 0 if berth lost nothing and kept its rule"}},
		Action: func(c *cli.Context) error {
			return demo.Run(c.Context, c.App.Writer, demo.Options{Once: c.Bool("once"), Front: demoFront})
		},
	}
}

func demoFront(upstreams map[string]string, rules string) (http.Handler, func(), error) {
	cfg, err := config.Parse("demo", []byte(rules), demoFleet(upstreams))
	if err != nil {
		return nil, nil, err
	}
	store, err := storage.Open("memory:", storage.Options{})
	if err != nil {
		return nil, nil, err
	}
	g, err := newGraph(store, cfg, observers{})
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	ctx, stop := context.WithCancel(context.Background())
	if err := g.adopt(ctx); err != nil {
		stop()
		return nil, nil, errors.Join(err, g.Close())
	}
	g.open(cfg, true, observers{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = g.Run(ctx) // nothing in it fails but for ctx
	}()
	return g.proxy, func() {
		stop()
		g.drainTasks(ctx) // whoever waited for them is gone
		<-done
		_ = g.Close()
	}, nil
}

func demoFleet(upstreams map[string]string) func(*config.Config) {
	pool := config.DefaultPool()
	for _, name := range slices.Sorted(maps.Keys(upstreams)) {
		pool.Upstreams = append(pool.Upstreams, config.Upstream{Name: name, URL: upstreams[name]})
	}
	return func(cfg *config.Config) { cfg.Pools = []config.Pool{pool} }
}

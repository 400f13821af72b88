package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"

	"berth/internal/config"
	"berth/internal/demo"
	"berth/internal/mcptest"
	"berth/internal/site"
	"berth/internal/storage"

	"github.com/urfave/cli/v2"
)

func demoCommand() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "a fleet of three servers, berth in front of it, and what a round robin loses; a plain tool as a task; a legacy server by stdio",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "once", Usage: "end after the reports; exit code 0 if berth lost nothing and kept its rule"}},
		Action: func(c *cli.Context) error {
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("demo: %w", err)
			}
			return demo.Run(c.Context, c.App.Writer, demo.Options{
				Once: c.Bool("once"), Front: demoFront, Server: []string{self, demo.ServerVerb},
			})
		},
	}
}

// demoServerCommand is the server that the demonstration has berth run.
func demoServerCommand() *cli.Command {
	return &cli.Command{
		Name:   demo.ServerVerb,
		Hidden: true,
		Action: func(c *cli.Context) error {
			return (&mcptest.StdioServer{Name: "plain"}).Serve(c.App.Reader, c.App.Writer)
		},
	}
}

func demoFront(upstreams map[string]string, tables string) (http.Handler, func(), error) {
	cfg, err := config.Parse("demo", []byte(tables), demoFleet(upstreams))
	if err != nil {
		return nil, nil, err
	}
	store, err := storage.Open("memory:", storage.Options{})
	if err != nil {
		return nil, nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	s, err := site.New(ctx, site.Store{Store: store}, cfg, site.Observers{})
	if err != nil {
		stop()
		return nil, nil, errors.Join(err, store.Close())
	}
	s.Begin(true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Run(ctx) // nothing in it fails but for ctx
	}()
	return s, func() {
		stop()
		s.DrainTasks(ctx) // whoever waited for them is gone
		<-done
		_ = s.Close()
	}, nil
}

// demoFleet gives a configuration its pool, if there are upstreams for one.
func demoFleet(upstreams map[string]string) func(*config.Config) {
	if len(upstreams) == 0 {
		return func(*config.Config) {}
	}
	pool := config.DefaultPool()
	for _, name := range slices.Sorted(maps.Keys(upstreams)) {
		u := config.DefaultUpstream()
		u.Name, u.URL = name, upstreams[name]
		pool.Upstreams = append(pool.Upstreams, u)
	}
	return func(cfg *config.Config) { cfg.Pools = []config.Pool{pool} }
}

package storage

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// runID is what a server's INFO calls the name that it takes each time that it starts.
const runID = "run_id"

type server interface {
	// processes names those that hold the records.
	processes(ctx context.Context) (string, error)
}

// Server names the processes that hold the records; "" if they do not tell, or if this is the one. As long as it is the same, the
// store has lost nothing but what was flushed or evicted. Who asks need not be told while the store is away.
func (s *Store) Server(ctx context.Context) (string, error) {
	server, ok := s.engine.(server)
	if !ok {
		return "", nil
	}
	return server.processes(ctx)
}

func (r *redisEngine) processes(ctx context.Context) (name string, err error) {
	err = r.ask(ctx, opInfo, func(ctx context.Context) error {
		info, err := serverInfo(ctx, r.client, "server")
		name = info[runID]
		return err
	})
	return name, err
}

func (c *clusterEngine) processes(ctx context.Context) (string, error) {
	var mu sync.Mutex // guards names
	var names []string
	err := c.ask(ctx, opInfo, func(ctx context.Context) error {
		return c.cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
			info, err := serverInfo(ctx, node, "server")
			mu.Lock()
			defer mu.Unlock()
			names = append(names, info[runID])
			return err
		})
	})
	if err != nil || slices.Contains(names, "") {
		return "", err
	}
	slices.Sort(names)
	return strings.Join(names, " "), nil
}

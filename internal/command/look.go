package command

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	lookWithin = 4 * time.Second

	// lookAbandoned is when a look is given up that heeds no context: it reads a large
	// file, or a name is looked up. It ends with the process.
	lookAbandoned = 5 * time.Second
)

type look struct {
	key string                              // what of the configuration it is about
	see func(ctx context.Context) []finding // safe beside all others
}

func seeAll(ctx context.Context, looks []look) (found []finding) {
	seen := make([][]finding, len(looks))
	var running sync.WaitGroup
	for i, l := range looks {
		running.Go(func() { seen[i] = l.bounded(ctx) })
	}
	running.Wait()
	for _, part := range seen {
		found = append(found, part...)
	}
	return found
}

func (l look) bounded(ctx context.Context) []finding {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	done := make(chan []finding, 1)
	go func() { done <- l.see(ctx) }()
	select {
	case found := <-done:
		return found
	case <-time.After(lookAbandoned):
		return []finding{{key: l.key, text: fmt.Sprintf("nothing was found out within %v", lookAbandoned)}}
	}
}

//go:build linux

package main

import (
	"fmt"
	"sync"
	"time"

	"berth/integration/bench/contender"
	"berth/integration/bench/upstream"
)

// What an operator watches: a berth with so many live tasks, by the page, which asks as often as it does by itself.
const (
	watchedTasks = 10_000
	watchEvery   = 2 * time.Second
)

// watchedPaths are what the page's first view and its list of tasks ask for.
var watchedPaths = []string{"/v1/status", "/v1/upstreams", "/v1/tasks?limit=100", "/v1/tasks?limit=100&state=working"}

// watch makes the tasks, and has an operator watch the proxy until end is called, which tells how long the page waited.
func (b *bench) watch(proxy *contender.Running) (end func(), err error) {
	if _, err := b.makeTasks(proxy, upstream.Make, watchedTasks); err != nil {
		return nil, err
	}
	stop := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			for _, path := range watchedPaths {
				took, size, err := proxy.Ask(path)
				fmt.Fprintf(b.progress, "GET %s: %d bytes in %v %v\n", path, size, took.Round(100*time.Microsecond), orNothing(err))
			}
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	})
	return func() {
		close(stop)
		watching.Wait()
	}, nil
}

func orNothing(err error) any {
	if err == nil {
		return ""
	}
	return err
}

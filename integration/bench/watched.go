//go:build linux

package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"berth/integration/bench/contender"
	"berth/integration/bench/load"
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
func watch(proxy *contender.Running, progress io.Writer) (end func(), err error) {
	conn, err := load.Dial(proxy.Addresses[0], nil)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	for range watchedTasks {
		if _, err := makeTask(conn, callTool(upstream.Make)); err != nil {
			return nil, err
		}
	}
	stop := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			for _, path := range watchedPaths {
				took, size, err := proxy.Ask(path)
				fmt.Fprintf(progress, "GET %s: %d bytes in %v %v\n", path, size, took.Round(100*time.Microsecond), orNothing(err))
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

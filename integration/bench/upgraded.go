//go:build linux

package main

import (
	"bytes"
	"fmt"
	"time"

	"berth/integration/bench/contender"
	"berth/integration/bench/load"
	"berth/integration/bench/report"
	"berth/integration/bench/upstream"
)

// finishing bounds the wait for the ends of calls that are under way.
const finishing = 20 * time.Second

// caller calls a tool again and again; where berth makes tasks of the calls, it keeps the last one's id.
type caller struct {
	conn    *load.Conn
	request []byte
	tasks   bool
	last    string
}

func (c *caller) call() (int, error) {
	if !c.tasks {
		_, err := exchange(c.conn, c.request)
		return 1, err
	}
	var err error
	c.last, err = makeTask(c.conn, c.request)
	return 1, err
}

// ended polls the last task until it has its outcome.
func (c *caller) ended() error {
	if c.last == "" {
		return nil
	}
	for end := time.Now().Add(finishing); time.Now().Before(end); time.Sleep(time.Millisecond) {
		answer, err := exchange(c.conn, pollTask(c.last))
		if err != nil {
			return err
		}
		if bytes.Contains(answer.Body, []byte(`"status":"completed"`)) {
			return nil
		}
	}
	return fmt.Errorf("task %s has no outcome", c.last)
}

// measureUpgraded measures calls to their ends: of those that berth makes tasks of, to the outcome.
func (b *bench) measureUpgraded(_ kind, c contender.Contender, proxy *contender.Running) (report.Sample, error) {
	clients, err := b.connect(proxy)
	defer clients.close()
	if err != nil {
		return nil, err
	}
	var callers []*caller
	var ops []load.Op
	for _, conn := range clients {
		one := &caller{conn: conn, request: callTool(upstream.Report), tasks: c.Upgrade}
		callers, ops = append(callers, one), append(ops, one.call)
	}
	if warm := b.callToTheEnd(callers, ops, b.warmUp); warm.Err != nil {
		return nil, warm.Err
	}
	sample := make(report.Sample)
	if err := b.saturate(proxy, func() load.Result { return b.callToTheEnd(callers, ops, b.duration) }, sample); err != nil {
		return nil, err
	}
	return sample, noteResident(proxy, sample)
}

// callToTheEnd begins calls for the duration, and returns once all have ended. The polls that show it are some for each
// connection, among thousands of calls.
func (b *bench) callToTheEnd(callers []*caller, ops []load.Op, duration time.Duration) load.Result {
	start, before := time.Now(), b.fleet.Calls()
	result := load.Saturate(ops, duration)
	if result.Err != nil {
		return result
	}
	result.Err = await("calls ended", result.Units, finishing, func() int { return b.fleet.Calls() - before })
	for _, one := range callers {
		if result.Err == nil {
			result.Err = one.ended()
		}
	}
	result.Took = time.Since(start)
	return result
}

//go:build linux

package main

import (
	"bytes"
	"math/rand/v2"
	"slices"

	"berth/integration/bench/contender"
	"berth/integration/bench/load"
)

// makeTasks has n tasks made through the proxy, and returns their ids.
func (b *bench) makeTasks(proxy *contender.Running, tool string, n int) ([]string, error) {
	clients, err := b.connect(proxy)
	defer clients.close()
	if err != nil {
		return nil, err
	}
	made := make([][]string, len(clients)) // each connection's own
	ops := make([]load.Op, len(clients))
	request := callTool(tool)
	for i, conn := range clients {
		ops[i] = func() (int, error) {
			id, err := makeTask(conn, request)
			made[i] = append(made[i], id)
			return 1, err
		}
	}
	err = load.Count(ops, n).Err
	return slices.Concat(made...), err
}

// pollAny makes ops that poll any of the tasks, each of its own choice.
func pollAny(clients clients, tasks []string) []load.Op {
	ops := make([]load.Op, len(clients))
	for i, conn := range clients {
		random := rand.New(rand.NewPCG(uint64(i), 0))
		poll := newTemplate(tasks[0])
		ops[i] = func() (int, error) {
			_, err := exchange(conn, poll.of(tasks[random.IntN(len(tasks))]))
			return 1, err
		}
	}
	return ops
}

// template is a poll whose id is exchanged: to make a request anew would cost the load more than to send it. All ids are
// of one length.
type template struct {
	request []byte
	places  []int // where the id stands
}

func newTemplate(id string) *template {
	t := &template{request: pollTask(id)}
	for at := 0; ; {
		i := bytes.Index(t.request[at:], []byte(id))
		if i < 0 {
			return t
		}
		t.places = append(t.places, at+i)
		at += i + len(id)
	}
}

// of is the poll of a task; it is valid until the next.
func (t *template) of(id string) []byte {
	for _, at := range t.places {
		copy(t.request[at:], id)
	}
	return t.request
}

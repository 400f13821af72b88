//go:build linux

package main

import (
	"bytes"
	"fmt"

	"berth/integration/bench/contender"
	"berth/integration/bench/load"
	"berth/integration/bench/upstream"
)

// A kind is one sort of work that all contenders are given.
type kind struct {
	name  string
	unit  string  // what is counted, if it is no request
	share float64 // of the fixed rate, for what is more than a request

	// prepare makes a connection's op, for the contender that it leads to. Without it the kind is of standing streams.
	prepare func(*load.Conn, contender.Contender) (load.Op, error)

	contenders []contender.Contender
}

// tasksPerConnection are polled in turn, so that no two polls of one task meet.
const tasksPerConnection = 32

// pollsPerCall are made of each task in the kind "upgraded".
const pollsPerCall = 3

func kinds() []kind {
	return []kind{
		{name: "tasks/get", share: 1, prepare: polls, contenders: append(withQuiet(plain()), contender.Contender{Product: contender.Berth, Watched: true})},
		{name: "tools/call", share: 1, prepare: calls(upstream.Echo), contenders: withQuiet(plain())},
		{name: "creation", share: 1, prepare: calls(upstream.Make), contenders: append(plain(), berthOn("file"), berthOn("redis"))},
		{name: "tools/list", share: 1, prepare: repeat(listTools()), contenders: plain()},
		{name: "upgraded", unit: fmt.Sprintf("a call and %d polls", pollsPerCall), share: 0.1, prepare: callAndPoll, contenders: upgraded()},
		{name: "events", unit: "an event", share: 0.05, prepare: events, contenders: plain()},
		{name: "streams", unit: "an event", share: 3, contenders: plain()},
	}
}

func plain() []contender.Contender {
	return []contender.Contender{
		{Product: contender.Direct}, {Product: contender.ReverseProxy}, {Product: contender.Nginx},
		{Product: contender.HAProxy}, {Product: contender.Berth},
	}
}

func berthOn(store string) contender.Contender {
	return contender.Contender{Product: contender.Berth, Store: store}
}

// withQuiet adds those that can leave their access log out.
func withQuiet(contenders []contender.Contender) []contender.Contender {
	for _, product := range []string{contender.Nginx, contender.HAProxy, contender.Berth} {
		contenders = append(contenders, contender.Contender{Product: product, Quiet: true})
	}
	return contenders
}

func upgraded() []contender.Contender {
	contenders := plain()
	contenders[len(contenders)-1].Upgrade = true
	return contenders
}

// exchange sends a request whose answer must be a result.
func exchange(c *load.Conn, request []byte) (load.Answer, error) {
	answer, err := c.Exchange(request)
	if err == nil && (answer.Status != 200 || bytes.Contains(answer.Body, []byte(`"error":`))) {
		err = fmt.Errorf("got %d %s", answer.Status, answer.Body)
	}
	return answer, err
}

func calls(tool string) func(*load.Conn, contender.Contender) (load.Op, error) {
	return repeat(callTool(tool))
}

func repeat(request []byte) func(*load.Conn, contender.Contender) (load.Op, error) {
	return func(c *load.Conn, _ contender.Contender) (load.Op, error) {
		return func() (int, error) {
			_, err := exchange(c, request)
			return 1, err
		}, nil
	}
}

// makeTask has a tool make a task, and returns its id.
func makeTask(c *load.Conn, request []byte) (string, error) {
	answer, err := exchange(c, request)
	if err != nil {
		return "", err
	}
	_, rest, _ := bytes.Cut(answer.Body, []byte(`"taskId":"`))
	id, _, found := bytes.Cut(rest, []byte(`"`))
	if !found {
		return "", fmt.Errorf("got %s, want a task", answer.Body)
	}
	return string(id), nil
}

func polls(c *load.Conn, _ contender.Contender) (load.Op, error) {
	var requests [tasksPerConnection][]byte
	for i := range requests {
		id, err := makeTask(c, callTool(upstream.Make))
		if err != nil {
			return nil, err
		}
		requests[i] = pollTask(id)
	}
	next := 0
	return func() (int, error) {
		next = (next + 1) % len(requests)
		_, err := exchange(c, requests[next])
		return 1, err
	}, nil
}

// callAndPoll calls a tool that berth makes a task of; in front of the others it is one that makes a task itself.
func callAndPoll(c *load.Conn, to contender.Contender) (load.Op, error) {
	request := callTool(upstream.Make)
	if to.Upgrade {
		request = callTool(upstream.Report)
	}
	return func() (int, error) {
		id, err := makeTask(c, request)
		if err != nil {
			return 0, err
		}
		poll := pollTask(id)
		for range pollsPerCall {
			if _, err := exchange(c, poll); err != nil {
				return 0, err
			}
		}
		return 1, nil
	}, nil
}

func events(c *load.Conn, _ contender.Contender) (load.Op, error) {
	request := callTool(upstream.Talk)
	return func() (int, error) {
		answer, err := exchange(c, request)
		n := bytes.Count(answer.Body, []byte("\ndata: "))
		if err == nil && n < upstream.TalkEvents {
			err = fmt.Errorf("got %d events, want %d", n, upstream.TalkEvents)
		}
		return n, err
	}, nil
}

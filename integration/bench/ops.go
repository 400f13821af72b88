//go:build linux

package main

import (
	"bytes"
	"fmt"

	"berth/integration/bench/contender"
	"berth/integration/bench/load"
	"berth/integration/bench/upstream"
)

// tasksPerConnection are polled in turn, so that no two polls of one task meet.
const tasksPerConnection = 32

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

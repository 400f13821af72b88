package mcptest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
)

// A StdioServer is a server of 2025-11-25 that speaks by stdio, without a line of task code.
// Its tools are greet, which asks its client for a name in mid-call, and sleep, which keeps
// its caller waiting. The zero value serves; set Name before. It must not be copied.
type StdioServer struct {
	// Name is what the server calls itself in every tool result.
	Name string

	mu      sync.Mutex // guards the fields below, and what is written
	out     io.Writer
	greeted int
	asks    map[string]chan call // by the JSON-RPC id of the request
}

// Serve serves one client: it reads messages from in, to the end of that, and writes to out.
func (s *StdioServer) Serve(in io.Reader, out io.Writer) error {
	s.out, s.asks = out, map[string]chan call{}
	var running sync.WaitGroup
	defer running.Wait()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxBody)
	for lines.Scan() {
		c, fail := parseCall(lines.Bytes())
		switch {
		case fail != nil:
			s.write(answer(nil, nil, fail))
		case c.isRequest():
			running.Go(func() {
				result, fail := s.serve(ctx, c)
				s.write(answer(c.ID, result, fail))
			})
		case c.Method == "":
			s.hear(c)
		}
	}
	return lines.Err()
}

func (s *StdioServer) serve(ctx context.Context, c call) (any, *failure) {
	switch c.Method {
	case "initialize":
		return map[string]any{
			"protocolVersion": latestLegacy, "capabilities": map[string]any{"tools": struct{}{}},
			"serverInfo": map[string]any{"name": s.Name, "title": "berth demonstration server by stdio", "version": "1.0.0"},
		}, nil
	case "ping":
		return struct{}{}, nil
	case "tools/list":
		greet := toolList()[0]
		greet.Description, greet.InputSchema = "Greets whoever says a name when asked.", json.RawMessage(`{"type":"object"}`)
		return map[string]any{"tools": []tool{greet, sleepTool()}}, nil
	case "tools/call":
		return s.run(ctx, c)
	}
	return nil, &failure{Code: codeMethodNotFound, Message: fmt.Sprintf("unknown method %q", c.Method)}
}

// run runs a tool to its end.
func (s *StdioServer) run(ctx context.Context, c call) (any, *failure) {
	args, fail := parseArguments(c)
	switch {
	case fail != nil:
		return nil, fail
	case c.Params.Name == "greet":
		return s.greet(ctx)
	case c.Params.Name != "sleep":
		return nil, &failure{Code: codeInvalidParams, Message: fmt.Sprintf("unknown tool %q", c.Params.Name)}
	}
	if err := pause(ctx, args.duration(), nil); err != nil {
		return nil, &failure{Code: codeInternal, Message: err.Error()}
	}
	return s.said("slept", structured{Instance: s.Name, Label: args.Label}), nil
}

// greet asks for a name, and counts how often it was called.
func (s *StdioServer) greet(ctx context.Context) (any, *failure) {
	s.mu.Lock()
	s.greeted++
	runs := s.greeted
	s.mu.Unlock()
	reply, err := s.ask(ctx, "greet-"+strconv.Itoa(runs), "What is your name?")
	if err != nil {
		return nil, &failure{Code: codeInternal, Message: err.Error()}
	}
	var given struct {
		Content struct {
			Name string `json:"name"`
		} `json:"content"`
	}
	if json.Unmarshal(reply.Result, &given) != nil || given.Content.Name == "" {
		return s.said("Hello, whoever you are!", structured{Instance: s.Name, Runs: runs}), nil
	}
	return s.said("Hello, "+given.Content.Name+"!", structured{Instance: s.Name, Runs: runs}), nil
}

func (s *StdioServer) said(text string, what structured) toolResult {
	return toolResult{Content: []content{{Type: "text", Text: text}}, Structured: what}
}

// ask asks the client for a name, and waits for its reply.
func (s *StdioServer) ask(ctx context.Context, id, question string) (call, error) {
	raw, reply := json.RawMessage(strconv.Quote(id)), make(chan call, 1)
	s.mu.Lock()
	s.asks[string(raw)] = reply
	s.mu.Unlock()
	s.write(message{JSONRPC: "2.0", ID: raw, Method: "elicitation/create", Params: map[string]any{
		"message":         question,
		"requestedSchema": json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`),
	}})
	select {
	case c := <-reply:
		return c, nil
	case <-ctx.Done():
		return call{}, context.Cause(ctx)
	}
}

// hear takes a response of the client's.
func (s *StdioServer) hear(c call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if reply := s.asks[string(c.ID)]; reply != nil {
		delete(s.asks, string(c.ID))
		reply <- c
	}
}

func (s *StdioServer) write(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// What fails here is the pipe: nobody is left to be told.
	_ = json.NewEncoder(s.out).Encode(m)
}

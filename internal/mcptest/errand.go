package mcptest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

const (
	errandName   = "errand"
	defaultSteps = 10
)

// errandTool is a tool that knows nothing of tasks: it blocks, and talks meanwhile.
func errandTool() tool {
	return tool{
		Name: errandName,
		Description: "Takes its time in steps, tells of each as progress (if there is a token) and as a log message, " +
			"asks the client half-way, and says in its result what was answered.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"label":{"type":"string"},"seconds":{"type":"number"},` +
			`"steps":{"type":"integer"},"asks":{"type":"array","items":{"enum":["elicitation","sampling","roots","ping"]}},` +
			`"at_once":{"type":"boolean"},"patience":{"type":"number"},"hang_up":{"type":"integer"},` +
			`"ends":{"enum":["tool_error","protocol_error"]}}}`),
		Annotations: annotations{ReadOnly: true},
	}
}

// errandArguments say what an errand does besides waiting.
type errandArguments struct {
	Steps    int      `json:"steps"`    // 0: 10
	Asks     []string `json:"asks"`     // what is asked after half of the steps: see question
	AtOnce   bool     `json:"at_once"`  // all are asked before an answer is waited for
	Patience float64  `json:"patience"` // seconds for each answer; 0: endless
	HangUp   int      `json:"hang_up"`  // the step, from 1, after whose messages the connection is closed; 0: none
	Ends     string   `json:"ends"`     // "tool_error", "protocol_error", or "" for well
}

func (a errandArguments) steps() int {
	if a.Steps > 0 {
		return a.Steps
	}
	return defaultSteps
}

// interactive is a server whose tool asks its client in mid-call.
type interactive struct{ *Server }

// errand runs the tool to its end, or until the call is cancelled. Without a stream, f is
// nil: nothing is told, and nothing can be asked.
func (s interactive) errand(ctx context.Context, t *talk, f *feed, c call) (any, *failure) {
	args, fail := parseArguments(c)
	if fail != nil {
		return nil, fail
	}
	s.countExecution(args.Label)
	var answers []json.RawMessage
	for step := range args.steps() {
		s.tell(f, c, args, step)
		if step+1 == args.HangUp {
			f.leave(hangUp)
		}
		if step == args.steps()/2 {
			given, err := s.askAll(ctx, t, f, args)
			if err != nil {
				return nil, &failure{Code: codeInternal, Message: err.Error()}
			}
			answers = given
		}
		if err := pause(ctx, args.duration()/time.Duration(args.steps()), s.closed()); err != nil {
			return nil, &failure{Code: codeInternal, Message: err.Error()}
		}
	}
	return s.ran(args, answers)
}

// tell says which step begins.
func (s interactive) tell(f *feed, c call, args arguments, step int) {
	if token := c.Params.Meta.ProgressToken; token != nil {
		f.say(notification("notifications/progress", map[string]any{
			"progressToken": token, "progress": step, "total": args.steps(),
		}))
	}
	f.say(notification("notifications/message", map[string]any{
		"level": "info", "logger": s.Name, "data": fmt.Sprintf("%s: step %d", args.Label, step+1),
	}))
}

// askAll asks what the arguments say, and returns the answers in the order of the asks.
func (s interactive) askAll(ctx context.Context, t *talk, f *feed, args arguments) ([]json.RawMessage, error) {
	if f == nil && len(args.Asks) > 0 {
		return nil, fmt.Errorf("fleet: no stream to ask the client on")
	}
	patience := time.Duration(args.Patience * float64(time.Second))
	var put []ask
	var answers []json.RawMessage
	for i, kind := range args.Asks {
		put = append(put, t.put(f, kind, args.Label))
		if args.AtOnce && i+1 < len(args.Asks) {
			continue
		}
		for _, a := range put {
			got, err := s.wait(ctx, t, f, a, patience)
			if err != nil {
				return nil, err
			}
			answers = append(answers, got)
		}
		put = nil
	}
	return answers, nil
}

// ran is what an errand ends with.
func (s interactive) ran(args arguments, answers []json.RawMessage) (any, *failure) {
	if args.Ends == "protocol_error" {
		return nil, &failure{Code: codeInternal, Message: args.Label + " failed", Data: map[string]any{"instance": s.Name}}
	}
	result := s.result(fmt.Sprintf("%s, done on %s", args.Label, s.Name), args.Label)
	result.Structured.Answers = answers
	result.IsError = args.Ends == "tool_error"
	return result, nil
}

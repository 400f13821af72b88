package mcptest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// maxCompute bounds one slow_compute.
const maxCompute = time.Hour

// A tool is one entry of tools/list.
type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations annotations     `json:"annotations"`
	Execution   *execution      `json:"execution,omitempty"`
}

// annotations tell what a tool does to the world: none of these does anything.
type annotations struct {
	ReadOnly bool `json:"readOnlyHint"`
}

// execution says whether a core task may be asked for (2025-11-25 tasks,
// "Tool-Level Negotiation").
type execution struct {
	TaskSupport string `json:"taskSupport"`
}

// A toolResult is a CallToolResult. The instance that made it names itself in
// the structured part.
type toolResult struct {
	ResultType string         `json:"resultType,omitempty"` // modern era only
	Content    []content      `json:"content"`
	Structured structured     `json:"structuredContent"`
	IsError    bool           `json:"isError"`
	Meta       map[string]any `json:"_meta,omitempty"`
}

type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type structured struct {
	Instance string `json:"instance"`
	Label    string `json:"label,omitempty"`
	Runs     int    `json:"runs,omitempty"` // of the tool by now, where its server says so

	// Answers are the results, or the errors, that the client gave to what an errand asked.
	Answers []json.RawMessage `json:"answers,omitempty"`
}

// complete marks a result for the modern era, where every result has a type.
func (r toolResult) complete() toolResult {
	r.ResultType = "complete"
	return r
}

// legacyTools are the tools in the legacy era.
func (s *Server) legacyTools() []tool {
	tools := toolList()
	for i := range tools {
		if s.Taskless {
			tools[i].Execution = nil
		}
	}
	if s.Errands {
		tools = append(tools, errandTool())
	}
	return tools
}

func toolList() []tool {
	return []tool{
		{
			Name:        "greet",
			Description: "Greets somebody, at once.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`),
			Annotations: annotations{ReadOnly: true},
		},
		{
			Name:        "slow_compute",
			Description: "Takes its time, as a task where the client takes tasks.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"seconds":{"type":"number"},"label":{"type":"string"}}}`),
			Annotations: annotations{ReadOnly: true},
			Execution:   &execution{TaskSupport: "optional"},
		},
		{
			Name:        "who",
			Description: "Names the instance that answers.",
			InputSchema: json.RawMessage(`{"type":"object"}`),
			Annotations: annotations{ReadOnly: true},
		},
	}
}

// arguments is the union of what the tools read.
type arguments struct {
	Name    string  `json:"name"`
	Label   string  `json:"label"`
	Seconds float64 `json:"seconds"`
	errandArguments
}

func (a arguments) duration() time.Duration {
	return time.Duration(max(0, min(a.Seconds, maxCompute.Seconds())) * float64(time.Second))
}

func parseArguments(c call) (arguments, *failure) {
	var a arguments
	if len(c.Params.Arguments) == 0 {
		return a, nil
	}
	if err := json.Unmarshal(c.Params.Arguments, &a); err != nil {
		return a, &failure{Code: codeInvalidParams, Message: "arguments do not fit the tool"}
	}
	return a, nil
}

// runTool runs a tool to its end.
func (s *Server) runTool(ctx context.Context, c call) (toolResult, *failure) {
	args, fail := parseArguments(c)
	if fail != nil {
		return toolResult{}, fail
	}
	switch c.Params.Name {
	case "greet":
		s.countExecution(args.Label)
		return s.result("Hello, "+args.Name+"!", ""), nil
	case "who":
		s.countExecution(args.Label)
		return s.result(s.Name, ""), nil
	case "slow_compute":
		s.countExecution(args.Label)
		if err := pause(ctx, args.duration(), s.closed()); err != nil {
			return toolResult{}, &failure{Code: codeInternal, Message: err.Error()}
		}
		return s.computed(args.Label), nil
	}
	return toolResult{}, &failure{Code: codeInvalidParams, Message: fmt.Sprintf("unknown tool %q", c.Params.Name)}
}

// startTask starts slow_compute as a task that lives for at most ttl; 0 means
// the server's own.
func (s *Server) startTask(c call, session string, ttl time.Duration) (task, *failure) {
	args, fail := parseArguments(c)
	if fail != nil {
		return task{}, fail
	}
	if ttl <= 0 || ttl > s.ttl() {
		ttl = s.ttl()
	}
	now := time.Now()
	t := task{
		session: session,
		label:   args.Label,
		created: now,
		due:     now.Add(max(1, args.duration())), // tasks begin as working
		ttl:     ttl,
		poll:    s.pollInterval(),
	}
	if given := c.Params.Meta.NewTask; given != nil && c.Params.Meta.Version == "" {
		t.id, t.draft = given.TaskID, true
	}
	t, ok := s.tasks.add(t, now)
	if !ok {
		return task{}, &failure{Code: codeInvalidParams, Message: "the task id is taken"}
	}
	s.countExecution(args.Label)
	return t, nil
}

// computed is what slow_compute results in.
func (s *Server) computed(label string) toolResult {
	return s.result(fmt.Sprintf("%s, computed on %s", label, s.Name), label)
}

func (s *Server) result(text, label string) toolResult {
	return toolResult{
		Content:    []content{{Type: "text", Text: text}},
		Structured: structured{Instance: s.Name, Label: label},
	}
}

func (s *Server) unknownTask(method string) *failure {
	s.countDenied(method)
	return &failure{Code: codeInvalidParams, Message: "Failed to retrieve task: Task not found"}
}

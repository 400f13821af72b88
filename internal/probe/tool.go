package probe

import (
	"context"
	"encoding/json"
	"slices"

	"berth/internal/client"
)

// tool is what is read of an entry of tools/list.
type tool struct {
	Name        string `json:"name"`
	Annotations struct {
		ReadOnly bool `json:"readOnlyHint"`
	} `json:"annotations"`
	Input struct {
		Required []string `json:"required"`
	} `json:"inputSchema"`
	Execution struct {
		TaskSupport string `json:"taskSupport"`
	} `json:"execution"`
}

// safe reports whether the tool may be called without being named: its server says
// that it changes nothing, and it can be called without knowing what it wants.
func (t tool) safe() bool {
	return t.Name != "" && t.Annotations.ReadOnly && len(t.Input.Required) == 0
}

// takesTask reports whether the tool may be called as a core task (2025-11-25, tasks,
// "Tool-Level Negotiation").
func (t tool) takesTask() bool {
	return t.Execution.TaskSupport == "optional" || t.Execution.TaskSupport == "required"
}

// chooseTool returns the tool to call in s, or "" if there is none that may be called
// unasked.
func (r *run) chooseTool(ctx context.Context, s scope) string {
	if r.options.Tool != "" {
		return r.options.Tool
	}
	if name, known := r.tools[s.version]; known {
		return name
	}
	name, why := r.findTool(ctx, s)
	if name == "" {
		r.skip(s.version, checkTasks, why)
	}
	r.tools[s.version] = name
	return name
}

// findTool looks for a tool in tools/list, or says why there is none. In the modern era
// it is the server that decides whether a call becomes a task; a tool that takes tasks
// of legacy clients is the better guess.
func (r *run) findTool(ctx context.Context, s scope) (name, why string) {
	listed := r.wire.request(ctx, s, "tools/list", nil)
	if listed.judge() != held {
		return "", "no tool is known (--tool names one), for tools/list failed: " + listed.String()
	}
	var list struct {
		Tools []tool `json:"tools"`
	}
	if err := json.Unmarshal(listed.answer.Result, &list); err != nil {
		return "", "no tool is known (--tool names one), for tools/list cannot be read"
	}
	safe := slices.DeleteFunc(list.Tools, func(t tool) bool { return !t.safe() })
	if i := slices.IndexFunc(safe, tool.takesTask); i >= 0 {
		return safe[i].Name, ""
	}
	if s.version == client.Modern && len(safe) > 0 {
		return safe[0].Name, ""
	}
	return "", "no tool may be called unasked: none is annotated as read-only, needs no arguments and takes tasks; --tool names one"
}

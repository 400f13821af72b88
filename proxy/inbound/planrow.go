package inbound

import (
	"fmt"
	"strings"
	"time"

	"berth/internal/mcp"
)

// Row is the plan in words, as an operator reads the table's row of it: when it waits how long, whether it
// may be sent again, what its answer may bear, and which room it takes.
func (x *Call) Row() string {
	parts := []string{x.MethodLabel() + " (" + x.Era().String() + ")"}
	if x.Patience > 0 {
		parts = append(parts, fmt.Sprintf("waits %v for the answer's headers", x.Patience.Round(time.Millisecond)))
	} else {
		parts = append(parts, "waits for the answer's headers without end")
	}
	if x.ReadsOnly {
		parts = append(parts, "may be sent again")
	} else {
		parts = append(parts, "is sent once")
	}
	switch {
	case x.MayCreateTask:
		parts = append(parts, "its answer may bear a task")
	case x.MustBeClear:
		parts = append(parts, "its answer must be clear")
	}
	switch {
	case x.Stands:
		parts = append(parts, "takes the place of a stream")
	case x.ConcernsBegun:
		parts = append(parts, "is about work that has begun")
	default:
		parts = append(parts, "is new work")
	}
	return strings.Join(parts, "; ")
}

// About is what the call is about: "task", "session", or "request" where nobody holds anything.
func (x *Call) About() string {
	c := x.Single()
	switch {
	case x.AboutTask:
		return "task"
	case c != nil && c.Method == mcp.MethodInitialize:
	case x.Session != "":
		return "session"
	}
	return "request"
}

package mcp

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Names of `_meta` members in the first draft of tasks (SEP-1686 of October 2025, 3.1
// and 4.7). Both hold an object with a taskId.
const (
	metaNewTask     = "modelcontextprotocol.io/task"
	metaRelatedTask = "modelcontextprotocol.io/related-task"
)

// MakesTask reports whether the call is to become a task whose id the client made: a
// request of any method, for that draft lets each be one. The draft was never part of
// a modern revision, where the member means nothing.
func (c *Call) MakesTask() bool {
	return c.hasNewTaskID && c.Era == EraLegacy && c.Kind == KindRequest && !isTaskMethod(c.Method) && c.Method != MethodInitialize
}

// IgnoreDraft has the call be what it is to a server that does not know the first draft:
// it makes no task of the client's, and belongs to none.
func (c *Call) IgnoreDraft() {
	c.NewTaskID, c.hasNewTaskID, c.badNewTaskID, c.RelatedTaskID = "", false, false, ""
}

// CheckNewTaskID is CheckTaskID for the id that the client made.
func (c *Call) CheckNewTaskID(limit int) error {
	if c.badNewTaskID || !IsTaskID(c.NewTaskID, limit) {
		return ErrTaskID
	}
	return nil
}

// fillDraftTask reads a member of `_meta` that names a task. What is no object, or names
// none, is nothing that a server acts on.
func (c *Call) fillDraftTask(member string, value jsontext.Value) error {
	if value.Kind() != '{' {
		return nil
	}
	return members(value, []string{"taskId"}, func(name string, value jsontext.Value) error {
		if name != "taskId" {
			return nil
		}
		id, ok := text(value)
		if member == metaNewTask {
			c.NewTaskID, c.hasNewTaskID, c.badNewTaskID = id, true, !ok
		} else {
			c.RelatedTaskID = id
		}
		return nil
	})
}

// ToldTask returns the task that a message of an upstream's says that it belongs to, in
// `_meta` of its params or its result (SEP-1686, 4.7), also by the name that the member has
// in the core; "" if it belongs to none, or cannot
// be read.
func ToldTask(message []byte) string {
	if !bytes.Contains(message, []byte("/related-task")) {
		return ""
	}
	meta := inside(inside(message, "params", "result"), "_meta")
	id, _ := text(inside(inside(meta, metaRelatedTask, coreRelatedTask), "taskId"))
	return id
}

// inside returns the last of an object's members that has one of these names; nil if there
// is none, or object is none.
func inside(object jsontext.Value, names ...string) (found jsontext.Value) {
	if object.Kind() != '{' {
		return nil
	}
	err := members(object, nil, func(name string, value jsontext.Value) error {
		if slices.Contains(names, name) {
			found = value
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return found
}

package mcp

import (
	"bytes"
	"slices"

	"berth/internal/jsonobject"

	"github.com/go-json-experiment/json/jsontext"
)

// Members of `_meta` in the first draft of tasks (SEP-1686, 3.1 and 4.7): objects with a taskId.
const (
	metaNewTask     = "modelcontextprotocol.io/task"
	metaRelatedTask = "modelcontextprotocol.io/related-task"
)

// MetaCoreRelatedTask is the member of `_meta` that says whose a message is (2025-11-25, "Related Task
// Metadata").
const MetaCoreRelatedTask = "io.modelcontextprotocol/related-task"

// MakesTask reports whether the call is to become a task whose id the client made, as that draft
// lets any request. In a modern revision the member means nothing.
func (c *Call) MakesTask() bool {
	return c.hasNewTaskID && c.Era == EraLegacy && c.Kind == KindRequest && !isTaskMethod(c.Method) && c.Method != MethodInitialize
}

// IgnoreDraft has the call be what it is to a server that does not know the first draft.
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

var draftTaskNames = jsonobject.Guard(&memberNames, "taskId")

func (c *Call) readNewTask(r *messageReader) error {
	id, err := readDraftTask(r)
	c.NewTaskID, c.badNewTaskID = rawText{value: id}.decoded("")
	c.hasNewTaskID = id != nil
	return err
}

func (c *Call) readRelatedTask(r *messageReader) error {
	id, err := readDraftTask(r)
	c.RelatedTaskID, _ = rawText{value: id}.decoded("")
	return err
}

// readDraftTask reads the id of the task that a member of `_meta` names. No server acts on what is no object, or names none.
func readDraftTask(r *messageReader) (id jsontext.Value, err error) {
	if r.Kind() != '{' {
		r.Value()
		return nil, nil
	}
	o := r.Enter(&draftTaskNames)
	for r.Next(&o) {
		if value := r.Value(); o.Member == memberTaskID {
			id = value
		}
	}
	return id, o.Fault
}

// RelatedTask returns the task that an upstream's message says that it belongs to, in `_meta` of its
// params or result (SEP-1686, 4.7), under the core's name too; "" for none.
func RelatedTask(message []byte) string {
	if !bytes.Contains(message, []byte("/related-task")) {
		return ""
	}
	meta := inside(inside(message, "params", "result"), "_meta")
	id, _ := jsonobject.Text(inside(inside(meta, metaRelatedTask, MetaCoreRelatedTask), "taskId"))
	return id
}

// inside returns the last of an object's members that has one of these names; nil if there is none.
func inside(object jsontext.Value, names ...string) (found jsontext.Value) {
	err := jsonobject.Each(object, nil, func(name []byte, value jsontext.Value) error {
		if slices.Contains(names, string(name)) {
			found = value
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return found
}

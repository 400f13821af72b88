package mcp

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// TaskList is one page of a tasks/list (2025-11-25, "Listing Tasks").
type TaskList struct {
	Tasks      []ListedTask // in the upstream's order
	NextCursor string       // "": the list ends here
}

// ListedTask is one task of a list.
type ListedTask struct {
	ID  string // taskId
	Raw []byte // the task as its upstream wrote it
}

var errNoTaskList = errors.New("mcp: not a list of tasks")

// ReadTaskList reads the result of a tasks/list. It is strict where two readers could
// see different tasks: whose a task is hangs on its id.
func ReadTaskList(result []byte) (TaskList, error) {
	var list TaskList
	var tasks, cursor jsontext.Value
	err := objectMembers(result, []string{"tasks", "nextCursor"}, func(name []byte, value jsontext.Value) error {
		switch string(name) {
		case "tasks":
			tasks = value
		case "nextCursor":
			cursor = value
		}
		return nil
	})
	if err != nil {
		return list, err
	}
	if tasks.Kind() != '[' || cursor != nil && cursor.Kind() != '"' && cursor.Kind() != 'n' {
		return list, errNoTaskList
	}
	list.NextCursor, _ = text(cursor)
	list.Tasks, err = readTasks(tasks)
	return list, err
}

func readTasks(list jsontext.Value) ([]ListedTask, error) {
	var tasks []ListedTask
	r := read(list)
	defer r.release()
	for r.token(); r.err == nil && r.kind() != ']'; {
		t := ListedTask{Raw: r.value()}
		if r.err == nil {
			t.ID, r.err = listedID(t.Raw)
		}
		if r.err == nil {
			tasks = append(tasks, t)
		}
	}
	return tasks, r.err
}

// listedID returns the id of a task in a list. A task without one is nobody's.
func listedID(task jsontext.Value) (id string, err error) {
	err = objectMembers(task, []string{"taskId"}, func(name []byte, value jsontext.Value) error {
		if string(name) == "taskId" {
			id, _ = text(value)
		}
		return nil
	})
	if err == nil && id == "" {
		err = errNoTaskList
	}
	return id, err
}

// Result returns the page as the result of a tasks/list. The tasks' bytes are theirs.
func (l TaskList) Result() []byte {
	out := []byte(`{"tasks":[`)
	for i, t := range l.Tasks {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, t.Raw...)
	}
	out = append(out, ']')
	if l.NextCursor != "" {
		cursor, _ := json.Marshal(l.NextCursor) // strings always marshal
		out = append(append(out, `,"nextCursor":`...), cursor...)
	}
	return append(out, '}')
}

// WithCursor returns the body of a single request with its params.cursor replaced, or
// left out if cursor is "". The body must be one that Peek takes.
func WithCursor(body []byte, cursor string) []byte {
	params := []byte("{}")
	if from, to, ok := locate(body, "params"); ok && body[from] == '{' {
		params = body[from:to]
	}
	var value []byte
	if cursor != "" {
		value, _ = json.Marshal(cursor) // strings always marshal
	}
	return withMember(body, "params", withMember(params, "cursor", value))
}

// withMember returns object with one of its members replaced by value, which goes to
// the end; nil leaves it out.
func withMember(object []byte, name string, value []byte) []byte {
	var out bytes.Buffer
	add := func(name string, value []byte) {
		if out.Len() > 0 {
			out.WriteByte(',')
		}
		quoted, _ := jsontext.AppendQuote(nil, name)
		out.Write(append(append(quoted, ':'), value...))
	}
	_ = members(object, nil, func(other []byte, value jsontext.Value) error {
		if string(other) != name {
			add(string(other), value)
		}
		return nil
	})
	if value != nil {
		add(name, value)
	}
	return append(append([]byte("{"), out.Bytes()...), '}')
}

package mcp

import (
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// MethodTaskStatus is the notification of a task's change in the core dialect
// (2025-11-25, tasks, "Task Status Notification").
const MethodTaskStatus = "notifications/tasks/status"

// coreRelatedTask is the member of `_meta` that says which task a message belongs to
// (2025-11-25, tasks, "Related Task Metadata").
const coreRelatedTask = "io.modelcontextprotocol/related-task"

// CoreTask is a task as berth shows one of its own in the core dialect (2025-11-25,
// tasks, "Task").
type CoreTask struct {
	ID      string // taskId
	Status  string // as the specification spells it
	Message string // statusMessage; "" leaves it out

	Created time.Time // createdAt
	Updated time.Time // lastUpdatedAt

	TTL          time.Duration // ttl, since Created, in whole milliseconds; 0 = unlimited
	PollInterval time.Duration // pollInterval, in whole milliseconds; 0 leaves it out
}

// Handle returns the task as the result of the call that it was made for
// (CreateTaskResult).
func (t CoreTask) Handle() []byte {
	return append(t.appendTo([]byte(`{"task":`)), '}')
}

// Task returns the task as the result of tasks/get and tasks/cancel.
func (t CoreTask) Task() []byte { return t.appendTo(nil) }

// Listed returns the task as one of a list.
func (t CoreTask) Listed() ListedTask { return ListedTask{ID: t.ID, Raw: t.Task()} }

// StatusNotification returns the JSON-RPC notification that tells of the task.
func (t CoreTask) StatusNotification() []byte {
	out := []byte(`{"jsonrpc":"2.0","method":"` + MethodTaskStatus + `","params":`)
	return append(t.appendTo(out), '}')
}

func (t CoreTask) appendTo(out []byte) []byte {
	return append(t.appendMembers(append(out, '{'), "ttl", "pollInterval"), '}')
}

// appendMembers appends what all shapes of a task have in either dialect, which differ in
// the names of two members.
func (t CoreTask) appendMembers(out []byte, ttl, pollInterval string) []byte {
	out = append(out, `"taskId":`...)
	out, _ = jsontext.AppendQuote(out, t.ID)
	out = append(out, `,"status":`...)
	out, _ = jsontext.AppendQuote(out, t.Status)
	if t.Message != "" {
		out = append(out, `,"statusMessage":`...)
		out, _ = jsontext.AppendQuote(out, t.Message)
	}
	out = appendTime(append(out, `,"createdAt":`...), t.Created)
	out = appendTime(append(out, `,"lastUpdatedAt":`...), t.Updated)
	out = append(out, `,"`+ttl+`":`...)
	if t.TTL == 0 {
		out = append(out, "null"...)
	} else {
		out = strconv.AppendInt(out, t.TTL.Milliseconds(), 10)
	}
	if t.PollInterval != 0 {
		out = append(out, `,"`+pollInterval+`":`...)
		out = strconv.AppendInt(out, t.PollInterval.Milliseconds(), 10)
	}
	return out
}

// RelatedResponse returns the JSON-RPC response under this raw id with a result that says in
// its `_meta` which task it belongs to, in place of what it said of that before. Every other
// byte of the result stays. What has no room for it (its `_meta` is no object, or stands there
// twice) stays as it is.
func RelatedResponse(id, result []byte, task string) Parts {
	head, tail := responseHead(id, "result"), []byte{'}'}
	if len(result) <= copied {
		return around(head, patched(result, patch{relatedTo(task)}), tail)
	}
	related, err := relatedTo(task).spliced(result)
	if err != nil {
		related = Parts{result}
	}
	return slices.Concat(Parts{head}, related, Parts{tail})
}

// MessageWithRelatedTask does so for a request or notification, where the
// `_meta` of its params says it. What names a task itself stays as it is: a server that has
// its client do something as a task asks for that by tasks/get and the like, and they are
// about no other ("Associating Task-Related Messages").
func MessageWithRelatedTask(message []byte, task string) []byte {
	if a, err := PeekAnswer(message, false); err == nil && isOfTaskItself(a.Method) {
		return message
	}
	return patched(message, patch{{name: "params", within: patch{relatedTo(task)}}})
}

// isOfTaskItself reports whether messages of this method say in their params, and there only,
// which tasks they are about.
func isOfTaskItself(method string) bool {
	switch method {
	case MethodGetTask, MethodTaskResult, MethodCancelTask, MethodListTasks, MethodTaskStatus:
		return true
	}
	return false
}

// TaskProgress returns a notifications/progress with these params, for the request that
// gave this raw token and became this task.
func TaskProgress(params, token []byte, task string) []byte {
	params = patched(params, patch{{name: memberProgressToken, value: token}, relatedTo(task)})
	out := append([]byte(`{"jsonrpc":"2.0","method":"`+MethodProgress+`","params":`), params...)
	return append(out, '}')
}

// relatedTo is the change that puts the task into the `_meta` of an object.
func relatedTo(task string) change {
	value, _ := jsontext.AppendQuote([]byte(`{"taskId":`), task)
	return change{name: "_meta", within: patch{{name: coreRelatedTask, value: append(value, '}')}}}
}

// patched returns the object in data with p applied, or data where that cannot be.
func patched(data []byte, p patch) []byte {
	out, err := p.apply(data)
	if err != nil {
		return data
	}
	return out
}

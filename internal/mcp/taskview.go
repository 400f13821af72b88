package mcp

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"time"

	"berth/internal/build"
	"berth/internal/jsonobject"
)

// TaskView is a task of berth's own as the Tasks extension shows it ("Tasks").
type TaskView struct {
	ID      string // taskId
	Status  string // as the extension spells it
	Message string // statusMessage; "" leaves it out

	Created time.Time // createdAt
	Updated time.Time // lastUpdatedAt

	TTL          time.Duration // ttlMs, since Created, in whole milliseconds; 0 = unlimited
	PollInterval time.Duration // pollIntervalMs, in whole milliseconds; 0 leaves it out

	Inputs []byte // raw JSON object: inputRequests of an input_required task; nil: none
	Result []byte // raw JSON object: the result of a completed task; nil leaves it out
	Error  []byte // raw JSON object: the error of a failed task; nil leaves it out
}

// serverInfo names berth in results of its own (2026-07-28, basic, "Per-response protocol fields").
// A result that a tool gave is that tool's server's.
const serverInfo = `"io.modelcontextprotocol/serverInfo":{"name":"berth","version":"` + build.Version + `"}`

// ownMeta is the `_meta` of a result of berth's own that has nothing else in it.
const ownMeta = `"_meta":{` + serverInfo + `}`

// Handle returns the response to the call that the task was made of (CreateTaskResult).
func (v TaskView) Handle(id []byte) []byte {
	return append(v.appendTask(v.begun(id), ResultTask), `}}`...)
}

// Response returns the response to a tasks/get (GetTaskResult). A completed task's result says
// `resultType: "complete"` too where it said nothing of that; every other byte of it stays, and a
// large one is no copy.
func (v TaskView) Response(id []byte) Parts {
	return v.told(v.appendTask(v.begun(id), "complete"), `}}`)
}

// begun is a response up to its result.
func (v *TaskView) begun(id []byte) []byte {
	out := append(make([]byte, 0, v.room(id)), responseBegin...)
	return append(append(out, id...), `,"result":`...)
}

// Notification tells a subscription of the task as Response does.
func (v TaskView) Notification(id []byte) Parts {
	out := append(make([]byte, 0, v.room(id)), notificationHead(NotificationTask)...)
	out = append(append(out, id...), `},`...)
	return v.told((*CoreTask)(&v).appendMembers(out, "ttlMs", "pollIntervalMs"), `}}`)
}

func (v *TaskView) room(id []byte) int {
	n := 512 + len(id) + len(v.ID) + len(v.Message)
	for _, value := range [][]byte{v.Inputs, v.Result, v.Error} {
		if len(value) <= copied {
			n += len(value)
		}
	}
	return n
}

// told returns the message that begins with out with what the task's status calls for.
func (v *TaskView) told(out []byte, end string) Parts {
	switch {
	case v.Status == "input_required" && v.Inputs == nil:
		out = append(out, `,"`+memberInputRequests+`":{}`...)
	case v.Status == "input_required":
		return around(append(out, `,"`+memberInputRequests+`":`...), v.Inputs, []byte(end))
	case v.Status == "completed" && v.Result != nil:
		head, rest := completed(append(out, `,"result":`...), v.Result)
		return around(head, rest, []byte(end))
	case v.Status == "failed" && v.Error != nil:
		return around(append(out, `,"error":`...), v.Error, []byte(end))
	}
	return Parts{append(out, end...)}
}

func (v *TaskView) appendTask(out []byte, resultType string) []byte {
	out = append(append(append(out, `{"resultType":"`...), resultType...), `",`...)
	out = (*CoreTask)(v).appendMembers(out, "ttlMs", "pollIntervalMs")
	return append(out, `,`+ownMeta...)
}

func appendTime(out []byte, t time.Time) []byte {
	return append(AppendMillis(append(out, '"'), t), '"')
}

// completed appends the beginning of a call's result and returns the rest, with `resultType:
// "complete"` between them where it says nothing of that. What it says may be an extension's: its
// client judges.
func completed(out, result []byte) (head, rest []byte) {
	if _, _, ok := jsonobject.Locate(result, "resultType"); ok {
		return out, result
	}
	open := bytes.IndexByte(result, '{') + 1
	out = append(append(out, result[:open]...), `"resultType":"complete"`...)
	if rest := bytes.TrimLeft(result[open:], " \t\r\n"); len(rest) > 0 && rest[0] != '}' {
		out = append(out, ',')
	}
	return out, result[open:]
}

// MethodTaskStatus is the core dialect's notification of a change (2025-11-25, "Task Status
// Notification").
const MethodTaskStatus = "notifications/tasks/status"

// coreRelatedTask is the member of `_meta` that says whose a message is (2025-11-25, "Related Task
// Metadata").
const coreRelatedTask = "io.modelcontextprotocol/related-task"

// CoreTask is the task in the core dialect (2025-11-25, tasks, "Task"). It bears neither input
// requests nor an outcome.
type CoreTask TaskView

// Handle returns the task as the result of its call (CreateTaskResult).
func (t CoreTask) Handle() []byte { return append(t.appendTo([]byte(`{"task":`)), '}') }

// Task returns the task as the result of tasks/get and tasks/cancel.
func (t CoreTask) Task() []byte { return t.appendTo(nil) }

// Listed returns the task as one of a list.
func (t CoreTask) Listed() ListedTask { return ListedTask{ID: t.ID, Raw: t.Task()} }

// StatusNotification returns the JSON-RPC notification that tells of the task.
func (t CoreTask) StatusNotification() []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":%s}`, MethodTaskStatus, t.Task())
}

func (t CoreTask) appendTo(out []byte) []byte {
	return append(t.appendMembers(append(out, '{'), "ttl", "pollInterval"), '}')
}

// appendMembers appends what a task has in either dialect, which differ in two names.
func (t *CoreTask) appendMembers(out []byte, ttl, pollInterval string) []byte {
	out = append(out, `"taskId":`...)
	out = jsonobject.AppendString(out, t.ID)
	out = append(out, `,"status":`...)
	out = jsonobject.AppendString(out, t.Status)
	if t.Message != "" {
		out = append(out, `,"statusMessage":`...)
		out = jsonobject.AppendString(out, t.Message)
	}
	out = appendTime(append(out, `,"createdAt":`...), t.Created)
	out = appendTime(append(out, `,"lastUpdatedAt":`...), t.Updated)
	out = append(append(append(out, `,"`...), ttl...), `":`...)
	if t.TTL == 0 {
		out = append(out, "null"...)
	} else {
		out = strconv.AppendInt(out, t.TTL.Milliseconds(), 10)
	}
	if t.PollInterval != 0 {
		out = append(append(append(out, `,"`...), pollInterval...), `":`...)
		out = strconv.AppendInt(out, t.PollInterval.Milliseconds(), 10)
	}
	return out
}

// RelatedResponse returns the response with a result whose `_meta` says which task it belongs to.
// Every other byte of the result stays, and all of it where there is no room for that.
func RelatedResponse(id, result []byte, task string) Parts {
	head, tail := responseHead(id, "result"), []byte{'}'}
	related, err := jsonobject.Patch{relatedTo(task)}.Pieces(result)
	if err != nil {
		related = [][]byte{result}
	}
	if len(result) <= copied {
		return around(head, Parts(related).Bytes(), tail)
	}
	return slices.Concat(Parts{head}, related, Parts{tail})
}

// MessageWithRelatedTask does so for a request or notification. What names a task itself stays as
// it is: it is about no other ("Associating Task-Related Messages").
func MessageWithRelatedTask(message []byte, task string) []byte {
	if a, err := PeekAnswer(message, false); err == nil && isOfTaskItself(a.Method) {
		return message
	}
	out, _ := jsonobject.Patch{{Name: "params", Within: jsonobject.Patch{relatedTo(task)}}}.Tried(message)
	return out
}

// isOfTaskItself reports whether messages of this method say in their params which tasks they are
// about.
func isOfTaskItself(method string) bool {
	return slices.Contains([]string{MethodGetTask, MethodTaskResult, MethodCancelTask, MethodListTasks, MethodTaskStatus}, method)
}

// TaskProgress returns a notifications/progress with these params for the request that gave this
// raw token.
func TaskProgress(params, token []byte, task string) []byte {
	params, _ = jsonobject.Patch{{Name: memberProgressToken, Value: token}, relatedTo(task)}.Tried(params)
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":%s}`, MethodProgress, params)
}

func relatedTo(task string) jsonobject.Change {
	value := jsonobject.AppendString([]byte(`{"taskId":`), task)
	return jsonobject.Change{Name: "_meta", Within: jsonobject.Patch{{Name: coreRelatedTask, Value: append(value, '}')}}}
}

package taskwire

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"time"

	"berth/internal/jsonobject"
	"berth/internal/mcp"
)

// View is a task of berth's own as the Tasks extension shows it ("Tasks").
type View struct {
	ID      string // taskId
	Status  string // as the extension spells it
	Message string // statusMessage; "" leaves it out

	Created time.Time // createdAt
	Updated time.Time // lastUpdatedAt

	TTL          time.Duration // ttlMs, since Created, in whole Milliseconds; 0 = unlimited
	PollInterval time.Duration // pollIntervalMs, in whole Milliseconds; 0 leaves it out

	Inputs []byte // raw JSON object: inputRequests of an input_required task; nil: none
	Result []byte // raw JSON object: the result of a completed task; nil leaves it out
	Error  []byte // raw JSON object: the error of a failed task; nil leaves it out
}

// Handle returns the response to the call that the task was made of (CreateTaskResult).
func (v View) Handle(id []byte) []byte {
	return append(v.appendTask(v.begun(id), mcp.ResultTask), `}}`...)
}

// Response returns the response to a tasks/get (GetTaskResult). A completed task's result says
// `resultType: "complete"` too where it said nothing of that; every other byte of it stays, and a
// large one is no copy.
func (v View) Response(id []byte) mcp.Parts {
	return v.told(v.appendTask(v.begun(id), "complete"), `}}`)
}

// begun is a response up to its result.
func (v *View) begun(id []byte) []byte {
	out := append(make([]byte, 0, v.room(id)), mcp.ResponseBegin...)
	return append(append(out, id...), `,"result":`...)
}

// Notification tells a subscription of the task as Response does.
func (v View) Notification(id []byte) mcp.Parts {
	out := append(make([]byte, 0, v.room(id)), mcp.NotificationHead(mcp.NotificationTask)...)
	out = append(append(out, id...), `},`...)
	return v.told((*Core)(&v).appendMembers(out, "ttlMs", "pollIntervalMs"), `}}`)
}

func (v *View) room(id []byte) int {
	n := 512 + len(id) + len(v.ID) + len(v.Message)
	for _, value := range [][]byte{v.Inputs, v.Result, v.Error} {
		if len(value) <= mcp.Copied {
			n += len(value)
		}
	}
	return n
}

// told returns the message that begins with out with what the task's status calls for.
func (v *View) told(out []byte, end string) mcp.Parts {
	switch {
	case v.Status == "input_required" && v.Inputs == nil:
		out = append(out, `,"`+mcp.MemberInputRequests+`":{}`...)
	case v.Status == "input_required":
		return mcp.Around(append(out, `,"`+mcp.MemberInputRequests+`":`...), v.Inputs, []byte(end))
	case v.Status == "completed" && v.Result != nil:
		head, rest := completed(append(out, `,"result":`...), v.Result)
		return mcp.Around(head, rest, []byte(end))
	case v.Status == "failed" && v.Error != nil:
		return mcp.Around(append(out, `,"error":`...), v.Error, []byte(end))
	}
	return mcp.Parts{append(out, end...)}
}

func (v *View) appendTask(out []byte, resultType string) []byte {
	out = append(append(append(out, `{"resultType":"`...), resultType...), `",`...)
	out = (*Core)(v).appendMembers(out, "ttlMs", "pollIntervalMs")
	return append(out, `,`+mcp.MetaOfOwn...)
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

// Core is the task in the core dialect (2025-11-25, tasks, "Task"). It bears neither input
// requests nor an outcome.
type Core View

// Handle returns the task as the result of its call (CreateTaskResult).
func (t Core) Handle() []byte { return append(t.appendTo([]byte(`{"task":`)), '}') }

// Task returns the task as the result of tasks/get and tasks/cancel.
func (t Core) Task() []byte { return t.appendTo(nil) }

// Listed returns the task as one of a list.
func (t Core) Listed() Listed { return Listed{ID: t.ID, Raw: t.Task()} }

// StatusNotification returns the JSON-RPC notification that tells of the task.
func (t Core) StatusNotification() []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":%s}`, mcp.MethodTaskStatus, t.Task())
}

func (t Core) appendTo(out []byte) []byte {
	return append(t.appendMembers(append(out, '{'), "ttl", "pollInterval"), '}')
}

// appendMembers appends what a task has in either dialect, which differ in two names.
func (t *Core) appendMembers(out []byte, ttl, pollInterval string) []byte {
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
func RelatedResponse(id, result []byte, task string) mcp.Parts {
	head, tail := mcp.ResponseHead(id, "result"), []byte{'}'}
	related, err := jsonobject.Patch{relatedTo(task)}.Pieces(result)
	if err != nil {
		related = [][]byte{result}
	}
	if len(result) <= mcp.Copied {
		return mcp.Around(head, mcp.Parts(related).Bytes(), tail)
	}
	return slices.Concat(mcp.Parts{head}, related, mcp.Parts{tail})
}

// RelatedMessage does so for a request or notification. What names a task itself stays as
// it is: it is about no other ("Associating Task-Related Messages").
func RelatedMessage(message []byte, task string) []byte {
	if a, err := mcp.PeekAnswer(message, false); err == nil && isOfTaskItself(a.Method) {
		return message
	}
	out, _ := jsonobject.Patch{{Name: "params", Within: jsonobject.Patch{relatedTo(task)}}}.Tried(message)
	return out
}

// isOfTaskItself reports whether messages of this method say in their params which tasks they are
// about.
func isOfTaskItself(method string) bool {
	return slices.Contains([]string{mcp.MethodGetTask, mcp.MethodTaskResult, mcp.MethodCancelTask, mcp.MethodListTasks, mcp.MethodTaskStatus}, method)
}

// Progress returns a notifications/progress with these params for the request that gave this
// raw token.
func Progress(params, token []byte, task string) []byte {
	params, _ = jsonobject.Patch{{Name: mcp.MemberProgressToken, Value: token}, relatedTo(task)}.Tried(params)
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":%s}`, mcp.MethodProgress, params)
}

func relatedTo(task string) jsonobject.Change {
	value := jsonobject.AppendString([]byte(`{"taskId":`), task)
	return jsonobject.Change{Name: "_meta", Within: jsonobject.Patch{{Name: mcp.MetaCoreRelatedTask, Value: append(value, '}')}}}
}

package mcp

import (
	"bytes"
	"time"

	"berth/internal/build"
)

// TaskView is a task as berth shows one of its own in the dialect of the Tasks extension
// ("Tasks").
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

// serverInfo names berth in the `_meta` of results of its own, as servers should (2026-07-28,
// basic, "Per-response protocol fields"). A result that a tool gave is that tool's server's.
const serverInfo = `"io.modelcontextprotocol/serverInfo":{"name":"berth","version":"` + build.Version + `"}`

// ownMeta is the `_meta` of a result of berth's own that has nothing else in it.
const ownMeta = `"_meta":{` + serverInfo + `}`

// Handle returns the task as the result of the call that it was made for
// (CreateTaskResult).
func (v TaskView) Handle() []byte {
	return append(v.appendTask(nil, ResultTask), '}')
}

// Response returns the JSON-RPC response under this raw id to a tasks/get (GetTaskResult).
// The result of a completed task says `resultType: "complete"` too where it said nothing of
// that; every other byte of it stays, and a large one is no copy.
func (v TaskView) Response(id []byte) Parts {
	out := append(make([]byte, 0, v.room(id)), `{"jsonrpc":"2.0","id":`...)
	out = append(append(out, id...), `,"result":`...)
	return v.told(v.appendTask(out, "complete"), `}}`)
}

// Notification tells the subscription with this raw id of the task: but for what belongs to
// a result, as Response does.
func (v TaskView) Notification(id []byte) Parts {
	out := append(make([]byte, 0, v.room(id)), notificationHead(NotificationTask)...)
	out = append(append(out, id...), `},`...)
	return v.told(v.core().appendMembers(out, "ttlMs", "pollIntervalMs"), `}}`)
}

// room is how much the head of a message about the task takes, and all of it if that is
// copied.
func (v TaskView) room(id []byte) int {
	n := 512 + len(id) + len(v.ID) + len(v.Message)
	for _, value := range [][]byte{v.Inputs, v.Result, v.Error} {
		if len(value) <= copied {
			n += len(value)
		}
	}
	return n
}

// told returns the message that begins with out with what the task's status calls for.
func (v TaskView) told(out []byte, end string) Parts {
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

// appendTask appends what all shapes of the task have, without the closing brace.
func (v TaskView) appendTask(out []byte, resultType string) []byte {
	out = v.core().appendMembers(append(out, `{"resultType":"`+resultType+`",`...), "ttlMs", "pollIntervalMs")
	return append(out, `,`+ownMeta...)
}

func (v TaskView) core() CoreTask {
	return CoreTask{v.ID, v.Status, v.Message, v.Created, v.Updated, v.TTL, v.PollInterval}
}

func appendTime(out []byte, t time.Time) []byte {
	return t.UTC().AppendFormat(out, `"2006-01-02T15:04:05.000Z"`)
}

// completed appends the beginning of a call's result and returns the rest of it, with
// `resultType: "complete"` between them where it does not say what it is. What it does say may
// be of an extension that berth does not know: its client judges.
func completed(out, result []byte) (head, rest []byte) {
	if _, _, ok := locate(result, "resultType"); ok {
		return out, result
	}
	open := jsonOpen(result)
	out = append(append(out, result[:open]...), `"resultType":"complete"`...)
	if rest := bytes.TrimLeft(result[open:], " \t\r\n"); len(rest) > 0 && rest[0] != '}' {
		out = append(out, ',')
	}
	return out, result[open:]
}

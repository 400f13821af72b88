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

	Asks   []Input // inputRequests of an input_required task, in order
	Result []byte  // raw JSON object: the result of a completed task; nil leaves it out
	Error  []byte  // raw JSON object: the error of a failed task; nil leaves it out
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

// Detailed returns the task as the result of a tasks/get (GetTaskResult). The result of a
// completed task says `resultType: "complete"` too where it said nothing of that; every
// other byte of it stays, and it is copied once.
func (v TaskView) Detailed() []byte {
	room := 512 + len(v.ID) + len(v.Message) + len(v.Result) + len(v.Error) + sizeOf(v.Asks)
	out := v.appendTask(make([]byte, 0, room), "complete")
	switch {
	case v.Status == "input_required":
		out = append(out, `,"`+memberInputRequests+`":`...)
		out = appendInputs(out, v.Asks)
	case v.Status == "completed" && v.Result != nil:
		out = append(out, `,"result":`...)
		out = appendCompleted(out, v.Result)
	case v.Status == "failed" && v.Error != nil:
		out = append(append(out, `,"error":`...), v.Error...)
	}
	return append(out, '}')
}

// appendTask appends what all shapes of the task have, without the closing brace.
func (v TaskView) appendTask(out []byte, resultType string) []byte {
	task := CoreTask{v.ID, v.Status, v.Message, v.Created, v.Updated, v.TTL, v.PollInterval}
	out = task.appendMembers(append(out, `{"resultType":"`+resultType+`",`...), "ttlMs", "pollIntervalMs")
	return append(out, `,`+ownMeta...)
}

// appendTime appends t as ISO 8601 in UTC, with milliseconds.
func appendTime(out []byte, t time.Time) []byte {
	return t.UTC().AppendFormat(out, `"2006-01-02T15:04:05.000Z"`)
}

// appendCompleted appends the result of a call, with `resultType: "complete"` where it does
// not say what it is. What it does say may be of an extension that berth does not know: its
// client judges.
func appendCompleted(out, result []byte) []byte {
	if _, _, ok := locate(result, "resultType"); ok {
		return append(out, result...)
	}
	open := bytes.IndexByte(result, '{') + 1
	out = append(append(out, result[:open]...), `"resultType":"complete"`...)
	if rest := bytes.TrimLeft(result[open:], " \t\r\n"); len(rest) > 0 && rest[0] != '}' {
		out = append(out, ',')
	}
	return append(out, result[open:]...)
}

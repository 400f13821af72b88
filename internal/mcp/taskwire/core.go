package taskwire

import (
	"slices"
	"strconv"
	"time"

	"berth/internal/jsonobject"
	"berth/internal/mcp"

	"github.com/go-json-experiment/json/jsontext"
)

// AsTask returns a legacy tools/call that asks to be made a task, which lives as long as its server
// wants. Every other byte stays. The error is an *Error.
func AsTask(call []byte) ([]byte, error) {
	return mcp.PatchRequest(jsonobject.Setting([]byte("{}"), "params", mcp.MemberTask), call)
}

// AddSupports notes, by tool, what the result of a tools/list says of tasks; "" is nothing.
func AddSupports(tools map[string]string, result []byte) {
	AddSupport(mcp.Response([]byte("0"), result), func(tool, says string) string {
		tools[tool] = says
		return ""
	})
}

// ReadCore reads a task as a server of 2025-11-25 tells of it (tasks, "Task"). It fails if that
// tells of none, or is ambiguous. A status that the extension has not is taken for work, and times that cannot be read are zero.
func ReadCore(task []byte) (View, error) {
	if jsontext.Value(task).Kind() != '{' {
		return View{}, errNoTask
	}
	values, err := jsonobject.Named(task, "taskId", "status", "statusMessage", "createdAt", "lastUpdatedAt", "ttl", "pollInterval")
	if err != nil {
		return View{}, err
	}
	var v View
	v.ID, _ = jsonobject.Text(values[0])
	v.Status, _ = jsonobject.Text(values[1])
	v.Message, _ = jsonobject.Text(values[2])
	if v.ID == "" || v.Status == "" {
		return View{}, errNoTask
	}
	if !slices.Contains([]string{"input_required", "completed", "failed", "cancelled"}, v.Status) {
		v.Status = "working"
	}
	v.Created, v.Updated = timeIn(values[3]), timeIn(values[4])
	v.TTL = durationIn(values[5])
	v.PollInterval = durationIn(values[6])
	return v, nil
}

// Terminal reports whether the task has ended.
func (v *View) Terminal() bool { return (&mcp.Task{Status: v.Status}).Terminal() }

// HandedOut is the task that the result of a call hands out in the core dialect; nil if it does not.
func HandedOut(result []byte) []byte {
	if task := jsonobject.At(result, "task"); task.Kind() == '{' {
		return task
	}
	return nil
}

// Begin says when the task was created, and when it last changed, where its server does not.
func (v *View) Begin(at time.Time) {
	if v.Created.IsZero() {
		v.Created = at
	}
	if v.Updated.IsZero() {
		v.Updated = v.Created
	}
}

func timeIn(value jsontext.Value) time.Time {
	written, _ := jsonobject.Text(value)
	at, _ := time.Parse(time.RFC3339, written) // it fails with the zero time
	return at
}

// durationIn reads Milliseconds; 0 is none, or no number.
func durationIn(value jsontext.Value) time.Duration {
	ms, err := strconv.ParseFloat(string(value), 64)
	if value.Kind() != '0' || err != nil || ms <= 0 {
		return 0
	}
	return mcp.Milliseconds(ms)
}

// WithoutRelated returns a result without what says which task it is of: in the extension the
// task bears it.
func WithoutRelated(result []byte) []byte {
	out, _ := jsonobject.Patch{{Name: "_meta", Within: jsonobject.Patch{{Name: mcp.MetaCoreRelatedTask}}}}.Tried(result)
	return out
}

package mcp

import (
	"slices"
	"strconv"
	"time"

	"berth/internal/jsonobject"

	"github.com/go-json-experiment/json/jsontext"
)

// HasCoreTasks reports whether the result of an initialize lets calls of tools be made tasks
// (2025-11-25, tasks, "Server Capabilities").
func HasCoreTasks(initialized []byte) bool {
	return jsonobject.IsString(jsonobject.At(initialized, "protocolVersion"), VersionCoreTasks) &&
		HasCapability(initialized, "tasks", "requests", "tools", "call")
}

// AsTask returns a legacy tools/call that asks to be made a task, which lives as long as its server
// wants. Every other byte stays. The error is an *Error.
func AsTask(call []byte) ([]byte, error) {
	return PatchRequest(jsonobject.Setting([]byte("{}"), "params", memberTask), call)
}

// AddTaskSupports notes, by tool, what the result of a tools/list says of tasks; "" is nothing.
func AddTaskSupports(tools map[string]string, result []byte) {
	AddTaskSupport(Response([]byte("0"), result), func(tool, says string) string {
		tools[tool] = says
		return ""
	})
}

// ReadCoreTask reads a task as a server of 2025-11-25 tells of it (tasks, "Task"). It fails if that
// tells of none, or is ambiguous. A status that the extension has not is taken for work, and times that cannot be read are zero.
func ReadCoreTask(task []byte) (TaskView, error) {
	if jsontext.Value(task).Kind() != '{' {
		return TaskView{}, errNoTask
	}
	values, err := jsonobject.Named(task, "taskId", "status", "statusMessage", "createdAt", "lastUpdatedAt", "ttl", "pollInterval")
	if err != nil {
		return TaskView{}, err
	}
	var v TaskView
	v.ID, _ = jsonobject.Text(values[0])
	v.Status, _ = jsonobject.Text(values[1])
	v.Message, _ = jsonobject.Text(values[2])
	if v.ID == "" || v.Status == "" {
		return TaskView{}, errNoTask
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
func (v *TaskView) Terminal() bool { return (&Task{Status: v.Status}).Terminal() }

// HandedOut is the task that the result of a call hands out in the core dialect; nil if it does not.
func HandedOut(result []byte) []byte {
	if task := jsonobject.At(result, "task"); task.Kind() == '{' {
		return task
	}
	return nil
}

// Begin says when the task was created, and when it last changed, where its server does not.
func (v *TaskView) Begin(at time.Time) {
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

// durationIn reads milliseconds; 0 is none, or no number.
func durationIn(value jsontext.Value) time.Duration {
	ms, err := strconv.ParseFloat(string(value), 64)
	if value.Kind() != '0' || err != nil || ms <= 0 {
		return 0
	}
	return milliseconds(ms)
}

// WithoutRelatedTask returns a result without what says which task it is of: in the extension the
// task bears it.
func WithoutRelatedTask(result []byte) []byte {
	out, _ := jsonobject.Patch{{Name: "_meta", Within: jsonobject.Patch{{Name: coreRelatedTask}}}}.Tried(result)
	return out
}

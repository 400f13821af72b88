package client

import (
	"encoding/json"
	"time"
)

// Task is a task as either dialect shows it.
type Task struct {
	ID        string          // as the server made it
	Status    string          // as the specification spells it
	Message   string          // what the server says of the status; empty: nothing
	TTL       time.Duration   // from its creation; 0: unlimited, or not said
	PollEvery time.Duration   // as the server suggests; 0: it does not
	Result    json.RawMessage // extension, of a completed task; nil otherwise
}

// Terminal reports whether the task's state will not change any more.
func (t Task) Terminal() bool {
	return t.Status == "completed" || t.Status == "failed" || t.Status == "cancelled"
}

// taskView has the members of both dialects: the extension's end in Ms.
type taskView struct {
	ResultType     string          `json:"resultType"`
	TaskID         string          `json:"taskId"`
	Status         string          `json:"status"`
	StatusMessage  string          `json:"statusMessage"`
	TTL            float64         `json:"ttl"`
	TTLMs          float64         `json:"ttlMs"`
	PollInterval   float64         `json:"pollInterval"`
	PollIntervalMs float64         `json:"pollIntervalMs"`
	Result         json.RawMessage `json:"result"`
}

func (v taskView) task() Task {
	return Task{
		ID: v.TaskID, Status: v.Status, Message: v.StatusMessage, Result: v.Result,
		TTL: milliseconds(v.TTL, v.TTLMs), PollEvery: milliseconds(v.PollInterval, v.PollIntervalMs),
	}
}

// milliseconds is the larger of both, within what a duration may be.
func milliseconds(a, b float64) time.Duration {
	const most = 1e12 // some thirty years
	return time.Duration(min(max(a, b, 0), most)) * time.Millisecond
}

// ReadTask reads the result of tasks/get; ok is false if it shows no task.
func ReadTask(result json.RawMessage) (task Task, ok bool) {
	var view taskView
	if json.Unmarshal(result, &view) != nil || view.TaskID == "" {
		return Task{}, false
	}
	return view.task(), true
}

// ReadMade reads the result of a tool call of that revision; ok is false if it made
// no task.
func ReadMade(version string, result json.RawMessage) (task Task, ok bool) {
	if !(Message{Version: version}).modern() {
		var core struct {
			Task json.RawMessage `json:"task"`
		}
		if json.Unmarshal(result, &core) != nil || core.Task == nil {
			return Task{}, false
		}
		return ReadTask(core.Task)
	}
	var view taskView
	if json.Unmarshal(result, &view) != nil || view.ResultType != "task" {
		return Task{}, false
	}
	return ReadTask(result)
}

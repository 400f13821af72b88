package webhooks

import (
	"encoding/json"

	"berth/internal/webhook"
	"berth/upgrade/task"
)

// payload is what a receiver is told. It is thin (Standard Webhooks, "Payload structure"): of what was
// asked and answered nothing stands in it, nor whose the task is.
type payload struct {
	Type      string      `json:"type"`
	Timestamp string      `json:"timestamp"` // of what it tells
	Data      payloadTask `json:"data"`
}

type payloadTask struct {
	ID     string `json:"taskId"`
	Pool   string `json:"pool"`
	Tool   string `json:"tool"`
	Status string `json:"status"`
}

// timestamp is RFC 3339 with milliseconds, in UTC.
const timestamp = "2006-01-02T15:04:05.000Z07:00"

func messageOf(m task.Message, t *task.Task, news task.News) webhook.Message {
	body, _ := json.Marshal(payload{ // it always marshals
		Type: "task." + string(news), Timestamp: t.Updated.UTC().Format(timestamp),
		Data: payloadTask{t.ID, t.Pool, t.Tool, string(news)},
	})
	return webhook.Message{ID: m.ID(), Body: body}
}

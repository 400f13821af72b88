package mcp

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Messages on a subscription's stream (2026-07-28, subscriptions; Tasks extension,
// "Task Status Notifications").
const (
	NotificationAcknowledged = "notifications/subscriptions/acknowledged"
	NotificationTask         = "notifications/tasks"

	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// Agreed returns what an acknowledgement agrees to.
func Agreed(message []byte) (Filter, error) {
	from, to, ok := locate(message, "params", "notifications")
	if !ok {
		return nil, nil
	}
	return ParseFilter(message[from:to])
}

// Acknowledgement returns the first message of the subscription that the request
// with this id opened.
func Acknowledgement(id []byte, agreed Filter) []byte {
	return notification(NotificationAcknowledged, id, append([]byte(`"notifications":`), agreed.Encode()...))
}

// SubscriptionEnd returns the completion result of a subscription, which tells its
// client that nothing broke ("Graceful Closure").
func SubscriptionEnd(id []byte) []byte {
	result := append([]byte(`{"resultType":"complete","_meta":{"`+metaSubscription+`":`), id...)
	return Response(id, append(result, ","+serverInfo+"}}"...))
}

// TaskNotification tells a subscription of a task's state, given as the result of
// tasks/get: but for what belongs to a result, both are the same.
func TaskNotification(id, result []byte) []byte {
	task := make([]byte, 0, len(result))
	err := members(result, nil, func(name []byte, value jsontext.Value) error {
		if string(name) == "resultType" || string(name) == "_meta" {
			return nil
		}
		if len(task) > 0 {
			task = append(task, ',')
		}
		quoted, _ := jsontext.AppendQuote(nil, name)
		task = append(append(append(task, quoted...), ':'), value...)
		return nil
	})
	if err != nil {
		return nil
	}
	return notification(NotificationTask, id, task)
}

// ForSubscription returns a notification as the subscription with this id gets it, which it
// names if it names none; nil if there is no place for that.
func ForSubscription(message, id []byte) []byte {
	names := patch{{name: "params", within: patch{{name: "_meta", within: patch{{name: metaSubscription, value: id}}}}}}
	out, err := names.apply(message)
	if err != nil {
		return nil
	}
	return out
}

// ListenFor returns the body of a subscriptions/listen with another filter; every
// other byte stays as it came.
func ListenFor(body []byte, filter Filter) []byte {
	return replace(body, filter.Encode(), "params", "notifications")
}

func notification(method string, id, params []byte) []byte {
	return bytes.Join([][]byte{[]byte(notificationHead(method)), id, []byte(`},`), params, []byte(`}}`)}, nil)
}

// notificationHead is what stands before the id of the subscription.
func notificationHead(method string) string {
	return `{"jsonrpc":"2.0","method":"` + method + `","params":{"_meta":{"` + metaSubscription + `":`
}

package mcp

import (
	"bytes"

	"berth/internal/jsonobject"
	"berth/internal/mcp/listen"
)

// Messages on a subscription's stream (2026-07-28; Tasks extension, "Task Status Notifications").
const (
	NotificationAcknowledged = "notifications/subscriptions/acknowledged"
	NotificationTask         = "notifications/tasks"

	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// Agreed returns what an acknowledgement agrees to.
func Agreed(message []byte) (listen.Filter, error) {
	return listen.Parse(jsonobject.At(message, "params", "notifications"))
}

// Acknowledgement returns the first message of the subscription that this request opened.
func Acknowledgement(id []byte, agreed listen.Filter) []byte {
	return notification(NotificationAcknowledged, id, append([]byte(`"notifications":`), agreed.Encode()...))
}

// SubscriptionEnd returns the result by which a client knows that nothing broke ("Graceful
// Closure").
func SubscriptionEnd(id []byte) []byte {
	result := append([]byte(`{"resultType":"complete","_meta":{"`+metaSubscription+`":`), id...)
	return Response(id, append(result, ","+OwnServerInfo+"}}"...))
}

// TaskNotification tells a subscription of a task, given as the result of tasks/get.
func TaskNotification(id, result []byte) []byte {
	task, err := jsonobject.Patch{{Name: "resultType"}, {Name: "_meta"}}.Apply(result)
	if err != nil {
		return nil
	}
	task = bytes.TrimSpace(task)
	return notification(NotificationTask, id, task[1:len(task)-1])
}

// ForSubscription returns a notification that names its subscription; nil if there is no place for
// that.
func ForSubscription(message, id []byte) []byte {
	out, _ := jsonobject.Setting(id, "params", "_meta", metaSubscription).Apply(message)
	return out
}

// ListenFor returns a subscriptions/listen with another filter; every other byte stays.
func ListenFor(body []byte, filter listen.Filter) []byte {
	return jsonobject.Replace(body, filter.Encode(), "params", "notifications")
}

func notification(method string, id, params []byte) []byte {
	return bytes.Join([][]byte{[]byte(NotificationHead(method)), id, []byte(`},`), params, []byte(`}}`)}, nil)
}

// NotificationHead begins a notification on a subscription's stream, up to the raw id of the subscription.
func NotificationHead(method string) string {
	return `{"jsonrpc":"2.0","method":"` + method + `","params":{"_meta":{"` + metaSubscription + `":`
}

// Subscribed is what berth reads in a message on a subscription's stream.
type Subscribed struct {
	Answer
	URI          string // params.uri
	Subscription []byte // raw JSON of the subscriptionId in params._meta; nil: none was read
}

// PeekSubscribed is PeekAnswer for a message on a subscription's stream.
func PeekSubscribed(data []byte, cut bool) (s Subscribed, err error) {
	err = s.peek(data, cut, &s, "")
	return s, err
}

// ResourceURI returns params.uri of a message, "" if there is none.
func ResourceURI(message []byte) string {
	uri, _ := jsonobject.Text(jsonobject.At(message, "params", "uri"))
	return uri
}

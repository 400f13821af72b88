package mcp

import (
	"slices"
	"strings"
)

// Methods that berth treats on their own.
const (
	MethodDiscover   = "server/discover"
	MethodInitialize = "initialize"
	MethodPing       = "ping"
	MethodCallTool   = "tools/call"
	MethodListTools  = "tools/list"
	MethodGetPrompt  = "prompts/get"
	MethodGetTask    = "tasks/get"
	MethodTaskResult = "tasks/result"
	MethodListTasks  = "tasks/list"
	MethodCancelTask = "tasks/cancel"
	MethodUpdateTask = "tasks/update"
	MethodDeleteTask = "tasks/delete" // first draft only
	MethodListen     = "subscriptions/listen"

	MethodListPrompts   = "prompts/list"
	MethodComplete      = "completion/complete"
	MethodReadResource  = "resources/read"
	MethodListResources = "resources/list"
	MethodListTemplates = "resources/templates/list"

	MethodLog          = "notifications/message"
	MethodUpdated      = "notifications/resources/updated"
	MethodToolsChanged = "notifications/tools/list_changed"
	MethodInitialized  = "notifications/initialized"
	MethodCancelled    = "notifications/cancelled"
	MethodProgress     = "notifications/progress"
	MethodSetLevel     = "logging/setLevel"
	MethodSubscribe    = "resources/subscribe"
	MethodUnsubscribe  = "resources/unsubscribe"
)

// MethodTaskStatus is the core dialect's notification of a change (2025-11-25, "Task Status
// Notification").
const MethodTaskStatus = "notifications/tasks/status"

const taskPrefix = "tasks/"

func isTaskMethod(method string) bool { return strings.HasPrefix(method, taskPrefix) }

func isOfNotifications(method string) bool { return strings.HasPrefix(method, "notifications/") }

// isOfRequests reports whether a message of this method has an id by the specification ("Requests"): as a notification it would be
// carried out by some servers, though nothing that berth does for requests, a limit of their rate for one, is done for it. Of a
// method that berth does not know nobody can say.
func isOfRequests(method string) bool {
	return isTaskMethod(method) || IsKnownMethod(method) && !isOfNotifications(method)
}

// IsPureRead reports whether a request of this method changes nothing, so that it may be sent again
// elsewhere.
func IsPureRead(method string) bool {
	switch method {
	case MethodDiscover, MethodReadResource, MethodGetPrompt, MethodComplete, MethodPing:
		return true
	}
	return strings.HasSuffix(method, "/list") && !isTaskMethod(method)
}

// ReadsTask reports whether a request of this method leaves its task as it is.
func ReadsTask(method string) bool { return method == MethodGetTask || method == MethodTaskResult }

// MayCreateTask reports whether the answer to a request of this method may bear a task's handle:
// tools/call, and methods berth does not know, for readers are to expect it of others (Tasks
// extension, "Supported Methods").
func MayCreateTask(method string) bool {
	if isTaskMethod(method) || IsPureRead(method) {
		return false
	}
	switch method {
	case "", MethodInitialize, MethodListen, MethodSetLevel, MethodSubscribe, MethodUnsubscribe:
		return false
	}
	return !isOfNotifications(method)
}

// MayWait reports whether an answer to this method may rightly take as long as a tool takes.
func MayWait(method string) bool {
	return method == MethodTaskResult || method == MethodListen || MayCreateTask(method)
}

// nameField returns the member of params that Mcp-Name mirrors for method, or "" (2026-07-28,
// "Standard Request Headers"; Tasks extension, "Routing Headers").
func nameField(method string) string {
	switch {
	case method == MethodCallTool, method == MethodGetPrompt:
		return "name"
	case method == MethodReadResource:
		return "uri"
	case isTaskMethod(method):
		return "taskId"
	}
	return ""
}

// namesTask reports whether method is defined to name a task in params.taskId. What others under
// "tasks/" mirror is for a revision to come to say.
func namesTask(method string) bool {
	return slices.Contains([]string{MethodGetTask, MethodTaskResult, MethodCancelTask, MethodUpdateTask}, method)
}

var knownMethods = []string{
	MethodInitialize, MethodPing, MethodCallTool, MethodListen,
	MethodGetTask, MethodTaskResult, MethodListTasks, MethodCancelTask, MethodUpdateTask, MethodDeleteTask,
	MethodDiscover, MethodListTools, MethodListPrompts, MethodGetPrompt, MethodComplete,
	MethodListResources, MethodListTemplates, MethodReadResource, MethodSubscribe, MethodUnsubscribe,
	MethodSetLevel, MethodInitialized, MethodCancelled,
	MethodProgress, "notifications/roots/list_changed",
}

var methods = lexiconOf(knownMethods...)

// IsKnownMethod reports whether a published revision, or the first draft of tasks, has the method.
func IsKnownMethod(method string) bool { return methods.has(method) }

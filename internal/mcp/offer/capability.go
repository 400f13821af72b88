package offer

import (
	"berth/internal/jsonobject"
	"berth/internal/mcp"
)

// OffersTasks reports whether the response to an initialize has tasks among its capabilities.
func OffersTasks(message []byte) bool {
	_, _, ok := jsonobject.Locate(message, "result", "capabilities", "tasks")
	return ok && mcp.ResultObject(message) != nil
}

// AddTasksCapability returns the response to an initialize with tasks among its capabilities
// (2025-11-25, tasks, "Server Capabilities"), and reports whether it had to be added. Every other
// byte stays. Left alone is what has it, negotiates another version, or is ambiguous.
func AddTasksCapability(message []byte, list bool) ([]byte, bool) {
	result := mcp.ResultObject(message)
	negotiated := jsonobject.IsString(jsonobject.At(result, "protocolVersion"), mcp.VersionCoreTasks) && jsonobject.At(result, "capabilities").Kind() == '{'
	if OffersTasks(message) || !negotiated {
		return message, false
	}
	tasks := `{"cancel":{},"requests":{"tools":{"call":{}}}}`
	if list {
		tasks = `{"list":{},` + tasks[1:]
	}
	return jsonobject.Setting([]byte(tasks), "result", "capabilities", "tasks").Tried(message)
}

// AddTasksExtension returns the response to a server/discover with the Tasks extension among its
// capabilities ("Capability Negotiation"), and reports whether it had to be added. Every other byte
// stays. Left alone is what has it in whatever form, and what is ambiguous.
func AddTasksExtension(message []byte) ([]byte, bool) {
	path := []string{"result", "capabilities", "extensions", mcp.TasksExtension}
	if _, _, ok := jsonobject.Locate(message, path...); ok || mcp.ResultObject(message) == nil {
		return message, false
	}
	return jsonobject.Setting([]byte("{}"), path...).Tried(message)
}

// HasCapability reports whether the result of an initialize declares a capability of the server's.
func HasCapability(initialized []byte, path ...string) bool {
	value := jsonobject.At(initialized, append([]string{"capabilities"}, path...)...)
	return value != nil && value.Kind() != 'n' && value.Kind() != 'f'
}

// HasCoreTasks reports whether the result of an initialize lets calls of tools be made tasks
// (2025-11-25, tasks, "Server Capabilities").
func HasCoreTasks(initialized []byte) bool {
	return jsonobject.IsString(jsonobject.At(initialized, "protocolVersion"), mcp.VersionCoreTasks) &&
		HasCapability(initialized, "tasks", "requests", "tools", "call")
}

package mcp

// AddTasksExtension returns the response to a server/discover with the Tasks extension
// among result.capabilities.extensions, and reports whether it had to be added (Tasks
// extension, "Capability Negotiation"). Every other byte stays as it came. Left alone is
// what has the extension in whatever form, what is no result, and what two readers could
// understand differently.
func AddTasksExtension(message []byte) ([]byte, bool) {
	path := []string{"result", "capabilities", "extensions", TasksExtension}
	if _, _, ok := locate(message, path...); ok || ResultObject(message) == nil {
		return message, false
	}
	add := change{name: TasksExtension, value: []byte("{}")}
	for _, name := range []string{"extensions", "capabilities", "result"} {
		add = change{name: name, within: patch{add}}
	}
	out, err := patch{add}.apply(message)
	if err != nil {
		return message, false
	}
	return out, true
}

package mcp

// VersionCoreTasks is the one revision whose core has tasks. Before it there were none,
// and after it they are an extension.
const VersionCoreTasks = "2025-11-25"

// OffersTasks reports whether the response to an initialize has tasks among
// result.capabilities, in whatever form.
func OffersTasks(message []byte) bool {
	_, _, ok := locate(message, "result", "capabilities", "tasks")
	return ok && ResultObject(message) != nil
}

// AddTasksCapability returns the response to an initialize with tasks among
// result.capabilities, and reports whether it had to be added: tools are called as tasks,
// tasks are cancelled and, with list, listed (2025-11-25, tasks, "Server Capabilities").
// Every other byte stays as it came. Left alone is what has the capability in whatever
// form, what negotiates another version than VersionCoreTasks, what is no result with
// capabilities, and what two readers could understand differently.
func AddTasksCapability(message []byte, list bool) ([]byte, bool) {
	if OffersTasks(message) || !negotiatesCoreTasks(message) {
		return message, false
	}
	tasks := `{"cancel":{},"requests":{"tools":{"call":{}}}}`
	if list {
		tasks = `{"list":{},` + tasks[1:]
	}
	add := change{name: "capabilities", within: patch{{name: "tasks", value: []byte(tasks)}}}
	out, err := patch{{name: "result", within: patch{add}}}.apply(message)
	if err != nil {
		return message, false
	}
	return out, true
}

// negotiatesCoreTasks reports whether message is a result of that version, with
// capabilities that something can be added to.
func negotiatesCoreTasks(message []byte) bool {
	result := ResultObject(message)
	return isString(memberAt(result, "protocolVersion"), VersionCoreTasks) && memberAt(result, "capabilities").Kind() == '{'
}

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

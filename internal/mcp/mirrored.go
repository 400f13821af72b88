package mcp

// VersionModern is the first revision of the modern era.
const VersionModern = versionModern

// MirrorHeaders sets the headers that a client of the modern era sends with this body (2026-07-28, Streamable HTTP,
// "Request Metadata"). Of any other body it sets none.
func MirrorHeaders(set func(name, value string), body []byte) {
	var m Message
	if _, refusal := m.Peek(body, 1); refusal != nil || m.Batch || len(m.Calls) != 1 {
		return
	}
	c := &m.Calls[0]
	if c.decode("", ""); !IsModern(c.metaVersion) {
		return
	}
	set(HeaderVersion, c.metaVersion)
	set(HeaderMethod, c.Method)
	switch nameField(c.Method) {
	case "":
	case "taskId":
		set(HeaderName, EncodeName(c.TaskID))
	default:
		set(HeaderName, EncodeName(c.Name))
	}
}

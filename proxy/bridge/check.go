package bridge

import (
	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/eras"
	"berth/internal/wire"
	"berth/proxy/bridge/sessions"
)

// read reads a modern request and judges it as a modern server does (2026-07-28, Streamable HTTP,
// "Server Validation"; basic, "_meta"). What contradicts itself was refused before.
func (f *face) read(out *exchange.Request) (*call, *mcp.Error) {
	c := &call{f: f, who: sessions.Borrower{Out: out, Among: f.b.options().Isolation}, came: out}
	message := &c.message
	id, refusal := message.Peek(out.Body, 1)
	c.id = id
	if refusal == nil {
		refusal = mcp.Classify(message, out.Header)
	}
	if refusal != nil {
		return c, refusal
	}
	c.Call = &message.Calls[0]
	c.who.Client = eras.ClientOf(out.Body)
	if c.Kind == mcp.KindNotification {
		return c, nil
	}
	if refusal := judge(c.Call, &c.who.Client, out.Header, f.b.options().Endpoint.Lenient); refusal != nil {
		return c, refusal
	}
	if !out.Header.Has(mcp.HeaderVersion) { // it was let pass without: another berth that it is passed on to goes by that
		out.Header.Set(mcp.HeaderVersion, c.who.Client.Version)
	}
	c.who.Caller = sessions.CallerOf(out)
	return c, nil
}

// judge judges what a request of a client's says of itself, and its headers.
func judge(c *mcp.Call, client *eras.Client, h *wire.Header, lenient bool) *mcp.Error {
	switch version := client.Version; {
	case client.Capabilities == nil || version == "":
		return errMeta
	case !h.Has(mcp.HeaderVersion) && !lenient:
		return errNoHeader(mcp.HeaderVersion)
	case version != modernVersion:
		return errVersion(version)
	case h.Get(mcp.HeaderMethod) == "" && !lenient:
		return errNoHeader(mcp.HeaderMethod)
	case (isNamed(c.Method) || isOfTask(c.Method) && c.HasTaskID) && h.Get(mcp.HeaderName) == "" && !lenient:
		return errNoHeader(mcp.HeaderName)
	}
	return nil
}

// isNamed reports whether Mcp-Name mirrors a member of the method's params.
func isNamed(method string) bool {
	return method == mcp.MethodCallTool || method == mcp.MethodGetPrompt || method == mcp.MethodReadResource
}

// asks reports whether a server may ask the client in mid-call (2026-07-28, multi round-trip
// requests, "Supported Requests").
func asks(method string) bool { return isNamed(method) }

// isCacheable reports whether results of a method bear caching hints (2026-07-28, "Caching").
func isCacheable(method string) bool {
	switch method {
	case mcp.MethodListTools, mcp.MethodListPrompts, mcp.MethodListResources, mcp.MethodListTemplates, mcp.MethodReadResource, mcp.MethodDiscover:
		return true
	}
	return false
}

// isOfTask reports whether a method is one of the Tasks extension about one task.
func isOfTask(method string) bool {
	return method == mcp.MethodGetTask || method == mcp.MethodUpdateTask || method == mcp.MethodCancelTask
}

// absent are methods of other revisions and dialects: a modern server has none of them, whatever
// the legacy one behind has.
func absent(method string) bool {
	switch method {
	case mcp.MethodInitialize, mcp.MethodPing, mcp.MethodSetLevel, mcp.MethodSubscribe, mcp.MethodUnsubscribe,
		mcp.MethodTaskResult, mcp.MethodListTasks:
		return true
	}
	return false
}

// needs are the capabilities of a server without which it has not a method.
var needs = map[string]string{
	mcp.MethodListTools: "tools", mcp.MethodCallTool: "tools",
	mcp.MethodListPrompts: "prompts", mcp.MethodGetPrompt: "prompts",
	mcp.MethodListResources: "resources", mcp.MethodListTemplates: "resources", mcp.MethodReadResource: "resources",
	mcp.MethodComplete: "completions",
}

// mayComplete reports whether a server of this version may have a method though it does not say so: the capability of completion came with
// 2025-03-26, and the method was there before.
func mayComplete(method, version string) bool {
	return method == mcp.MethodComplete && version < "2025-03-26"
}

// isOffered reports whether a server of this version, which was sent a call and so has announced what the method needs, has the method:
// a -32601 of its is about what the call names (2026-07-28, Streamable HTTP, "Protocol Version Header": 404 is for methods). A list names
// nothing: a server may have resources, and no list of templates.
func isOffered(method, version string) bool {
	return isNamed(method) || method == mcp.MethodComplete && !mayComplete(method, version)
}

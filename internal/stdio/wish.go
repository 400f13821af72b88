package stdio

import (
	"strings"

	"berth/internal/mcp"
	"berth/internal/wire"
)

// What a session may be subscribed to, with what it has asked to be.
const (
	maxSubscribed      = 1000
	maxSubscribedBytes = 64 << 10 // of URIs
)

var errManySubscriptions = &mcp.Error{
	Status: wire.StatusTooManyRequests, Code: mcp.CodeRateLimited, Message: "the session has too many subscriptions",
	Reason: ReasonTooManySubscriptions, Outcome: mcp.NotExecuted,
}

// wishOf is what a request says of what its session is to hear: a resource's URI or a level of logs, "" where it says none that can be kept.
func wishOf(method string, body []byte) string {
	switch method {
	case mcp.MethodSetLevel:
		if level := mcp.Param(body, "level"); mcp.Severity(level) >= 0 {
			return level
		}
	case mcp.MethodSubscribe, mcp.MethodUnsubscribe:
		if uri := mcp.Param(body, "uri"); len(uri) <= maxSubscribedBytes {
			return uri
		}
	}
	return ""
}

// mayWish refuses a subscription for which the call's session has no room.
func (c *call) mayWish(body []byte) *mcp.Error {
	if c.method != mcp.MethodSubscribe || c.session.subscribed[c.wish] {
		return nil
	}
	if c.wish == "" && mcp.Param(body, "uri") != "" { // too long
		return errManySubscriptions
	}
	n, size := 1, len(c.wish)
	for uri := range c.session.subscribed {
		n, size = n+1, size+len(uri)
	}
	for other := range c.session.calls {
		if other.method == mcp.MethodSubscribe {
			n, size = n+1, size+len(other.wish)
		}
	}
	if n > maxSubscribed || size > maxSubscribedBytes {
		return errManySubscriptions
	}
	return nil
}

// grant keeps what a session wishes to hear, once its process has granted that.
func (c *call) grant() {
	switch {
	case c.wish == "":
	case c.method == mcp.MethodSetLevel:
		c.session.level = c.wish
	case c.method == mcp.MethodSubscribe:
		c.session.subscribed[c.wish] = true
	case c.method == mcp.MethodUnsubscribe:
		delete(c.session.subscribed, c.wish)
	}
}

// hears reports whether the session is subscribed to the resource, or to one that it is a part of (2025-11-25, resources,
// "Subscriptions").
func (s *session) hears(uri string) bool {
	if s.subscribed[uri] {
		return true
	}
	for whole := range s.subscribed {
		if isPart(uri, whole) {
			return true
		}
	}
	return false
}

// isPart reports whether a URI goes on behind another one, from a delimiter.
func isPart(uri, whole string) bool {
	rest, goesOn := strings.CutPrefix(uri, whole)
	return goesOn && rest != "" && strings.ContainsAny(whole[len(whole)-1:]+rest[:1], "/?#")
}

// wanted reports whether another session of the process is subscribed to the resource that a request ends a subscription to, or
// has asked to be.
func (p *peer) wanted(c *call) bool {
	for session := range p.sessions {
		if session != c.session && session.subscribed[c.wish] {
			return true
		}
	}
	for _, other := range p.calls {
		if other.session != c.session && other.method == mcp.MethodSubscribe && other.wish == c.wish {
			return true
		}
	}
	return false
}

// atLevel is the request that sets a level of logs, one that mcp knows.
func atLevel(level string) []byte {
	return []byte(`{"jsonrpc":"2.0","id":0,"method":"` + mcp.MethodSetLevel + `","params":{"level":"` + level + `"}}`)
}

package stdio

import (
	"bytes"
	"strings"

	"berth/internal/mcp"
)

// notification takes one of the process's. Each session gets it on one stream at most
// (2025-11-25, transports, "Multiple Connections").
func (p *peer) notification(message []byte, method string) {
	switch {
	case method == mcp.MethodProgress:
		p.progress(message)
	case method == mcp.MethodCancelled:
		p.withdraw(message)
	case method == mcp.MethodLog:
		p.log(message)
	case method == mcp.MethodTaskStatus:
		if c := p.tasks.owner(mcp.Param(message, "taskId")); c != nil {
			c.session.standing.add(message, false)
		}
	case method == mcp.MethodUpdated:
		p.updated(message)
	case strings.HasSuffix(method, "/list_changed"):
		p.tellAll(message)
	case p.alone, len(p.sessions) == 1:
		p.other(message)
	}
}

// other is what only one session can be meant by: it goes where its client listens.
func (p *peer) other(message []byte) {
	asker, ambiguous := p.calls.asker("", &p.left, p.sessions)
	if ambiguous {
		return
	}
	for session := range p.sessions {
		if _, read, _, _, _ := session.standing.state(); read {
			session.standing.add(message, false)
			return
		}
	}
	if asker != nil {
		asker.stream.add(message, false)
		return
	}
	p.tellAll(message)
}

// progress goes to the call whose request gave the token.
func (p *peer) progress(message []byte) {
	said, ok := mcp.PeekProgress(message)
	if !ok {
		return
	}
	n, _ := numbered(bytes.Trim(said.Token, `"`)) // some make a string of it
	if c := p.calls[n]; c != nil && c.token != nil && c.stream != nil {
		c.stream.add(mcp.WithProgressToken(message, c.token), false)
	} else if c = p.tasks[n]; c != nil && c.token != nil && !c.session.over {
		c.session.standing.add(mcp.WithProgressToken(message, c.token), false)
	}
}

// log goes to the call that can have caused it. What one session's call logs is not for others, also once its client has left it.
func (p *peer) log(message []byte) {
	switch asker, ambiguous := p.calls.asker("", &p.left, p.sessions); {
	case asker != nil:
		asker.stream.add(message, false)
	case !ambiguous:
		p.tellAll(message)
	}
}

// updated goes to the sessions that subscribed to the resource. One that has a process of its caller's to itself hears all that it says, as its client
// would without berth: another session of the caller's may have subscribed elsewhere.
func (p *peer) updated(message []byte) {
	uri, own := mcp.Param(message, "uri"), len(p.sessions) == 1 && p.server.options.Isolation != IsolateAll
	for session := range p.sessions {
		if own || session.hears(uri) {
			session.standing.add(message, false)
		}
	}
}

func (p *peer) tellAll(message []byte) {
	for session := range p.sessions {
		session.standing.add(message, false)
	}
}

package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"berth/internal/client"
	"berth/internal/mcp"
)

// speech is what a URL speaks.
type speech struct {
	modern bool
	tasks  bool       // the modern era has the Tasks extension
	legacy *handshake // nil: no legacy era
}

// handshake is an answer to initialize.
type handshake struct {
	Version      string `json:"protocolVersion"`
	Capabilities struct {
		Tasks *struct {
			List     json.RawMessage `json:"list"`
			Requests struct {
				Tools struct {
					Call json.RawMessage `json:"call"`
				} `json:"tools"`
			} `json:"requests"`
		} `json:"tasks"`
	} `json:"capabilities"`

	session *session // nil: the server hands out none
}

// makesTasks reports whether a tool call may ask for a core task (2025-11-25, tasks,
// "Capabilities").
func (h *handshake) makesTasks() bool {
	return h.Version == client.Legacy && h.Capabilities.Tasks != nil && h.Capabilities.Tasks.Requests.Tools.Call != nil
}

func (h *handshake) listsTasks() bool {
	return h.Capabilities.Tasks != nil && h.Capabilities.Tasks.List != nil
}

// discover finds out which eras the URL speaks, as clients do: server/discover, then
// initialize. If it speaks neither, the run ends.
func (r *run) discover(ctx context.Context) speech {
	var s speech
	modern := r.wire.request(ctx, scope{version: client.Modern}, "server/discover", nil)
	s.modern, s.tasks = readDiscovery(modern)
	if s.modern {
		r.revisions = append(r.revisions, client.Modern)
	}
	legacy, shook := r.initialize(ctx, scope{})
	if s.legacy = shook; shook != nil {
		r.revisions = append(r.revisions, shook.Version)
	}
	if !s.modern && shook == nil && r.wire.halt == nil && ctx.Err() == nil {
		r.end = fmt.Errorf("no MCP there: server/discover: %s; initialize: %s", modern, legacy)
	}
	return s
}

func readDiscovery(r reply) (modern, tasks bool) {
	if r.judge() != held {
		return false, false
	}
	var discovered struct {
		Versions     []string `json:"supportedVersions"`
		Capabilities struct {
			Extensions map[string]json.RawMessage `json:"extensions"`
		} `json:"capabilities"`
	}
	if json.Unmarshal(r.answer.Result, &discovered) != nil {
		return false, false
	}
	_, tasks = discovered.Capabilities.Extensions[mcp.TasksExtension]
	return slices.Contains(discovered.Versions, client.Modern), tasks
}

// initialize begins a legacy session, where the server has sessions. Without a
// handshake the reply says why.
func (r *run) initialize(ctx context.Context, s scope) (reply, *handshake) {
	answered := r.wire.request(ctx, s, mcp.MethodInitialize, map[string]any{
		"protocolVersion": client.Legacy,
		"capabilities":    struct{}{},
		"clientInfo":      client.Info("berth probe"),
	})
	if answered.judge() != held {
		return answered, nil
	}
	shook := &handshake{}
	if json.Unmarshal(answered.answer.Result, shook) != nil || shook.Version == "" {
		return answered, nil
	}
	if id := answered.answer.Header.Get(mcp.HeaderSession); id != "" {
		s.version = shook.Version
		shook.session = &session{id: id, scope: s}
		shook.session.scope.session = shook.session
		r.sessions = append(r.sessions, shook.session)
	}
	return answered, shook
}

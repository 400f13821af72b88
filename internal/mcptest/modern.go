package mcptest

import (
	"context"
	"net/http"
	"slices"
	"time"
)

// modernMethods are the requests served in the modern era.
var modernMethods = []string{
	"server/discover", "tools/list", "tools/call", "tasks/get", "tasks/update", "tasks/cancel", methodListen,
}

// modern serves one POST of the modern era.
func (s *Server) modern(w http.ResponseWriter, r *http.Request, in inbound) {
	c := in.calls[0]
	if in.batch || c.Method == "" {
		refuse(w, nil, refusal{http.StatusBadRequest, failure{Code: codeInvalidRequest, Message: "one request or notification a POST"}})
		return
	}
	if !c.isRequest() {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if no := refuseModern(r.Header, c, modernMethods); no != nil {
		refuse(w, c.ID, *no)
		return
	}
	if c.Method == methodListen {
		s.listen(w, r, c)
		return
	}
	s.respond(w, r, c, nil, func(ctx context.Context) (any, *failure) { return s.modernCall(ctx, c) })
}

// refuseModern finds what speaks against a request to a server of these methods, in
// the order that the conformance suite wants: headers, version, method, capability. An
// unknown task comes last, as an ordinary answer.
func refuseModern(h http.Header, c call, methods []string) *refusal {
	if no := checkHeaders(h, c); no != nil {
		return no
	}
	if v := c.Params.Meta.Version; v != modernVersion {
		data := map[string]any{"supported": []string{modernVersion}, "requested": v}
		return &refusal{http.StatusBadRequest, failure{Code: codeUnsupportedVersion, Message: "Unsupported protocol version", Data: data}}
	}
	if !slices.Contains(methods, c.Method) {
		return &refusal{http.StatusNotFound, failure{Code: codeMethodNotFound, Message: "Method not found"}}
	}
	if c.aboutTasks() && !c.takesTasks() {
		return &refusal{http.StatusBadRequest, failure{Code: codeMissingCapability, Message: "Missing required client capability", Data: requiredCapabilities()}}
	}
	return nil
}

// requiredCapabilities is the data of -32021 (ext-tasks, "Capability
// Negotiation").
func requiredCapabilities() any {
	return map[string]any{"requiredCapabilities": tasksExtension()}
}

func tasksExtension() map[string]any {
	return map[string]any{"extensions": map[string]any{extensionTasks: struct{}{}}}
}

func (s *Server) modernCall(ctx context.Context, c call) (any, *failure) {
	switch c.Method {
	case "server/discover":
		return s.discovery(), nil
	case "tools/list":
		return cacheable(map[string]any{"tools": toolList()}), nil
	case "tools/call":
		return s.modernTool(ctx, c)
	}
	now := time.Now()
	t, ok := s.tasks.get(c.Params.TaskID, "", now)
	if !ok {
		return nil, s.unknownTask(c.Method)
	}
	if c.Method == "tasks/get" {
		return s.extensionView(t, "complete", now), nil
	}
	if c.Method == "tasks/cancel" {
		// A terminal task acknowledges too: cancelling only signals intent.
		s.tasks.cancel(t.id, "", now)
		s.board.post(nil)
	}
	// tasks/update: nothing here ever asks for input, and responses to keys
	// that are not outstanding are to be ignored.
	return map[string]any{"resultType": "complete"}, nil
}

func (s *Server) modernTool(ctx context.Context, c call) (any, *failure) {
	if c.Params.Name == "slow_compute" && c.takesTasks() {
		t, fail := s.startTask(c, "", 0)
		if fail != nil {
			return nil, fail
		}
		return s.extensionView(t, "task", t.created), nil
	}
	result, fail := s.runTool(ctx, c)
	return result.complete(), fail
}

func (s *Server) discovery() any {
	capabilities := tasksExtension()
	capabilities["tools"] = struct{}{}
	return cacheable(map[string]any{
		"supportedVersions": []string{modernVersion},
		"capabilities":      capabilities,
		"_meta":             map[string]any{"io.modelcontextprotocol/serverInfo": s.info()},
	})
}

func (s *Server) info() any {
	return map[string]any{"name": s.Name, "title": "berth demonstration server", "version": "1.0.0"}
}

// cacheable completes a result that clients may keep (2026-07-28 caching).
func cacheable(result map[string]any) any {
	result["resultType"] = "complete"
	result["ttlMs"] = 0
	result["cacheScope"] = "public"
	return result
}

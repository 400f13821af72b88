package mcptest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// legacy serves one POST of the legacy era.
func (s *Server) legacy(w http.ResponseWriter, r *http.Request, in inbound) {
	c := in.calls[0]
	if !in.batch && c.Method == "initialize" {
		s.initialize(w, r, c)
		return
	}
	sess, no := s.sessionOf(r, c.Method)
	if no != nil {
		refuse(w, c.ID, *no)
		return
	}
	if in.batch {
		s.batch(w, r, sess, in.calls)
		return
	}
	if !c.isRequest() {
		s.hear(sess, c)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if s.onFeed(r, sess, c) {
		s.runOnFeed(w, r, sess, c)
		return
	}
	s.respond(w, r, c, s.otherTasks(sess, c), func(ctx context.Context) (any, *failure) {
		return s.legacyCall(ctx, sess.id, c)
	})
}

// hear takes a notification or a response of a client.
func (s *Server) hear(sess session, c call) {
	draft{s}.cancel(sess.id, c)
	switch {
	case c.Method == "notifications/initialized":
		s.sessions.change(sess.id, func(sess *session) { sess.initialized = true })
	case sess.talk == nil:
	case c.Method == "notifications/cancelled":
		sess.talk.cancel(c.Params.RequestID)
	case c.Method == "":
		sess.talk.answer(c)
	}
}

// initialize negotiates the version and, unless stateless, opens a session.
// Core tasks are declared to clients of the version that has them, and honoured
// in all, as the SDKs do.
func (s *Server) initialize(w http.ResponseWriter, r *http.Request, c call) {
	version := c.Params.ProtocolVersion
	if !slices.Contains(legacyVersions, version) {
		version = latestLegacy
	}
	if !s.Stateless {
		w.Header().Set(headerSession, s.sessions.add(version).id)
	}
	capabilities := map[string]any{"tools": struct{}{}}
	if version == latestLegacy && !s.Taskless {
		capabilities["tasks"] = map[string]any{
			"list": struct{}{}, "cancel": struct{}{},
			"requests": map[string]any{"tools": map[string]any{"call": struct{}{}}},
		}
	}
	if s.Errands {
		capabilities["logging"] = struct{}{}
	}
	s.respond(w, r, c, nil, func(context.Context) (any, *failure) {
		return map[string]any{"protocolVersion": version, "capabilities": capabilities, "serverInfo": s.info()}, nil
	})
}

// batch answers the requests of a 2025-03-26 batch in one JSON array.
func (s *Server) batch(w http.ResponseWriter, r *http.Request, sess session, calls []call) {
	if sess.version != batchVersion && sess.version != "" {
		refuse(w, nil, refusal{http.StatusBadRequest, failure{Code: codeInvalidRequest, Message: "batches ended with 2025-03-26"}})
		return
	}
	var answers []message
	for _, c := range calls {
		if c.isRequest() {
			result, fail := s.legacyCall(r.Context(), sess.id, c)
			answers = append(answers, answer(c.ID, result, fail))
		}
	}
	if len(answers) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	writeJSON(w, http.StatusOK, answers)
}

func (s *Server) legacyCall(ctx context.Context, sessionID string, c call) (any, *failure) {
	if s.Taskless && c.aboutTasks() {
		return nil, &failure{Code: codeMethodNotFound, Message: "Method not found"}
	}
	switch c.Method {
	case "ping":
		return struct{}{}, nil
	case "tools/list":
		return map[string]any{"tools": s.legacyTools()}, nil
	case "tools/call":
		return s.legacyTool(ctx, sessionID, c)
	case "tasks/get":
		return core{s}.get(sessionID, c.Params.TaskID)
	case "tasks/result":
		return core{s}.result(ctx, sessionID, c.Params.TaskID)
	case "tasks/list":
		return core{s}.list(sessionID, c.Params.Cursor)
	case "tasks/cancel":
		return core{s}.cancel(sessionID, c.Params.TaskID)
	case "tasks/delete":
		return draft{s}.delete(sessionID, c.Params.TaskID)
	}
	if s.setUp(sessionID, c) {
		return struct{}{}, nil
	}
	return nil, &failure{Code: codeMethodNotFound, Message: "Method not found"}
}

func (s *Server) legacyTool(ctx context.Context, sessionID string, c call) (any, *failure) {
	if s.isErrand(c) {
		return interactive{s}.errand(context.WithoutCancel(ctx), newTalk(), nil, c)
	}
	if s.Taskless {
		c.Params.Task, c.Params.Meta.NewTask = nil, nil
	}
	if ask := c.Params.Task; ask != nil && c.Params.Name == "slow_compute" {
		t, fail := s.startTask(c, sessionID, time.Duration(ask.TTL)*time.Millisecond)
		if fail != nil {
			return nil, fail
		}
		return map[string]any{"task": s.coreView(t, t.created)}, nil
	}
	if c.Params.Meta.NewTask != nil && c.Params.Name == "slow_compute" {
		return draft{s}.tool(ctx, sessionID, c)
	}
	// A hang-up is no cancellation in this era: the tool runs to its end.
	result, fail := s.runTool(context.WithoutCancel(ctx), c)
	return result, fail
}

// core are a server's tasks of 2025-11-25, that a client made in a session.
type core struct{ *Server }

func (s core) get(sessionID, id string) (any, *failure) {
	now := time.Now()
	t, ok := s.tasks.get(id, sessionID, now)
	if !ok {
		return nil, s.unknownTask("tasks/get")
	}
	if t.draft {
		return draftView(t, now), nil
	}
	return s.coreView(t, now), nil
}

// result blocks until the task is terminal (2025-11-25 tasks, "Result
// Retrieval"). The call that a cancelled task stood for ended in an error.
func (s core) result(ctx context.Context, sessionID, id string) (any, *failure) {
	if now := time.Now(); draft(s).has(id, sessionID, now) {
		return draft(s).result(id, sessionID, now)
	}
	t, ok, err := s.tasks.wait(ctx, id, sessionID, s.closed())
	if err != nil {
		return nil, &failure{Code: codeInternal, Message: err.Error()}
	}
	if !ok {
		return nil, s.unknownTask("tasks/result")
	}
	if t.status(time.Now()) == statusCancelled {
		return nil, &failure{Code: codeInternal, Message: "the task was cancelled"}
	}
	result := s.computed(t.label)
	result.Meta = map[string]any{"io.modelcontextprotocol/related-task": map[string]any{"taskId": id}}
	return result, nil
}

// list pages the session's tasks (2025-11-25 tasks, "Listing Tasks").
func (s core) list(sessionID, cursor string) (any, *failure) {
	now := time.Now()
	own := s.tasks.list(sessionID, now)
	if cursor != "" {
		last := slices.IndexFunc(own, func(t task) bool { return t.id == cursor })
		if last < 0 {
			return nil, &failure{Code: codeInvalidParams, Message: "Invalid cursor"}
		}
		own = own[last+1:]
	}
	page := map[string]any{}
	if n := s.TasksPerPage; n > 0 && len(own) > n {
		own = own[:n]
		page["nextCursor"] = own[n-1].id
	}
	views := []coreTask{}
	for _, t := range own {
		views = append(views, s.coreView(t, now))
	}
	page["tasks"] = views
	return page, nil
}

// cancel refuses terminal tasks, unlike the extension (2025-11-25 tasks,
// "Task Cancellation").
func (s core) cancel(sessionID, id string) (any, *failure) {
	now := time.Now()
	before, ok := s.tasks.cancel(id, sessionID, now)
	if !ok {
		return nil, s.unknownTask("tasks/cancel")
	}
	if before.terminal(now) {
		why := fmt.Sprintf("Cannot cancel task: already in terminal status '%s'", before.status(now))
		return nil, &failure{Code: codeInvalidParams, Message: why}
	}
	before.cancelled = now
	return s.coreView(before, now), nil
}

// otherTasks are status notifications of the caller's other tasks, which core
// allows on any of its streams (2025-11-25 tasks, "Input Required Status",
// note): whoever learns ids from answers must not take them from these.
func (s *Server) otherTasks(sess session, c call) []message {
	if !s.SSE || c.Method != "tools/call" {
		return nil
	}
	now := time.Now()
	own := s.tasks.list(sess.id, now)
	if len(own) == 0 {
		return nil
	}
	return []message{notification("notifications/tasks/status", s.coreView(own[len(own)-1], now))}
}

package mcptest

import (
	"context"
	"net/http"
	"strings"
)

// A work makes the result of one request. Its context is the request's.
type work func(ctx context.Context) (any, *failure)

// respond runs the work of a request that nothing speaks against any more, and
// answers it as JSON or as a stream. A stream is opened before the work
// begins, so that its headers arrive although the work takes long; the
// notifications in before go out ahead of the answer.
func (s *Server) respond(w http.ResponseWriter, r *http.Request, c call, before []message, do work) {
	if !s.SSE || !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		result, fail := do(r.Context())
		writeJSON(w, http.StatusOK, answer(c.ID, result, fail))
		return
	}
	stream := openStream(w, newID())
	stream.prime()
	stream.comment("served by " + s.Name)
	if token := c.Params.Meta.ProgressToken; token != nil {
		before = append(before, progress(token))
	}
	for _, m := range before {
		stream.send(m)
	}
	result, fail := do(r.Context())
	stream.sendIndented(answer(c.ID, result, fail))
}

// progress is the notification that a client with a token hears first.
func progress(token any) message {
	return notification("notifications/progress", map[string]any{
		"progressToken": token, "progress": 0, "total": 1, "message": "started",
	})
}

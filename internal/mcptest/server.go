package mcptest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"
)

const (
	// maxBody bounds what is read of one request, in bytes.
	maxBody = 4 << 20

	defaultTTL          = 5 * time.Minute
	defaultPollInterval = 100 * time.Millisecond
)

var errClosed = errors.New("fleet: server closed")

// A Server is one instance. The zero value serves; set the exported fields
// before the first request and leave them alone afterwards. It must not be
// copied.
type Server struct {
	// Name is what the instance calls itself in every tool result.
	Name string

	// SSE answers requests as an event stream where the client accepts one:
	// a priming event with an id and no data, a comment, notifications, then
	// the answer spread over several data lines. The zero value answers in
	// plain JSON. Refusals by HTTP status are always JSON.
	SSE bool

	// Stateless hands out no sessions and offers no standing stream, as
	// legacy servers behind ordinary load balancers do.
	Stateless bool

	// SessionOptional hands out sessions but also serves legacy calls that
	// carry none (2025-11-25 transports, "Session Management", item 2, leaves
	// this to the server). Without it such calls are refused with 400.
	SessionOptional bool

	// Taskless serves no tasks in the legacy era: none are declared, a call that asks
	// for one is served as any other, and tasks/* are unknown.
	Taskless bool

	// Errands adds the tool errand to the legacy era: a plain one that blocks, tells
	// its progress, logs, and asks its client in mid-call. Where the client accepts an
	// event stream it is answered on one, whatever SSE says.
	Errands bool

	// Resumable answers every request in a legacy session on a stream whose events
	// have ids and are kept, as the TypeScript SDK does with an event store: the call
	// goes on when its connection is lost, and a GET with Last-Event-ID goes on with
	// its stream.
	Resumable bool

	// Retry is what the streams of a Resumable server tell their clients to wait
	// before they resume; 0: they do not say.
	Retry time.Duration

	// TTL is how long a task is kept from its creation, and the longest that a
	// client may ask for; 0 means 5 minutes.
	TTL time.Duration

	// PollInterval is what clients are told to wait between polls; 0 means
	// 100 ms.
	PollInterval time.Duration

	// TasksPerPage is how many tasks one page of a core tasks/list holds; 0 means
	// all. The cursor is the id of the page's last task, as in the TypeScript SDK.
	TasksPerPage int

	// Intercept, if set, sees every request after it was counted and before
	// it is looked at. It returns true if it has answered the request itself:
	// the place where tests put faults. It is called concurrently.
	Intercept func(w http.ResponseWriter, r *http.Request, body []byte) bool

	counters
	tasks    taskTable
	sessions sessionTable
	board    board
	running  sync.WaitGroup // calls that outlive their requests

	closeOnce sync.Once
	closeMu   sync.Mutex // no call begins beside its request while Close begins
	doneOnce  sync.Once
	done      chan struct{} // closed by Close; made on first use, see closed
}

// ServeHTTP answers one request of either era.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		refuse(w, nil, refusal{http.StatusRequestEntityTooLarge, failure{Code: codeInvalidRequest, Message: "body too large"}})
		return
	}
	in, parseErr := parseBody(r.Method, body)
	for _, method := range in.methods(r.Method) {
		s.note(method, r.Header)
		defer s.countHangup(r.Context(), method)
	}
	if s.Intercept != nil && s.Intercept(w, r, body) {
		return
	}
	if !originAllowed(r.Header.Get("Origin")) {
		http.Error(w, "origin not allowed", http.StatusForbidden)
		return
	}
	s.dispatch(w, r, in, parseErr)
}

// dispatch sends a counted request to the face of its HTTP method and era.
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request, in inbound, parseErr *failure) {
	switch {
	case r.Method != http.MethodPost && (isModernVersion(versionOf(r)) || s.Stateless):
		methodNotAllowed(w, "POST")
	case r.Method == http.MethodGet:
		s.standingStream(w, r)
	case r.Method == http.MethodDelete:
		s.endSession(w, r)
	case r.Method != http.MethodPost:
		methodNotAllowed(w, "GET, POST, DELETE")
	case parseErr != nil:
		refuse(w, nil, refusal{http.StatusBadRequest, *parseErr})
	case in.modern(versionOf(r)):
		s.modern(w, r, in)
	default:
		s.legacy(w, r, in)
	}
}

// Close ends standing streams and everything that waits for a task, with an
// error to the caller. It waits for the calls that outlive their requests, not for
// handlers: the HTTP server that runs them does.
func (s *Server) Close() {
	s.closeOnce.Do(func() {
		s.closeMu.Lock()
		defer s.closeMu.Unlock()
		s.closed() // made, should no request have come
		close(s.done)
	})
	s.running.Wait()
}

// Restart forgets every task and session, as the restart of a process would.
// Counters stay.
func (s *Server) Restart() {
	s.tasks.clear()
	s.sessions.clear()
}

func (s *Server) closed() <-chan struct{} {
	s.doneOnce.Do(func() { s.done = make(chan struct{}) })
	return s.done
}

// pause waits for d, or for the caller or the server to go. A nil closed is a server that
// goes with its callers.
func pause(ctx context.Context, d time.Duration, closed <-chan struct{}) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-closed:
		return errClosed
	}
}

func (s *Server) ttl() time.Duration {
	if s.TTL > 0 {
		return s.TTL
	}
	return defaultTTL
}

func (s *Server) pollInterval() time.Duration {
	if s.PollInterval > 0 {
		return s.PollInterval
	}
	return defaultPollInterval
}

// originAllowed guards against DNS rebinding: a browser may only come from a
// loopback page (2026-07-28 streamable-http, "Security & Endpoint").
func originAllowed(origin string) bool {
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil {
		return false
	}
	switch u.Hostname() {
	case "localhost", "127.0.0.1", "::1":
		return true
	}
	return false
}

func methodNotAllowed(w http.ResponseWriter, allow string) {
	w.Header().Set("Allow", allow)
	http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
}

package outbound

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/routing"
	"berth/routing/health"
)

// Check finds out whether u is well, as c says, and returns what is wrong with it. ctx bounds it.
// It says nothing of u to the pool but, where an MCP endpoint was asked, that it answers, and
// that it speaks the legacy era alone. The errors repeat nothing that u has said.
func (s Sender) Check(ctx context.Context, u *routing.Upstream, c health.Check) error {
	what, err := "", error(nil)
	speaks, known := u.SpeaksModern()
	switch {
	case c.Kind == health.CheckHTTP:
		what, err = "GET "+c.Path, s.checkPath(ctx, u, c.Path)
	case c.Kind == health.CheckInitialize || known && !speaks:
		what, err = mcp.MethodInitialize, s.checkInitialize(ctx, u)
	default:
		what, err = mcp.MethodDiscover, s.checkDiscover(ctx, u)
	}
	switch failed, unanswered := errors.AsType[*exchange.SendError](err); {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%s: no answer within %v", what, c.Timeout)
	case unanswered:
		return fmt.Errorf("%s: %w", what, failed.Err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// checkPath asks for what a server says of itself at a path of its origin.
func (s Sender) checkPath(ctx context.Context, u *routing.Upstream, path string) error {
	target, err := url.Parse(strings.TrimPrefix(u.URL.Scheme, "sse+") + "://" + u.URL.Host + path)
	if err != nil {
		return err
	}
	out := &exchange.Request{Method: wire.MethodGet, URL: target, Host: s.HostFor(u, u.URL.Host), Header: new(wire.Header)}
	response, err := s.Client.Send(ctx, out, 0)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.Status/100 != 2 {
		return errStatus(response)
	}
	return nil
}

// checkDiscover asks what u is, as a modern client does, and one that does not know the question
// as a legacy one.
func (s Sender) checkDiscover(ctx context.Context, u *routing.Upstream) error {
	response, err := s.discover(ctx, u, u.URL.Host)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	s.Router.Pool.Answered(u)
	if !RefusesDiscover(response) {
		return s.isWell(response)
	}
	if err := s.checkInitialize(ctx, u); err != nil {
		return err
	}
	u.NoteLegacy(true)
	return nil
}

// openingTime is how long the answer to an initialize is waited for once its check has timed out.
const openingTime = 10 * time.Second

// checkInitialize opens a session, and ends it, though its check may have timed out meanwhile: the server keeps one that is not
// ended, and nobody else knows of it. While one is still being opened there, the server is asked for no other.
func (s Sender) checkInitialize(ctx context.Context, u *routing.Upstream) error {
	if !u.BeginOpening() {
		<-ctx.Done()
		return ctx.Err()
	}
	judged, over := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(over)
		defer u.EndOpening()
		late, end := outlive(ctx, openingTime)
		defer end()
		s.open(late, u, judged)
	}()
	select {
	case err := <-judged:
		<-over
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// open opens a session, tells what is wrong with the server that answers, and ends the session.
func (s Sender) open(ctx context.Context, u *routing.Upstream, judged chan<- error) {
	response, err := s.initialize(ctx, u, u.URL.Host)
	if err != nil {
		judged <- err
		return
	}
	defer response.Body.Close()
	defer s.leaveMeeting(ctx, u, u.URL.Host, response.Header.Get(mcp.HeaderSession))
	s.Router.Pool.Answered(u)
	judged <- s.isWell(response)
}

// outlive is a context that ends that long after ctx does, or with end.
func outlive(ctx context.Context, by time.Duration) (late context.Context, end func()) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(by, cancel)
		<-late.Done()
		timer.Stop()
	})
	return late, func() {
		stop()
		cancel()
	}
}

// isWell says what is wrong with a server that answers so to the first that clients say. One that
// asks for credentials works: berth has none to show, unless it is configured to.
func (s Sender) isWell(response *wire.Response) error {
	own := s.Authorization != nil && s.Authorization.Value != nil
	switch status := response.Status; {
	case wire.RefusesCredentials(status) && !own:
		return nil
	case status >= wire.StatusInternalServerError, wire.RefusesCredentials(status):
		return errStatus(response)
	}
	a, err := OwnAnswer(response, []byte(OwnID), func() {})
	switch {
	case err != nil:
		return err
	case a.HasResult, a.IsError && a.ErrorCode == mcp.CodeUnsupportedVersion:
		return nil
	case a.IsError:
		return fmt.Errorf("error %d, HTTP %d", a.ErrorCode, response.Status)
	}
	return fmt.Errorf("%w, not in JSON-RPC", errStatus(response))
}

func errStatus(response *wire.Response) error {
	return fmt.Errorf("HTTP %d", response.Status)
}

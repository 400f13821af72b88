package flow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/bridge/legacy"
	"berth/proxy/fault"
	"berth/proxy/outbound"
)

// How long a stream is tried to be resumed, and how far apart.
const (
	ResumeFor   = 30 * time.Second
	resumeFirst = 20 * time.Millisecond
	resumeMost  = 2 * time.Second
)

// ErrSessionLost is what an answer ends with whose session the upstream has lost.
var ErrSessionLost = fault.Lost(mcp.ReasonSessionLost, "the server has lost the session of the call")

// refusedBy is what an answer ends with whose upstream does not take what its caller bears any more: 401 or 403.
func refusedBy(status int) *mcp.Error {
	return fault.Broken(mcp.ReasonUpstreamReset,
		fmt.Sprintf("the upstream broke the stream off before its response, and does not let it be resumed: it answered %d %s", status, wire.Phrase(status)))
}

// resume asks for what came after an event. While another one reads (409), it is waited for, as are credentials that the upstream takes,
// where its caller may yet bring them. The pause before grows for as long as nothing comes: some servers end their streams as they like.
func (fl *Flow) resume(ctx context.Context, event string) (*wire.Response, error) {
	var since time.Time
	for {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(max(fl.pause, fl.alone)):
		}
		fl.pause = min(max(2*fl.pause, resumeFirst), resumeMost)
		response, err := fl.tryResume(ctx, event)
		_, isRefused := errors.AsType[*mcp.Error](err) // of those that do not end it at once
		switch {
		case err == nil || errors.Is(err, ErrSessionLost) || errors.Is(err, fault.StreamReset):
			return response, err
		case isRefused && fl.out.Renewal == nil:
			return nil, err
		case errors.Is(err, legacy.ErrStands):
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		case time.Since(since) > ResumeFor && isRefused:
			return nil, err
		case time.Since(since) > ResumeFor:
			return nil, fault.StreamReset
		}
	}
}

func (fl *Flow) tryResume(ctx context.Context, event string) (*wire.Response, error) {
	response, err := fl.s.Stream(ctx, fl.out, event)
	if err != nil {
		return nil, err
	}
	if response.Status == wire.StatusOK && exchange.ShapeOf(response) == exchange.EventStream {
		return response, nil
	}
	defer response.Body.Close()
	switch status := response.Status; {
	case status == wire.StatusConflict:
		return nil, legacy.ErrStands
	case outbound.DeniesSession(status) && fl.s.IsDenied(ctx, fl.out):
		return nil, ErrSessionLost // else it knows the event no more
	case wire.RefusesCredentials(status):
		if fl.out.Renewal != nil {
			fl.out.Renewal.Refused()
		}
		return nil, refusedBy(status)
	case outbound.MayPass(status):
		return nil, fmt.Errorf("bridge: a stream is not resumed yet: HTTP %d", status)
	}
	return nil, fault.StreamReset
}

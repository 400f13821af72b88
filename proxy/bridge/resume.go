package bridge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/outbound"
)

// How long a stream is tried to be resumed, and how far apart.
const (
	resumeFor   = 30 * time.Second
	resumeFirst = 20 * time.Millisecond
	resumeMost  = 2 * time.Second

	// maxAlone bounds for how long a server may want to be left alone before a stream of its is resumed.
	maxAlone = time.Minute
)

// leaveAlone notes for how long a server wants to be left alone, if an event says so (2025-11-25, transports: "The client MUST
// respect the retry field").
func leaveAlone(alone *time.Duration, e *mcp.Event) {
	if d := e.Retry(); d > 0 {
		*alone = min(d, maxAlone)
	}
}

// resume asks for what came after an event. While another one reads (409), it is waited for. The
// pause before grows for as long as nothing comes: some servers end their streams as they like.
func (fl *flow) resume(ctx context.Context, event string) (*wire.Response, error) {
	var since time.Time
	for {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(max(fl.pause, fl.alone)):
		}
		fl.pause = min(max(2*fl.pause, resumeFirst), resumeMost)
		response, err := fl.tryResume(ctx, event)
		switch {
		case err == nil || errors.Is(err, errSessionLost) || errors.Is(err, errReset):
			return response, err
		case errors.Is(err, errStands):
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		case time.Since(since) > resumeFor:
			return nil, errReset
		}
	}
}

// errStands says that somebody else reads the stream.
var errStands = errors.New("bridge: the stream is being read")

func (fl *flow) tryResume(ctx context.Context, event string) (*wire.Response, error) {
	out := fl.l.request(fl.out, wire.MethodGet, nil)
	out.Header.Set(mcp.HeaderLastEvent, event)
	response, err := outbound.To(fl.f.b.options().Endpoint).Send(ctx, fl.f.u, out, outbound.Terms{Watched: true})
	if err != nil {
		return nil, err
	}
	if response.Status == wire.StatusOK && exchange.ShapeOf(response) == exchange.EventStream {
		return response, nil
	}
	defer response.Body.Close()
	switch status := response.Status; {
	case status == wire.StatusConflict:
		return nil, errStands
	case outbound.DeniesSession(status) && fl.l.isDenied(ctx, fl.out):
		return nil, errSessionLost // else it knows the event no more
	case outbound.MayPass(status):
		return nil, fmt.Errorf("bridge: a stream is not resumed yet: HTTP %d", status)
	}
	return nil, errReset
}

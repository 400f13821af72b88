package inbound

import (
	"context"
	"errors"

	"berth/internal/mcp"
	"berth/proxy/fault"
)

// Word turns an error into the answer for the client. nil means that nobody is there to
// be answered. What the modern era has no method for is refused as that, whether the task
// exists or not.
func (x *Call) Word(err error) *mcp.Error {
	if errors.Is(err, context.Canceled) && x.HTTP.Context().Err() != nil {
		if _, worded := errors.AsType[*mcp.Error](err); !worded {
			return nil
		}
	}
	e := fault.Word(err, x.ReadsOnly)
	if c := x.Single(); (e == mcp.ErrUnknownTask || e == mcp.ErrMissingTasks) && c != nil && c.HasNoMethod() {
		return mcp.ErrNoSuchMethod
	}
	return e
}

package main

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// progress is a job that says how far it is, if its caller gave a token for that.
type progress struct {
	req   *mcp.CallToolRequest
	total float64 // seconds
	label string
}

// work takes the job's time, or less if the call is withdrawn.
func (p progress) work(ctx context.Context) error {
	start, total := time.Now(), time.Duration(p.total*float64(time.Second))
	for left := total; left > 0; left = total - time.Since(start) {
		p.tell(ctx, (total - left).Seconds())
		if err := pause(ctx, min(left, progressEvery)); err != nil {
			return err
		}
	}
	return nil
}

func (p progress) tell(ctx context.Context, done float64) {
	token := p.req.Params.GetProgressToken()
	if token == nil {
		return
	}
	// An answer in JSON has no room for it, and go-sdk says so with an error.
	_ = p.req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: token, Progress: done, Total: p.total, Message: p.label,
	})
}

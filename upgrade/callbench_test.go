package upgrade

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"berth/internal/storage"
	"berth/internal/storage/redistest"
	"berth/routing"
)

// prompt is the answer of a tool that needs no time.
type prompt struct{ message []byte }

func (p *prompt) Next() (Message, error) {
	if p.message == nil {
		return Message{}, io.EOF
	}
	m := Message{Data: p.message, Whole: true}
	p.message = nil
	return m, nil
}

func (*prompt) Close() {}

// BenchmarkCall makes a task, hands it out and waits until its outcome is stored and the call let go of: what berth
// itself takes for an upgraded call, without HTTP.
func BenchmarkCall(b *testing.B) {
	for _, kind := range []string{"memory", "redis"} {
		b.Run(kind, func(b *testing.B) {
			url := "memory:"
			if kind == "redis" {
				url = redistest.Start(b).URL()
			}
			at := openStore(b, url, storage.Options{})
			b.Cleanup(func() { _ = at.Close() })
			berth := startBerths(b, 1, settings{at: newCell(at), shared: kind == "redis", lease: time.Minute, send: func(_ context.Context, _ *routing.Upstream, c *Call) (Exchange, error) {
				return &prompt{fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, c.ID)}, nil
			}}, newTool())[0]
			berth.line.atOnce = true
			r := rule(nil)
			b.ReportAllocs()
			for b.Loop() {
				berth.hand(b, r, "prompt")
				berth.runner.Calls.Empty(context.Background())
			}
		})
	}
}

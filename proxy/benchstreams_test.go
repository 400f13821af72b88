package proxy_test

import (
	"context"
	"io"
	"runtime"
	"sync"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/wire"
	"berth/proxy"
)

// stillSender answers by streams that say one thing, and nothing more until they are let go.
type stillSender struct {
	let   chan struct{}
	heard *sync.WaitGroup // one less for each reader that waits
}

func (stillSender) Close() {}

func (s stillSender) Send(_ context.Context, request *exchange.Request, _ time.Duration) (*wire.Response, error) {
	request.Written = true
	return wire.Streamed(&stillStream{stillSender: s, first: benchedProgress}), nil
}

type stillStream struct {
	stillSender
	first string
	waits bool
}

func (s *stillStream) Read(p []byte) (int, error) {
	if s.first != "" {
		n := copy(p, s.first)
		s.first = s.first[n:]
		return n, nil
	}
	if !s.waits {
		s.waits = true
		s.heard.Done()
	}
	<-s.let
	return 0, io.EOF
}

func (*stillStream) Close() error { return nil }

// BenchmarkStreams is what a stream takes while it is silent, of memory between HTTP's two sides.
func BenchmarkStreams(b *testing.B) {
	const streams = 5000
	for b.Loop() {
		let, heard := make(chan struct{}), new(sync.WaitGroup)
		p := lentBerthTo(b, stillSender{let, heard}, func(o *proxy.Options) { o.Limits.InFlight, o.Limits.InFlightPerCaller = 2*streams, 2*streams })
		before := memory()
		heard.Add(streams)
		var serving sync.WaitGroup
		for range streams {
			serving.Go(func() { newLentClient("tools/call", "talk", `"name":"talk","arguments":{}`).ask(p) })
		}
		heard.Wait()
		time.Sleep(100 * time.Millisecond) // until the last of them rests
		held := memory()
		b.ReportMetric(float64(held.HeapInuse-before.HeapInuse)/streams, "heap-B/stream")
		b.ReportMetric(float64(held.StackInuse-before.StackInuse)/streams, "stack-B/stream")
		close(let)
		serving.Wait()
	}
}

func memory() (m runtime.MemStats) {
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m
}

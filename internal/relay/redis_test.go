package relay

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
	"berth/internal/wire"
)

// onRedis starts a mailbox with a store of its own on a server; stop ends it. The store is patient: a
// machine that is busy with other tests is no outage.
func onRedis(t testing.TB, server *redistest.Server, handle Handle) (m *Mailbox, stop func()) {
	store, err := storage.Open(server.URL(), storage.Options{Timeout: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	m = New(store, "", givenKeys(t), slog.New(slog.DiscardHandler))
	ctx, end := context.WithCancel(context.Background())
	var running sync.WaitGroup
	storeCtx, endStore := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = store.Run(storeCtx)
	}()
	running.Go(func() { _ = m.Run(ctx, handle) })
	stop = sync.OnceFunc(func() {
		end()
		running.Wait()
		endStore()
		<-over
		_ = store.Close()
	})
	t.Cleanup(stop)
	realtest.Eventually(t, "the mailbox has a lease", func() bool { return m.stands(t.Context(), m.Name()) == nil })
	return m, stop
}

func TestRequestsArePassedOnOverRedis(t *testing.T) {
	server := redistest.Start(t)
	var executed atomic.Int64
	there, leaveThere := onRedis(t, server, counted(&executed, func(_ context.Context, r *exchange.Request) (*wire.Response, error) {
		if r.Caller == "" {
			return answer(aJSON, strings.Repeat(secret, 100<<10)), nil
		}
		response, body := stream(events)
		go func() {
			defer body.Close()
			for n := range 50 {
				fmt.Fprintf(body, "data: %s %d\n\n", r.Caller, n)
			}
		}()
		return response, nil
	}))
	here, leaveHere := onRedis(t, server, nobody)
	var passing sync.WaitGroup
	for n := range 200 {
		passing.Go(func() {
			r := request()
			if r.Caller = fmt.Sprint("caller ", n); n%50 == 0 {
				r.Caller = ""
			}
			response, err := here.Pass(t.Context(), there.Name(), r, 0)
			if err != nil {
				t.Error(err)
				return
			}
			body, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			want := strings.Repeat(secret, 100<<10)
			if r.Caller != "" {
				var all strings.Builder
				for n := range 50 {
					fmt.Fprintf(&all, "data: %s %d\n\n", r.Caller, n)
				}
				want = all.String()
			}
			if err != nil || string(body) != want {
				t.Errorf("got %d bytes and %v, want %d", len(body), err, len(want))
			}
		})
	}
	passing.Wait()
	if n := executed.Load(); n != 200 {
		t.Errorf("got %d executions, want 200", n)
	}
	onlyLeases(t, server)
	leaveHere()
	leaveThere()
	if keys := server.Keys("berth:relay:*"); len(keys) != 1 || keys[0] != "berth:"+sinceKey {
		t.Errorf("left in the store: %v", keys)
	}
}

func TestAnAnswerIsCalledOffOnRedis(t *testing.T) {
	server := redistest.Start(t)
	ended := make(chan struct{})
	there, _ := onRedis(t, server, func(ctx context.Context, _ *exchange.Request) (*wire.Response, error) {
		response, body := stream(events)
		go func() {
			defer close(ended)
			for ctx.Err() == nil {
				_, _ = body.Write([]byte("data: x\n\n"))
			}
		}()
		return response, nil
	})
	here, _ := onRedis(t, server, nobody)
	response, err := here.Pass(t.Context(), there.Name(), request(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(response.Body, make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	<-ended
	onlyLeases(t, server)
}

func onlyLeases(t *testing.T, server *redistest.Server) {
	t.Helper()
	var keys []string
	if !realtest.Until(realtest.Within, func() bool {
		keys = server.Keys("berth:relay:*")
		return len(keys) == 3
	}) {
		t.Errorf("got keys %v, want two leases, and since when they are kept", keys)
	}
}

// BenchmarkPass is a short exchange between two berths.
func BenchmarkPass(b *testing.B) {
	server := redistest.Start(b)
	there, _ := onRedis(b, server, saying(`{"result":{}}`))
	here, _ := onRedis(b, server, nobody)
	b.ReportAllocs()
	for b.Loop() {
		response, err := here.Pass(b.Context(), there.Name(), request(), 0)
		if err != nil {
			b.Fatal(err)
		}
		exchangetest.ReadAll(b, response)
	}
}

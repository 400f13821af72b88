package relay

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/internal/wire"
)

// berth is one process of a deployment under test.
type berth struct {
	*Mailbox
	line *line
	end  context.CancelFunc
	over chan struct{} // closed when Run has returned
}

// inWorld runs a test in fake time, with a store that berths share and that is to be left empty.
func inWorld(t *testing.T, f func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) {
		store, err := storage.Open("memory:", storage.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		if _, _, err := store.PutIfAbsent(t.Context(), sinceKey, []byte("0"), 0); err != nil { // it is old
			t.Fatal(err)
		}
		w := &world{t: t, store: store, keys: givenKeys(t), seen: map[string]bool{}}
		func() {
			defer func() {
				for _, b := range w.berths {
					b.leave()
				}
			}()
			f(t, w)
		}()
		time.Sleep(2 * time.Millisecond) // in which what was asked for is over
		if left := w.left(); len(left) > 0 && !w.dies {
			t.Errorf("left in the store: %v", left)
		}
	})
}

func givenKeys(t testing.TB) *seal.Keyring {
	keys, err := seal.NewKeyring([]byte(strings.Repeat("k", seal.MinSecret)))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// start has one more berth run.
func (w *world) start(handle Handle) *berth {
	l := &line{Store: w.store, world: w}
	b := &berth{Mailbox: New(l, "", w.keys, slog.New(slog.DiscardHandler)), line: l, over: make(chan struct{})}
	ctx, end := context.WithCancel(context.Background())
	b.end = end
	go func() {
		defer close(b.over)
		_ = b.Run(ctx, handle)
	}()
	w.berths = append(w.berths, b)
	synctest.Wait()
	return b
}

// leave ends Run, as the end of a process does that is told to.
func (b *berth) leave() {
	b.end()
	<-b.over
}

// kill ends the process as kill -9 does: from now on it does not reach the store.
func (b *berth) kill() {
	b.line.dead.Store(true)
	b.leave()
}

// nobody has nothing to answer.
func nobody(context.Context, *exchange.Request) (*wire.Response, error) {
	return nil, errors.New("nobody is here")
}

// request is one that bears a credential.
func request() *exchange.Request {
	return &exchange.Request{
		Method: wire.MethodPost, URL: &url.URL{Scheme: "http", Host: "upstream:80", Path: "/mcp"},
		Header: wire.NewHeader("Authorization", "Bearer "+secret), Body: []byte(`{"method":"` + secret + `"}`), Caller: "somebody",
	}
}

// answer is one that is whole.
func answer(media, body string) *wire.Response {
	return &wire.Response{
		Status: wire.StatusOK, Phrase: "OK", Header: wire.NewHeader("Content-Type", media),
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), ProtoMajor: 1, ProtoMinor: 1,
	}
}

// stream is an answer whose body is written by and by.
func stream(media string) (*wire.Response, *io.PipeWriter) {
	r, w := io.Pipe()
	response := answer(media, "")
	response.Body, response.ContentLength = r, -1
	return response, w
}

const (
	aJSON  = "application/json"
	events = "text/event-stream"
)

// counted counts the calls of a handle.
func counted(n *atomic.Int64, h Handle) Handle {
	return func(ctx context.Context, r *exchange.Request) (*wire.Response, error) {
		n.Add(1)
		return h(ctx, r)
	}
}

func saying(body string) Handle {
	return func(context.Context, *exchange.Request) (*wire.Response, error) { return answer(aJSON, body), nil }
}

// hanging answers when its context ends, which it tells.
func hanging(ended chan<- time.Time) Handle {
	return func(ctx context.Context, _ *exchange.Request) (*wire.Response, error) {
		<-ctx.Done()
		ended <- time.Now()
		return nil, context.Cause(ctx)
	}
}

// pass passes a request on that is to be answered.
func (b *berth) pass(t testing.TB, to *berth) *wire.Response {
	t.Helper()
	response, err := b.Pass(t.Context(), to.Name(), request(), 0)
	if err != nil {
		t.Fatalf("Pass: %v", err)
	}
	return response
}

// sendError returns err as what Pass fails with.
func sendError(t testing.TB, err error) *exchange.SendError {
	t.Helper()
	e, ok := errors.AsType[*exchange.SendError](err)
	if !ok {
		t.Fatalf("got %v, want a SendError", err)
	}
	return e
}

// endsWithin waits until a handle has ended, which is to be soon.
func endsWithin(t testing.TB, ended <-chan time.Time, most time.Duration) {
	t.Helper()
	began := time.Now()
	if took := (<-ended).Sub(began); took > most {
		t.Errorf("it ended %v later", took)
	}
}

// isExecuted waits for what may yet be executed, and judges how much was.
func isExecuted(t testing.TB, n *atomic.Int64, want int64) {
	t.Helper()
	time.Sleep(time.Minute)
	if got := n.Load(); got != want {
		t.Errorf("got %d executions, want %d", got, want)
	}
}

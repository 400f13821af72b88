package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/wire"

	"pgregory.net/rapid"
)

// act is one thing that happens to a deployment.
type act struct {
	What     string
	From, To int // berths, modulo how many there are
	N        int // of what there are several
	Wait     time.Duration
}

var acts = []string{
	"pass", "pass", "pass", "pass", "pass", "pass", "pass", "kill", "leave", "cut", "mend", "freeze", "thaw", "muffle", "unmuffle", "mute", "echo",
}

// tried is one request of a script, and what became of it.
type tried struct {
	mu       sync.Mutex // guards the fields below
	executed int
	running  int
	outcome  string // what is wrong with what its sender got
	unsent   bool   // its sender was told that it was not executed
}

func (r *tried) do(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// whole is the answer to a request that asks for n: of up to 17 parts, more than are sent ahead.
func whole(n int) string {
	if n%5 == 0 {
		return strings.Repeat("0123456789", n*8_000)
	}
	return strings.Repeat("data: 0\n\n", n%20)
}

// Whatever happens, a request is executed once at most, and never if its sender was told that it was
// not; an answer is whole, or an error; and in the end nothing is left.
func TestScripts(t *testing.T) {
	step := rapid.Custom(func(t *rapid.T) act {
		return act{
			What: rapid.SampledFrom(acts).Draw(t, "what"),
			From: rapid.IntRange(0, 2).Draw(t, "from"), To: rapid.IntRange(0, 2).Draw(t, "to"), N: rapid.IntRange(0, 40).Draw(t, "n"),
			Wait: time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 200, 1500, 6000, 20000}).Draw(t, "wait")) * time.Millisecond,
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		script := rapid.SliceOfN(step, 1, 40).Draw(rt, "script")
		var wrong []string
		inWorld(t, func(_ *testing.T, w *world) { wrong = w.play(script) })
		if len(wrong) > 0 {
			rt.Fatalf("%s\n%+v", strings.Join(wrong, "\n"), script)
		}
	})
}

// play runs a script, and returns what is wrong at its end.
func (w *world) play(script []act) (wrong []string) {
	var all sync.Map // of *tried, by the caller that names it
	answer := func(ctx context.Context, r *exchange.Request) (*wire.Response, error) {
		one, _ := all.Load(r.Caller)
		return execute(ctx, one.(*tried), r)
	}
	at := []*berth{w.start(answer), w.start(answer), w.start(answer)}
	var passing sync.WaitGroup
	for i, a := range script {
		time.Sleep(a.Wait)
		from, to := at[a.From], at[a.To]
		switch a.What {
		case "pass":
			name, r := fmt.Sprint(i), &tried{}
			all.Store(name, r)
			passing.Go(func() { try(from, to.Name(), name, a.N, r) })
		case "kill":
			from.line.heal()
			from.kill()
			at[a.From] = w.start(answer)
		case "leave":
			from.line.heal()
			from.leave()
			at[a.From] = w.start(answer)
		default:
			from.line.suffer(a)
		}
	}
	for _, b := range w.berths {
		b.line.heal()
	}
	passing.Wait()
	time.Sleep(2 * exchangeLife)
	for _, b := range at {
		if n := b.remembers(); n > 0 {
			wrong = append(wrong, fmt.Sprint("a berth remembers ", n))
		}
	}
	for name, one := range all.Range {
		r := one.(*tried)
		r.do(func() {
			if r.executed > 1 || r.unsent && r.executed > 0 || r.running > 0 || r.outcome != "" {
				wrong = append(wrong, fmt.Sprintf("%s: executed %d times, running %d, unsent %v, %s", name, r.executed, r.running, r.unsent, r.outcome))
			}
		})
	}
	return wrong
}

// remembers is how much a berth keeps of exchanges.
func (b *berth) remembers() int {
	for _, mu := range []*sync.Mutex{&b.open.mu, &b.peers.mu, &b.unsaid.mu} {
		mu.Lock()
		defer mu.Unlock()
	}
	return len(b.open.byID) + len(b.peers.byName) + len(b.unsaid.says)
}

func (l *line) suffer(a act) {
	switch a.What {
	case "cut":
		l.cut.Store(true)
	case "mend":
		l.cut.Store(false)
	case "freeze":
		if l.thawed.Load() == nil {
			l.freeze()
		}
	case "thaw":
		if l.thawed.Load() != nil {
			l.thaw()
		}
	case "muffle", "unmuffle":
		l.muffle.Store(a.What == "muffle")
	case "mute":
		l.mute.Store(int64(a.N % 4))
	case "echo":
		l.echo.Store(a.N%2 == 0)
	}
}

// heal mends all that does not lie in the past.
func (l *line) heal() {
	l.suffer(act{What: "mend"})
	l.suffer(act{What: "thaw"})
}

// execute answers a request, at once or by and by, until its context ends.
func execute(ctx context.Context, r *tried, asked *exchange.Request) (*wire.Response, error) {
	n := len(asked.Body)
	r.do(func() { r.executed++; r.running++ })
	over := func() { r.do(func() { r.running-- }) }
	if n%7 == 6 {
		defer over()
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	if n%5 == 0 {
		over()
		return answer(aJSON, whole(n)), nil
	}
	response, body := stream(events)
	go func() {
		defer over()
		defer body.Close()
		for range n % 20 {
			if _, err := io.WriteString(body, "data: 0\n\n"); err != nil {
				return
			}
			select {
			case <-ctx.Done():
				body.CloseWithError(context.Cause(ctx))
				return
			case <-time.After(time.Duration(n) * 100 * time.Millisecond):
			}
		}
	}()
	return response, nil
}

// try passes a request on, and notes what comes of it.
func try(from *berth, to, name string, n int, r *tried) {
	asked := request()
	asked.Caller, asked.Body = name, make([]byte, n)
	wait := time.Duration(n%3) * 20 * time.Second
	ctx, end := context.WithTimeout(context.Background(), 2*time.Minute)
	defer end()
	response, err := from.Pass(ctx, to, asked, wait)
	if err != nil {
		e, ok := errors.AsType[*exchange.SendError](err)
		r.do(func() {
			if r.unsent = ok && !e.Sent; !ok {
				r.outcome = err.Error()
			}
		})
		return
	}
	defer response.Body.Close()
	most := int64(1 << 30)
	if n%4 == 3 {
		most = 9 // it leaves early
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, most))
	want := whole(n)
	if !strings.HasPrefix(want, string(body)) || err == nil && int64(len(body)) < min(most, int64(len(want))) {
		r.do(func() { r.outcome = fmt.Sprintf("got %d bytes of %d, and %v", len(body), len(want), err) })
	}
}

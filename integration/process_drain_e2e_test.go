//go:build e2e

package integration

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	// drainDefault is how long calls may go on after SIGTERM.
	drainDefault = 30 * time.Second

	// lastWords is how much later than that the process must be gone.
	lastWords = 5 * time.Second
)

// SIGTERM: not ready at once, nobody new, subscriptions told that all is well, calls
// served to the end, and then gone, as if nothing had been.
func TestTerminatedBerthEndsStreamsAndFinishesCalls(t *testing.T) {
	t.Parallel()
	const subscriptions, calls = 1000, 100
	greetings := newGate("greet")
	fleet := startLocalFleet(t, greetings.listen)
	b := startWatched(t, fleet.fleet)
	client := newModernClient(t)
	streams := subscribe(t, client, b, subscriptions)
	answers := greet(t, client, b, calls)
	if !await(t, readyWithin, func() bool { return fleet.calls("tools/call") == calls }) {
		t.Fatalf("calls that reached the fleet: got %d, want %d", fleet.calls("tools/call"), calls)
	}

	b.signal(t, syscall.SIGTERM)
	if !await(t, lastWords, func() bool { status, _ := b.readyz(t); return status == http.StatusServiceUnavailable }) {
		t.Error("/readyz: want 503 while draining")
	}
	if status, _ := fetch(t, b.admin+"/livez"); status != http.StatusOK {
		t.Errorf("/livez while draining: got %d, want 200", status)
	}
	if !await(t, lastWords, func() bool { return !b.accepts() }) {
		t.Error("berth takes new connections while draining")
	}
	streams.wantCompleted(t, subscriptions)
	if left := len(answers); left != 0 {
		t.Errorf("calls answered before their tools ended: got %d, want none", left)
	}

	greetings.open()
	wantGreetings(t, answers, calls)
	b.awaitExit(t, drainDefault+lastWords)
	if got := b.command.ProcessState.ExitCode(); got != 0 {
		t.Errorf("exit code: got %d, want 0", got)
	}
	fleet.wantExecutions(t, calls)
}

// accepts reports whether berth takes a new connection of a client.
func (b *watched) accepts() bool {
	connection, err := net.DialTimeout("tcp", strings.TrimPrefix(b.base, "http://"), time.Second)
	if err != nil {
		return false
	}
	_ = connection.Close() // nothing was sent on it
	return true
}

// subscribed are the standing streams of many clients.
type subscribed struct {
	ends chan string // what each heard last, once it ended
}

// subscribe opens n subscriptions and waits until each is acknowledged.
func subscribe(t testing.TB, client *modernClient, b *watched, n int) subscribed {
	t.Helper()
	s := subscribed{ends: make(chan string, n)}
	standing := &http.Client{Transport: client.http.Transport} // without a time-out
	crowd(t, n, 32, func(int) {
		response, err := standing.Do(modernRequest(t, b.url(), "subscriptions/listen", "", listenTo()))
		if err != nil {
			t.Errorf("listening: %v", err)
			return
		}
		events := bufio.NewReader(response.Body)
		if first, err := readEvent(events); err != nil || !strings.Contains(first, "acknowledged") {
			t.Errorf("listening: got %q, %v, want an acknowledgement", first, err)
		}
		go func() {
			defer response.Body.Close()
			rest, err := io.ReadAll(events)
			s.ends <- fmt.Sprintf("%s%v", rest, err)
		}()
	})
	return s
}

// readEvent reads a stream up to the empty line that ends an event.
func readEvent(r *bufio.Reader) (string, error) {
	var event strings.Builder
	for {
		line, err := r.ReadString('\n')
		event.WriteString(line)
		if err != nil || line == "\n" {
			return event.String(), err
		}
	}
}

// wantCompleted waits for the end of n streams: the completion result, and no broken
// connection.
func (s subscribed) wantCompleted(t testing.TB, n int) {
	t.Helper()
	limit := time.NewTimer(healedWithin)
	defer limit.Stop()
	for i := range n {
		select {
		case end := <-s.ends:
			if !strings.Contains(end, `"id":1,"result":{"resultType":"complete"`) || !strings.HasSuffix(end, "<nil>") {
				t.Errorf("a subscription ended with %q, want its completion result", end)
			}
		case <-limit.C:
			t.Fatalf("subscriptions that ended: got %d, want %d", i, n)
		}
	}
}

// greeted is the answer to one call of greet, and what it should have said.
type greeted struct {
	want string
	got  answer
	err  error
}

// greet calls a tool n times at once. The calls end in their own time.
func greet(t testing.TB, client *modernClient, b *watched, n int) <-chan greeted {
	t.Helper()
	answers := make(chan greeted, n)
	var sent sync.WaitGroup
	for i := range n {
		name := fmt.Sprintf("caller-%d", i)
		sent.Add(1)
		go func() {
			sent.Done()
			got, err := client.send(t, b.url(), "tools/call", "greet", map[string]any{
				"name": "greet", "arguments": map[string]any{"name": name},
			})
			answers <- greeted{want: "Hello, " + name + "!", got: got, err: err}
		}()
	}
	sent.Wait()
	return answers
}

// wantGreetings waits for n answers, each to its own call.
func wantGreetings(t testing.TB, answers <-chan greeted, n int) {
	t.Helper()
	for range n {
		if a := <-answers; a.err != nil || a.got.status != http.StatusOK || !strings.Contains(a.got.body, a.want) {
			t.Errorf("got %v, %v, want %q", a.got, a.err, a.want)
		}
	}
}

// What is not done when the time to drain is over is cut, and berth ends in order.
func TestWhatOutlivesTheDrainIsCut(t *testing.T) {
	t.Parallel()
	const drain = time.Second
	greetings := newGate("greet")
	fleet := startLocalFleet(t, greetings.hold)
	b := startWatched(t, fleet.fleet, "--config", configFile(t, `drain = "1s"`))
	answers := greet(t, newModernClient(t), b, 1)
	if !await(t, readyWithin, func() bool { return fleet.calls("tools/call") == 1 }) {
		t.Fatal("the call did not reach the fleet")
	}
	b.signal(t, syscall.SIGTERM)
	b.awaitExit(t, drain+lastWords)
	if a := <-answers; a.err == nil {
		t.Errorf("got %v, want a broken connection", a.got)
	}
	if got := b.command.ProcessState.ExitCode(); got != 0 {
		t.Errorf("exit code: got %d, want 0", got)
	}
	log := b.output.String()
	if !strings.Contains(log, "drain time is over") {
		t.Error("the log does not say that something was cut")
	}
	for _, want := range []string{`"a request was cut at the end of the drain"`, `"method":"tools/call","age":"`, `"tool":"greet"`, `"outcome":"cut"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not say %s:\n%s", want, log)
		}
	}
}

// A legacy call is read on after its client left; its access record is written all the same
// when berth has no time left for that.
func TestCallReadOnWithoutItsClientLeavesItsRecord(t *testing.T) {
	t.Parallel()
	greetings := newGate("greet")
	fleet := startLocalFleet(t, greetings.hold)
	b := startWatched(t, fleet.fleet, "--config", configFile(t, `drain = "1s"`))
	_, session := legacyPost(t, b.url(), "", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	go func() {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url(),
			strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"x"}}}`))
		if err != nil {
			t.Error(err)
			return
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		request.Header.Set("Mcp-Session-Id", session)
		request.Header.Set("Mcp-Method", "tools/call") // for the gate: nobody else minds
		if response, err := http.DefaultClient.Do(request); err == nil {
			response.Body.Close()
			t.Errorf("got %d, want a broken connection", response.StatusCode)
		}
	}()
	if !await(t, readyWithin, func() bool { return fleet.calls("tools/call") == 1 }) {
		t.Fatal("the call did not reach the fleet")
	}
	leave()
	b.signal(t, syscall.SIGTERM)
	b.awaitExit(t, lastWords+time.Second)
	if log := b.output.String(); !strings.Contains(log, `"outcome":"cut"`) {
		t.Errorf("no access record of the call:\n%s", log)
	}
}

// Who asks twice does not want to wait.
func TestSecondTerminationEndsBerthAtOnce(t *testing.T) {
	t.Parallel()
	for _, second := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(second.String(), func(t *testing.T) {
			t.Parallel()
			greetings := newGate("greet")
			fleet := startLocalFleet(t, greetings.hold)
			b := startWatched(t, fleet.fleet, "--config", configFile(t, `drain = "1h"`))
			answers := greet(t, newModernClient(t), b, 1)
			if !await(t, readyWithin, func() bool { return fleet.calls("tools/call") == 1 }) {
				t.Fatal("the call did not reach the fleet")
			}
			b.signal(t, syscall.SIGTERM)
			if !await(t, lastWords, func() bool { status, _ := b.readyz(t); return status == http.StatusServiceUnavailable }) {
				t.Error("/readyz: want 503 while draining")
			}
			if !b.alive() {
				t.Fatal("berth did not wait for its call")
			}
			b.signal(t, second)
			b.awaitExit(t, lastWords)
			<-answers
		})
	}
}

package integration

import (
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// scaled is a fleet of real servers at one port of several loopback addresses, as the pods of a
// service are at one port of theirs.
type scaled struct {
	fleet
	port string
}

// startScaled starts n instances, named a, b and so on, at 127.0.0.2, 127.0.0.3 and so on.
func startScaled(t testing.TB, n int) *scaled {
	t.Helper()
	skipShort(t)
	s := &scaled{port: portOf(t, freeAddress(t))}
	for range n {
		s.start(t)
	}
	return s
}

// start starts one instance more.
func (s *scaled) start(t testing.TB) *instance {
	t.Helper()
	i := len(s.fleet)
	name, host := string(rune('a'+i)), net.IPv4(127, 0, 0, byte(2+i)).String()
	address := net.JoinHostPort(host, s.port)
	p := start(t, name, nodeCommand(t, filepath.Join(serversDir, "tasks-server.js"), "--host", host, "--port", s.port, "--name", name))
	if !p.awaitListening(t, address) {
		t.Fatalf("%s does not listen on %s", name, address)
	}
	one := &instance{process: p, base: "http://" + address}
	s.fleet = append(s.fleet, one)
	return one
}

// flow is clients that make tasks, each polled to its end, and make plain calls meanwhile.
type flow struct {
	client  *modernClient
	urls    []string // of the berths, in turn
	stop    chan struct{}
	once    sync.Once
	workers sync.WaitGroup
	made    atomic.Int64 // tasks
	done    atomic.Int64 // of these, completed
}

// startFlow lets clients work until end, or the test's. Each answer that is not what it should be
// fails the test.
func startFlow(t testing.TB, clients int, berths ...*watched) *flow {
	t.Helper()
	f := &flow{client: newModernClient(t), stop: make(chan struct{})}
	for _, b := range berths {
		f.urls = append(f.urls, b.url())
	}
	t.Cleanup(f.end)
	for worker := range clients {
		f.workers.Go(func() {
			for n := worker; !f.ended(); n++ {
				f.task(t, n, 1)
			}
		})
	}
	return f
}

func (f *flow) ended() bool {
	select {
	case <-f.stop:
		return true
	default:
		return false
	}
}

func (f *flow) end() {
	f.once.Do(func() { close(f.stop) })
	f.workers.Wait()
}

// task makes a task through one berth and polls it at all of them.
func (f *flow) task(t testing.TB, n, seconds int) {
	made, err := f.client.send(t, f.urls[n%len(f.urls)], "tools/call", "slow_compute", slowCompute(seconds))
	if err != nil || made.status != http.StatusOK || made.Result.TaskID == "" {
		t.Errorf("a task: got %v, %v", made, err)
		<-time.After(pollPauseOfFlow)
		return
	}
	f.made.Add(1)
	bound := time.Now().Add(time.Duration(seconds)*time.Second + readyWithin)
	for n++; time.Now().Before(bound); n++ {
		got, err := f.client.poll(t, f.urls[n%len(f.urls)], made.Result.TaskID)
		if err != nil || got.status != http.StatusOK || got.Result.TaskID != made.Result.TaskID {
			t.Errorf("polling %s: got %v, %v", made.Result.TaskID, got, err)
		}
		if got.Result.Status == "completed" {
			f.done.Add(1)
			return
		}
		<-time.After(pollPauseOfFlow)
	}
	t.Errorf("task %s did not complete", made.Result.TaskID)
}

const pollPauseOfFlow = 50 * time.Millisecond

// awaitUpstreams waits until a berth has this many discovered upstreams in a state.
func (b *watched) awaitUpstreams(t testing.TB, state string, want int) {
	t.Helper()
	if !await(t, readyWithin, func() bool { return b.metric(t, "berth_discovery_upstreams", `state="`+state+`"`) == want }) {
		t.Fatalf("upstreams %s: got %d, want %d", state, b.metric(t, "berth_discovery_upstreams", `state="`+state+`"`), want)
	}
}

//go:build e2e

package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/realtest"
)

// from has requests come from an address, as a trusted proxy says.
type from struct {
	address string
	http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (f from) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Forwarded-For", f.address)
	return f.RoundTripper.RoundTrip(r)
}

// clientFrom is a client that comes from an address of its own.
func clientFrom(t testing.TB, address string) *modernClient {
	c := newModernClient(t)
	c.http.Transport = from{address, c.http.Transport}
	return c
}

// keeping is a fleet whose tools refuse, return 8 MiB less a little, or are done at once.
func keeping(t testing.TB) *localFleet {
	result := `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"` + strings.Repeat("r", 8<<20-1024) + `"}]}}`
	return startLocalFleet(t, func(w http.ResponseWriter, _ *http.Request, body []byte) bool {
		head := string(body[:min(len(body), 300)]) + string(body[max(0, len(body)-300):])
		switch {
		case strings.Contains(head, `"refuse"`):
			w.WriteHeader(http.StatusUnauthorized)
			return true
		case strings.Contains(head, `"large"`):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, result, idIn(body))
			return true
		case strings.Contains(head, `"quick"`):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, idIn(body))
			return true
		}
		return false
	})
}

// idIn is the raw id of a request.
func idIn(body []byte) json.RawMessage {
	var request struct{ ID json.RawMessage }
	_ = json.Unmarshal(body, &request) // what is none is answered under no id
	return request.ID
}

// A caller without any credential floods a berth that has its tasks in a memory of 256 MiB,
// by calls of 4 MB that are refused, or by results of 8 MiB: it is told 429, and another
// one's calls and polls go on.
func TestFloodOfWhatTasksKeepIsItsCallersAffair(t *testing.T) {
	const limit = 256 << 20
	for tool, size := range map[string]int{"refuse": 4<<20 - 4096, "large": 10} {
		t.Run(tool, func(t *testing.T) {
			fleet := keeping(t)
			b := startBerthUnder(t, fleet.fleet, "export GOMEMLIMIT=256MiB", "--store", "memory:", "--config",
				configFile(t, "trusted_proxies = [\"127.0.0.1/32\"]\n[[upgrade]]\ntools = [\"refuse\", \"large\", \"quick\"]\n"))
			flooder, other := clientFrom(t, "192.0.2.1"), clientFrom(t, "192.0.2.2")
			argument := strings.Repeat("a", size)
			var mu sync.Mutex // guards told
			told := map[string]int{}
			over := make(chan struct{})
			go func() {
				defer close(over)
				crowd(t, 80, 8, func(int) {
					got, err := flooder.send(t, b.url(), "tools/call", tool, map[string]any{"name": tool, "arguments": map[string]any{"a": argument}})
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					told[fmt.Sprint(got.status, " ", got.Error.Data.Reason)]++
				})
			}()
			calls := 0
			for busy := true; busy || calls < 10; calls++ {
				select {
				case <-over:
					busy = false
				case <-time.After(50 * time.Millisecond):
				}
				got, err := other.send(t, b.url(), "tools/call", "quick", map[string]any{"name": "quick"})
				if err != nil || got.Result.TaskID == "" {
					t.Fatalf("another caller's call: %v, %v", got, err)
				}
				realtest.Eventually(t, "the end of another caller's task", func() bool {
					poll, err := other.poll(t, b.url(), got.Result.TaskID)
					if err != nil || poll.status != http.StatusOK {
						t.Fatalf("another caller's poll: %v, %v", poll, err)
					}
					return poll.Result.Status == "completed" || poll.Result.Status == "failed"
				})
			}
			t.Logf("told %v, beside %d calls of another caller; %d MiB at most", told, calls, b.peakMemory(t)>>20)
			if tool == "large" && told["429 too_much_kept"] == 0 { // results may come later than calls
				realtest.Eventually(t, "that the flooder is refused", func() bool {
					got, err := flooder.send(t, b.url(), "tools/call", tool, map[string]any{"name": tool, "arguments": map[string]any{"a": argument}})
					return err == nil && got.status == http.StatusTooManyRequests
				})
			}
			if !b.alive() {
				t.Error("the berth is gone")
			}
			if peak := b.peakMemory(t); !raceEnabled && peak > 2*limit {
				t.Errorf("%d MiB resident, limit %d", peak>>20, limit>>20)
			}
		})
	}
}

// A caller has 40 connections on which it reads nothing of results of 8 MiB, in a memory of 256
// MiB: one of them is in memory once, more are refused, and another one's calls and polls go on.
func TestSlowReadersAreTheirCallersAffair(t *testing.T) {
	const limit, readers = 256 << 20, 40
	fleet := keeping(t)
	b := startBerthUnder(t, fleet.fleet, "export GOMEMLIMIT=256MiB", "--store", "memory:", "--config",
		configFile(t, "trusted_proxies = [\"127.0.0.1/32\"]\n[[upgrade]]\ntools = [\"large\", \"quick\"]\n"))
	slow, other := clientFrom(t, "192.0.2.1"), clientFrom(t, "192.0.2.2")
	made := func(c *modernClient, tool string) string {
		got, err := c.send(t, b.url(), "tools/call", tool, map[string]any{"name": tool})
		if err != nil || got.Result.TaskID == "" {
			t.Fatalf("a call of %s: %v, %v", tool, got, err)
		}
		return got.Result.TaskID
	}
	ended := func(c *modernClient, id string) {
		realtest.Eventually(t, "the end of a task", func() bool {
			poll, err := c.poll(t, b.url(), id)
			if err != nil || poll.status != http.StatusOK {
				t.Fatalf("a poll: %v, %v", poll, err)
			}
			return poll.Result.Status == "completed"
		})
	}
	ids := []string{made(slow, "large"), made(slow, "large"), made(slow, "large")}
	for _, id := range ids {
		ended(slow, id)
	}
	told := map[int]int{}
	for i := range readers {
		r := modernRequest(t, b.url(), "tasks/get", ids[i%len(ids)], map[string]any{"taskId": ids[i%len(ids)]})
		resp, err := slow.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		told[resp.StatusCode]++
	}
	for range 10 {
		ended(other, made(other, "quick"))
	}
	t.Logf("told %v, %d MiB at most", told, b.peakMemory(t)>>20)
	if told[http.StatusOK] < readers/3 || told[http.StatusTooManyRequests] == 0 || len(told) != 2 {
		t.Errorf("told %v, want 200 of two results and 429 of the third", told)
	}
	if peak := b.peakMemory(t); !raceEnabled && peak > limit {
		t.Errorf("%d MiB resident, limit %d", peak>>20, limit>>20)
	}
}

package mcptest_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcptest"
	"berth/internal/memnet"
)

// sleeperBench is a bench of a server without tasks.
func sleeperBench(t *testing.T, s *mcptest.Sleeper) *bench {
	t.Helper()
	l := memnet.Listen("a")
	server := &http.Server{Handler: s}
	go server.Serve(l)
	transport := &http.Transport{DialContext: memnet.Dialer(l)}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
	})
	return &bench{t: t, client: &http.Client{Transport: transport}}
}

// A nap of two seconds.
const napParams = `"name":"sleep","arguments":{"seconds":2,"label":"job"}`

func TestSleeperKnowsNoTasks(t *testing.T) {
	b := sleeperBench(t, &mcptest.Sleeper{})
	if r := b.modern("server/discover", "", ""); r.status != http.StatusOK || strings.Contains(r.body, "extensions") {
		t.Errorf("discover: got %d %s, want no extension", r.status, r.body)
	}
	if r := b.modern("tools/list", "", ""); !strings.Contains(r.body, `"sleep"`) || strings.Contains(r.body, "taskSupport") {
		t.Errorf("list: got %s, want sleep, a plain tool", r.body)
	}
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel", "subscriptions/listen"} {
		if r := b.modern(method, "x", byID("x")); r.status != http.StatusNotFound || r.code() != -32601 {
			t.Errorf("%s: got %d %s, want 404, -32601", method, r.status, r.body)
		}
	}
	if r := b.modern("tools/call", "who", `"name":"who"`); !strings.Contains(r.body, "-32602") {
		t.Errorf("another tool: got %s, want -32602", r.body)
	}
}

func TestSleeperKeepsItsCallersWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &mcptest.Sleeper{Name: "a"}
		b := sleeperBench(t, s)
		start := time.Now()
		var calls sync.WaitGroup
		for range 3 {
			calls.Go(func() {
				r := b.modern("tools/call", "sleep", napParams)
				if !strings.Contains(r.body, `"resultType":"complete"`) || !strings.Contains(r.body, `"label":"job"`) {
					t.Errorf("got %s, want the result itself", r.body)
				}
				if strings.Contains(r.body, "notifications/progress") {
					t.Errorf("got %s, want no progress: nobody asked for it", r.body)
				}
			})
		}
		calls.Wait()
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("took %v, want 2s", took)
		}
		b.modern("tools/call", "sleep", napParams)
		if s.Runs() != 4 || s.AtOnce() != 3 {
			t.Errorf("got %d runs, %d at once, want 4, 3", s.Runs(), s.AtOnce())
		}
	})
}

func TestSleeperTellsItsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sleeperBench(t, &mcptest.Sleeper{})
		meta := `"_meta":{"progressToken":"p","io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
		r := b.post(body("tools/call", napParams+","+meta),
			"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "sleep")
		for _, want := range []string{`"progress":0,"progressToken":"p","total":10`, `"progress":9,"progressToken":"p","total":10`} {
			if !strings.Contains(r.body, want) {
				t.Errorf("got %s, want %s in it", r.body, want)
			}
		}
	})
}

func TestSleeperWakesWhenItsCallerHangsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &mcptest.Sleeper{}
		b := sleeperBench(t, s)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := b.send(ctx, http.MethodPost, body("tools/call", napParams+","+modernMeta),
			"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "sleep")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v, want %v", err, context.DeadlineExceeded)
		}
		synctest.Wait()
		b.modern("tools/call", "sleep", napParams)
		if s.Runs() != 2 || s.AtOnce() != 1 {
			t.Errorf("got %d runs, %d at once, want 2, 1: the first ended with its caller", s.Runs(), s.AtOnce())
		}
	})
}

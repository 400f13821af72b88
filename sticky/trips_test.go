package sticky

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/storage/redistest"
)

// commands are what a server is sent while do runs, those of scripts left out.
func commands(t *testing.T, server *redistest.Server, do func()) (sent []string) {
	t.Helper()
	monitor, err := net.Dial("tcp", server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer monitor.Close()
	lines := bufio.NewScanner(monitor)
	if _, err := fmt.Fprint(monitor, "MONITOR\r\n"); err != nil || !lines.Scan() {
		t.Fatalf("MONITOR: %v", err)
	}
	do()
	server.Do("ECHO", "that is all")
	for lines.Scan() && !strings.Contains(lines.Text(), "that is all") {
		_, command, _ := strings.Cut(lines.Text(), `] "`)
		name, _, _ := strings.Cut(command, `"`)
		if !strings.Contains(lines.Text(), " lua]") {
			sent = append(sent, name)
		}
	}
	return sent
}

// What a request waits for is one round trip at most, whatever is written with it. What is written later, nobody waits for.
func TestRoundTripsOfARequest(t *testing.T) {
	server := redistest.Start(t)
	other, b := newBerth(t, server.URL(), Options{}, 0), newBerth(t, server.URL(), Options{Near: 100}, 0)
	other.mustBind(t, task("elsewhere"), "a", time.Hour)
	bind := func(key Key, beside Beside) {
		if err := b.BindBeside(t.Context(), key, Binding{Upstream: "a"}, time.Hour, beside); err != nil {
			t.Error(err)
		}
	}
	b.mustBind(t, task("first"), "a", time.Hour) // from now on the server knows the scripts
	bind(session("first"), Beside{Handshake: "h"})
	if _, err := b.Owned(t.Context(), "p", "a"); err != nil { // and what goes by itself has a connection
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		do   func()
		want []string
	}{
		{"a poll that finds its binding in memory", func() { b.owns(t, "a", task("first"), SourceLRU) }, nil},
		{"a poll that does not", func() { b.owns(t, "a", task("elsewhere"), SourceStore) }, []string{"get"}},
		{"a poll of what nobody knows", func() { b.unknown(t, task("nowhere")) }, []string{"get"}},
		{"a creation", func() { bind(task("new"), Beside{}) }, []string{"evalsha"}},
		{"a creation of somebody's", func() { bind(task("claimed"), Beside{Claim: Binding{Upstream: "a", Principal: "p"}}) }, []string{"evalsha"}},
		{"a session", func() { bind(session("s"), Beside{}) }, []string{"evalsha"}},
		{"a session that may move", func() { bind(session("moves"), Beside{Handshake: "h", Claim: Binding{Upstream: "a", Principal: "p"}}) }, []string{"evalsha"}},
		{"the version of a session, told later", func() { b.Amend(t.Context(), session("moves"), Binding{Upstream: "a", Version: "v"}, "h", "") }, []string{"evalsha"}},
		{"a poll that tells of another state", func() {
			binding := b.owns(t, "a", task("first"), SourceLRU)
			b.Observe(task("first"), &binding, Seen{At: time.Now(), Status: "completed", Ended: true})
		}, nil},
		{"what is written of that later", func() {
			if err := b.refresher.apply(t.Context(), <-b.refresher.updates); err != nil {
				t.Error(err)
			}
		}, []string{"get", "evalsha", "eval", "evalsha", "eval"}}, // the server sees these scripts for the first time
	} {
		if got := commands(t, server, tc.do); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
	if binding := other.owns(t, "a", task("claimed"), SourceStore); binding.Upstream != "a" {
		t.Errorf("the creation: %+v", binding)
	}
	if claim, _, err := other.Lookup(t.Context(), task("claimed").Claim()); err != nil || claim.Principal != "p" {
		t.Errorf("the claim: got %+v, %v", claim, err)
	}
	if got, err := other.Handshake(t.Context(), session("moves")); err != nil || string(got) != "h" {
		t.Errorf("the handshake: got %q, %v", got, err)
	}
	if owned, err := other.Owned(t.Context(), "p", "a"); err != nil || owned.Tasks != 4 || owned.Sessions != 3 {
		t.Errorf("owned: got %+v, %v", owned, err)
	}
}

// What a creation allocates with Redis, once the server knows the script.
func TestCostOfABindingInRedis(t *testing.T) {
	b := newBerth(t, redistest.Start(t).URL(), Options{Near: 1}, 0)
	b.mustBind(t, task("first"), "a", time.Hour)
	n := 0
	if got := testing.AllocsPerRun(100, func() {
		n++
		b.mustBind(t, task(fmt.Sprint(n)), "a", time.Hour)
	}); got > 5+byRaceDetector {
		t.Errorf("a creation: got %v allocations", got)
	}
	if got := testing.AllocsPerRun(100, func() {
		_, _, _ = b.Lookup(t.Context(), task("first"))
		_, _, _ = b.Lookup(t.Context(), task("1"))
	}); got > 2*1+byRaceDetector {
		t.Errorf("two look-ups: got %v allocations", got)
	}
}

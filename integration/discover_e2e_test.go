//go:build e2e

package integration

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"berth/internal/discover/discovertest"
)

// discovering is a berth's configuration with a source of upstreams.
func discovering(t testing.TB, store, source string) string {
	t.Helper()
	return configFile(t, fmt.Sprintf("[store]\nurl = %q\n[[pools]]\nowner_grace = \"2s\"\n[pools.discover]\nlinger = \"2s\"\nmax_ttl = \"500ms\"\nmin_ttl = \"100ms\"\nempty_grace = \"2s\"\n%s\n", store, source))
}

// publish makes these instances the ones that a source tells of. Of those that leave some sources
// tell that they do.
type publish func(t testing.TB, instances, leaving fleet)

func inDNS(server *discovertest.NameServer) publish {
	return func(t testing.TB, instances, _ fleet) {
		t.Helper()
		var lines []string
		for _, i := range instances {
			host, _, err := net.SplitHostPort(strings.TrimPrefix(i.base, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, "mcp.test. 1 A "+host)
		}
		server.Set(t, lines...)
	}
}

// inKubernetes tells of pods, of which those that leave terminate first.
func inKubernetes(server *discovertest.APIServer, port string) publish {
	return func(t testing.TB, instances, leaving fleet) {
		t.Helper()
		number, err := strconv.Atoi(port)
		if err != nil {
			t.Fatal(err)
		}
		var endpoints []discovertest.Endpoint
		for n, i := range slices.Concat(instances, leaving) {
			host, _, err := net.SplitHostPort(strings.TrimPrefix(i.base, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			goes := n >= len(instances)
			endpoints = append(endpoints, discovertest.Endpoint{Pod: "mcp-" + i.name, Address: host, Ready: !goes, Serving: true, Terminating: goes})
		}
		server.Put("mcp", "mcp-x1", "IPv4", number, endpoints...)
	}
}

func inFile(path string) publish {
	return func(t testing.TB, instances, _ fleet) {
		t.Helper()
		list := []map[string]any{}
		for _, i := range instances {
			list = append(list, map[string]any{"name": i.name, "url": i.url()})
		}
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+".new", text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
}

// Instances come and go under load: nothing fails, and what one that leaves owns is answered until
// it stops.
func TestFleetScalesByDNS(t *testing.T) {
	t.Parallel()
	server := discovertest.NewNameServer(t)
	s := startScaled(t, 3)
	inDNS(server)(t, s.fleet, nil)
	config := discovering(t, "memory:", fmt.Sprintf("dns = \"mcp.test:%s\"\nresolver = %q", s.port, server.Addr))
	scaleOutAndIn(t, s, inDNS(server), "left", startWatched(t, nil, "--config", config))
}

func TestFleetScalesByFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "upstreams.json")
	s := startScaled(t, 3)
	inFile(path)(t, s.fleet, nil)
	config := discovering(t, "memory:", fmt.Sprintf("file = %q", path))
	scaleOutAndIn(t, s, inFile(path), "left", startWatched(t, nil, "--config", config))
}

func TestFleetScalesByKubernetes(t *testing.T) {
	t.Parallel()
	server := discovertest.NewAPIServer(t)
	server.Demand("secret")
	dir := t.TempDir()
	ca, token := filepath.Join(dir, "ca.crt"), filepath.Join(dir, "token")
	for path, content := range map[string][]byte{ca: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), token: []byte("secret\n")} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := startScaled(t, 3)
	publish := inKubernetes(server, s.port)
	publish(t, s.fleet, nil)
	config := discovering(t, "memory:", fmt.Sprintf("[pools.discover.kubernetes]\nservice = \"mcp\"\nnamespace = \"default\"\napi = %q\nca_file = %q\ntoken_file = %q", server.URL, ca, token))
	scaleOutAndIn(t, s, publish, "draining", startWatched(t, nil, "--config", config))
}

// A berth whose name server is behind finds what another one has made at an instance that it has
// not heard of itself, and so does one that begins when the instance has left.
func TestBerthsFindInstancesThatTheirSourceDoesNotTellOf(t *testing.T) {
	t.Parallel()
	store := redisStore(t)
	s := startScaled(t, 2)
	ahead, behind := discovertest.NewNameServer(t), discovertest.NewNameServer(t)
	inDNS(ahead)(t, s.fleet, nil)
	inDNS(behind)(t, s.fleet, nil)
	start := func(server *discovertest.NameServer) *watched {
		b := startWatched(t, nil, "--config", discovering(t, store, fmt.Sprintf("dns = \"mcp.test:%s\"\nresolver = %q", s.port, server.Addr)))
		b.awaitUpstreams(t, "present", len(s.fleet))
		return b
	}
	one, other := start(ahead), start(behind)
	f := startFlow(t, 12, one, other)
	more := s.start(t)
	inDNS(ahead)(t, s.fleet, nil)
	if !await(t, readyWithin, func() bool { return more.stats(t).Tasks > 5 }) {
		t.Fatal("the new one was given no work")
	}
	if got := other.metric(t, "berth_discovery_upstreams", `state="present"`); got != 2 {
		t.Fatalf("the berth behind has heard of %d, want 2", got)
	}
	var ids []string
	for range 12 {
		ids = append(ids, f.client.create(t, one.url(), 8).TaskID)
	}
	inDNS(ahead)(t, s.fleet[:2], nil)
	one.awaitUpstreams(t, "left", 1)
	f.end()
	s.fleet = s.fleet[:2]
	late := start(ahead)
	for _, id := range ids {
		var got answer
		if !await(t, readyWithin, func() bool {
			var err error
			got, err = f.client.poll(t, late.url(), id)
			return err != nil || got.Result.Status != "working"
		}) || got.Result.Status != "completed" {
			t.Errorf("a task at one that left before berth began: got %v, want it completed", got)
		}
	}
	if got := more.stats(t); got.Polls == 0 || got.UnknownPolls != 0 {
		t.Errorf("the one that left: got %+v, want polls for its own tasks", got)
	}
}

func scaleOutAndIn(t *testing.T, s *scaled, publish publish, leaves string, berths ...*watched) {
	t.Helper()
	for _, b := range berths {
		b.awaitUpstreams(t, "present", 3)
		if status, text := fetch(t, b.admin+"/readyz?verbose"); status != http.StatusOK {
			t.Fatalf("/readyz: got %d %s", status, text)
		}
	}
	f := startFlow(t, 12, berths...)

	more := []*instance{s.start(t), s.start(t)}
	publish(t, s.fleet, nil)
	for _, i := range more {
		if !await(t, readyWithin, func() bool { return i.stats(t).Tasks > 3 }) {
			t.Fatalf("%s was given no work", i.name)
		}
	}

	// Tasks that outlast the departure of whom they are at.
	var long flow
	long.client, long.urls, long.stop = f.client, f.urls, make(chan struct{})
	t.Cleanup(long.end)
	for n := range 20 {
		long.workers.Go(func() { long.task(t, n, 6) })
	}
	const all = 20
	if !await(t, readyWithin, func() bool { return long.made.Load() == all }) {
		t.Fatalf("long tasks: got %d, want %d", long.made.Load(), all)
	}
	leaving, staying := s.fleet[:2], s.fleet[2:]
	publish(t, staying, leaving)
	for _, b := range berths {
		b.awaitUpstreams(t, leaves, 2)
	}
	before := leaving.sum(t, stats.tasks)
	if before == 0 {
		t.Fatal("those that leave own nothing")
	}
	<-time.After(2 * time.Second)
	if got := leaving.sum(t, stats.tasks); got != before {
		t.Errorf("tasks made at those that left: got %d, want none", got-before)
	}
	long.workers.Wait()
	if got := long.done.Load(); got != all {
		t.Errorf("long tasks that completed: got %d, want %d", got, all)
	}
	for _, i := range leaving {
		i.kill()
	}
	publish(t, staying, nil)
	<-time.After(time.Second)
	f.end()
	for _, b := range berths {
		b.awaitUpstreams(t, leaves, 0)
		b.awaitUpstreams(t, "left", 0)
	}
	t.Logf("%d tasks, none failed", f.done.Load()+long.done.Load())
}

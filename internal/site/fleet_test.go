package site

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/config"
	"berth/internal/discover/discovertest"
	"berth/internal/realtest"
	"berth/routing"
	"berth/sticky"
)

// discovering is a pool with a source, and a fleet that follows it.
func discovering(t *testing.T, change func(*config.Pool)) (*generation, *fleet) {
	t.Helper()
	pool := config.DefaultPool()
	change(&pool)
	g := generationOf(config.Default().Auth)
	var err error
	if g.callers, err = g.newCallers(g.cfg.Auth); err != nil {
		t.Fatal(err)
	}
	if _, err := g.newEndpoint(pool); err != nil {
		t.Fatal(err)
	}
	g.assignMembers()
	f := g.fleets()[0]
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = f.Run(t.Context())
	}()
	t.Cleanup(func() { <-done })
	return g, f
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// members are a pool's upstreams in short, those that drain with "-".
func members(f *fleet) string {
	var all []string
	for _, u := range f.pool.Upstreams() {
		name := u.Name
		if u.Draining {
			name += "-"
		}
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

func TestAPoolHasWhoIsNamedAndWhoIsDiscovered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "upstreams.json")
	_, f := discovering(t, func(p *config.Pool) {
		p.Discover.File = path
		p.Upstreams = []config.Upstream{{Name: "named", URL: "http://127.0.0.1:9/mcp"}, {Name: "usual", URL: "http://HOST/mcp"}}
	})
	realtest.Eventually(t, "the failure is told", func() bool {
		ok, detail := f.ready()
		return !ok && strings.Contains(detail, "has not answered yet: reading "+path)
	})
	if got := members(f); got != "named usual" {
		t.Errorf("before an answer: got %q", got)
	}
	put(t, path, `[{"name":"named","address":"127.0.0.1:10"},{"name":"same","url":"http://127.0.0.1:9/mcp"},{"name":"also","address":"host:80"},{"name":"x","address":"127.0.0.1:11"},{"name":"y","address":"127.0.0.1:12","drain":true}]`)
	realtest.Eventually(t, "who is discovered", func() bool { return members(f) == "named usual x y-" })
	if ok, detail := f.ready(); !ok || detail != "" {
		t.Errorf("got %t, %q", ok, detail)
	}
	put(t, path, `[`)
	realtest.Eventually(t, "the fault is told", func() bool {
		ok, detail := f.ready()
		return ok && strings.Contains(detail, "what it told last counts")
	})
	if got := members(f); got != "named usual x y-" {
		t.Errorf("after a faulty file: got %q", got)
	}
}

// What an upstream owns is not lost because a reading of the file does not name it any more.
func TestAnUpstreamThatTheFileDropsDrains(t *testing.T) {
	g, f := discovering(t, func(p *config.Pool) { p.Upstreams = named("a", "b") })
	become := func(names ...string) {
		t.Helper()
		pool := config.DefaultPool()
		pool.Upstreams, pool.Discover.ForgetAfter = named(names...), config.Duration(100*time.Millisecond)
		m, err := newMembership(pool)
		if err != nil {
			t.Fatal(err)
		}
		g.assigned[0].fleet.become(m)
	}
	before := f.pool.Find("b")
	become("a")
	if got := members(f); got != "a b-" || !f.pool.Find("b").Is(before) {
		t.Errorf("b is dropped: got %q, want it to drain", got)
	}
	become("a", "b")
	if got := members(f); got != "a b" {
		t.Errorf("b is named again: got %q, want it to take work", got)
	}
	become("a")
	realtest.Eventually(t, "b is forgotten", func() bool { return members(f) == "a" })
}

// What an upstream owns is bound to its name. By another name it is another upstream, beside which it drains.
func TestAnUpstreamThatTheFileRenamesDrainsByItsFormerName(t *testing.T) {
	g, f := discovering(t, func(p *config.Pool) { p.Upstreams = named("a", "b") })
	before := f.pool.Find("b")
	pool := config.DefaultPool()
	pool.Upstreams = named("a", "c")
	m, err := newMembership(pool)
	if err != nil {
		t.Fatal(err)
	}
	g.assigned[0].fleet.become(m)
	if got := members(f); got != "a c b-" || !f.pool.Find("b").Is(before) {
		t.Errorf("got %q, want what was b to drain beside c", got)
	}
}

// An instance that has left is held by what waits for its client there, with nothing in flight, and by what is under way at other berths.
func TestAnInstanceThatLeftIsHeldByAllThatGoesOnThere(t *testing.T) {
	_, f := discovering(t, func(p *config.Pool) { p.Upstreams = named("a") })
	u := f.pool.Find("a")
	if _, err := u.Count(func() (sticky.Owned, error) { return sticky.Owned{Counted: time.Now()}, nil }); err != nil {
		t.Fatal(err)
	}
	if got := f.holds("a"); got.Owned != 0 {
		t.Errorf("with nothing there: got %+v", got)
	}
	u.Wait()
	if got := f.holds("a"); got.Owned != 1 {
		t.Errorf("with a call that waits for its client: got %+v", got)
	}
	u.WaitOver()
	lease := f.pool.Own(u)
	if got := f.holds("a"); got.Owned != 1 {
		t.Errorf("with a request: got %+v", got)
	}
	lease.Release()
	f.others = func(pool, upstream string) int { return len(pool + upstream) }
	if got := f.holds("a"); got.Owned != len("defaulta") {
		t.Errorf("with what others have there: got %+v", got)
	}
}

func named(names ...string) (list []config.Upstream) {
	for i, name := range names {
		u := config.DefaultUpstream()
		u.Name, u.URL = name, fmt.Sprintf("http://127.0.0.1:%d/mcp", i+1)
		list = append(list, u)
	}
	return list
}

// A reload changes the source, or ends it.
func TestTheSourceChangesWithTheConfiguration(t *testing.T) {
	dir := t.TempDir()
	one, other := filepath.Join(dir, "one"), filepath.Join(dir, "other")
	put(t, one, `[{"name":"x","address":"127.0.0.1:11"},{"name":"y","address":"127.0.0.1:12"}]`)
	put(t, other, `[{"name":"y","address":"127.0.0.1:12"},{"name":"z","address":"127.0.0.1:13"}]`)
	_, f := discovering(t, func(p *config.Pool) { p.Discover.File = one })
	realtest.Eventually(t, "the first source", func() bool { return members(f) == "x y" })
	next := config.DefaultPool()
	next.Discover.File = other
	use := func() {
		t.Helper()
		m, err := newMembership(next)
		if err != nil {
			t.Fatal(err)
		}
		f.become(m)
	}
	use()
	realtest.Eventually(t, "the second source", func() bool { return members(f) == "x- y z" })
	next.Discover.File = filepath.Join(dir, "nowhere")
	use()
	if ok, detail := f.ready(); !ok || !strings.HasPrefix(detail, "those that are known already count: file ") {
		t.Errorf("with a source that has not answered: got %t, %q, want it to serve by the one before", ok, detail)
	}
	next.Discover.File += " either"
	use()
	realtest.Eventually(t, "the failure is told", func() bool {
		ok, detail := f.ready()
		return ok && strings.Contains(detail, "has not answered yet: reading ")
	})
	if got := members(f); got != "x- y z" {
		t.Errorf("with a source that does not answer: got %q", got)
	}
	next.Discover.File = ""
	next.Upstreams = []config.Upstream{{Name: "z", URL: "http://127.0.0.1:13/mcp"}}
	use()
	if got := members(f); got != "z x- y-" {
		t.Errorf("without a source: got %q", got)
	}
	if ok, detail := f.ready(); !ok || detail != "" {
		t.Errorf("without a source: got %t, %q", ok, detail)
	}
}

// Before a source that a reload brings has answered, nobody's denial is final: those that it tells of may know.
func TestASourceThatAReloadBringsIsAwaitedBeforeIDsAreDenied(t *testing.T) {
	_, f := discovering(t, func(p *config.Pool) { p.Upstreams = named("a") })
	asker := routing.NewAsker(f.pool)
	deny := func(key string) error {
		_, err := asker.Ask(t.Context(), routing.Question{Key: key, Ask: func(context.Context, *routing.Upstream) routing.Verdict { return routing.Denies }})
		return err
	}
	if err := deny("1"); !errors.Is(err, routing.ErrDenied) {
		t.Errorf("without a source: got %v", err)
	}
	next := config.DefaultPool()
	next.Upstreams, next.Discover.File = named("a"), filepath.Join(t.TempDir(), "upstreams.json")
	m, err := newMembership(next)
	if err != nil {
		t.Fatal(err)
	}
	f.become(m)
	if err := deny("2"); !errors.Is(err, routing.ErrUnclear) {
		t.Errorf("before it has answered: got %v, want that part of the fleet did not say", err)
	}
	if ok, detail := f.ready(); !ok {
		t.Errorf("before it has answered, with who took work before: not ready, %q", detail)
	}
	put(t, next.Discover.File, `[]`)
	realtest.Eventually(t, "its answer", func() bool { _, detail := f.ready(); return detail == "" })
	if err := deny("3"); !errors.Is(err, routing.ErrDenied) {
		t.Errorf("once it has answered: got %v", err)
	}
}

// A reload that has a source in place of the file's upstreams leaves no moment in which nobody takes new work.
func TestUpstreamsTakeWorkUntilTheSourceInTheirPlaceAnswers(t *testing.T) {
	_, f := discovering(t, func(p *config.Pool) {
		p.Upstreams = named("a", "b", "c")
		p.Upstreams[0].MaxInFlight, p.Upstreams[1].Weight, p.Upstreams[2].Backup = 2, 3, true
	})
	before := f.pool.Find("a")
	next := config.DefaultPool()
	next.Discover.File = filepath.Join(t.TempDir(), "upstreams.json")
	m, err := newMembership(next)
	if err != nil {
		t.Fatal(err)
	}
	f.become(m)
	if got := members(f); got != "a b c" || f.pool.Find("a").MaxInFlight != 2 || f.pool.Find("b").Weight != 3 || !f.pool.Find("c").Backup {
		t.Errorf("before it answers: got %q, %+v, %+v, %+v", got, f.pool.Find("a"), f.pool.Find("b"), f.pool.Find("c"))
	}
	if ok, detail := f.ready(); !ok || !strings.HasPrefix(detail, "those that are known already count: ") {
		t.Errorf("before it answers: got %t, %q", ok, detail)
	}
	put(t, next.Discover.File, `[{"name":"a","address":"127.0.0.1:1"},{"name":"x","address":"127.0.0.1:11"}]`)
	realtest.Eventually(t, "who is discovered", func() bool { return members(f) == "a b- c- x" })
	if !f.pool.Find("a").Is(before) {
		t.Error("who is named and discovered by one name is another upstream")
	}
}

// Sources are asked before anything is served.
func TestFirstAnswersAreWaitedFor(t *testing.T) {
	server := discovertest.NewNameServer(t)
	server.Set(t, "mcp.test. 60 A 127.0.0.5")
	g, f := discovering(t, func(p *config.Pool) { p.Discover.DNS, p.Discover.Resolver = "mcp.test:7101", server.Addr })
	g.site.now.Store(g)
	g.site.AskSources(t.Context())
	if got := members(f); got != "127.0.0.5:7101" {
		t.Errorf("got %q", got)
	}
	if got := f.pool.Upstreams()[0].URL.String(); got != "http://127.0.0.5:7101/mcp" {
		t.Errorf("got %s", got)
	}
}

func TestKubernetesNeedsAClusterOrAnAPI(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	cfg := config.DefaultPool().Discover
	cfg.Kubernetes.Service = "mcp"
	if _, err := newSource(cfg); err == nil || !strings.Contains(err.Error(), "KUBERNETES_SERVICE_HOST") {
		t.Errorf("got %v, want an error that says what is missing", err)
	}
	t.Setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "443")
	if source, err := newSource(cfg); err != nil || source.String() != "kubernetes mcp" {
		t.Errorf("got %v, %v", source, err)
	}
}

func TestCheckAsksSources(t *testing.T) {
	server := discovertest.NewNameServer(t)
	for records, want := range map[string]string{
		"mcp.test. 60 A 127.0.0.5":   "",
		"other.test. 60 A 127.0.0.5": "pools[0].discover: warning: dns mcp.test:7101 tells of no instance",
	} {
		server.Set(t, records)
		pool := config.DefaultPool()
		pool.Discover.DNS, pool.Discover.Resolver = "mcp.test:7101", server.Addr
		if got := fmt.Sprint(Findings(seeAll(t.Context(), []look{lookAtSource("pools[0]", pool)})).Error()); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

package proxy_test

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage/redistest"
	"berth/routing"

	"github.com/redis/go-redis/v9"
)

// lastCandidate picks the last candidate: two berths that pick alike hide a race.
type lastCandidate struct{}

func (lastCandidate) Pick(c routing.Choice) *routing.Upstream {
	return c.Among[len(c.Among)-1]
}

// newPair is two berths on one Redis in front of one fleet.
func newPair(t *testing.T) (one, two *rig, redis *redistest.Server) {
	t.Helper()
	return newPairWith(t, nil)
}

// newPairWith is newPair, of which the second berth looks for upstreams by seek.
func newPairWith(t *testing.T, seek func(*routing.Pool)) (one, two *rig, redis *redistest.Server) {
	t.Helper()
	redis = redistest.Start(t)
	o := reinit(rigOptions{tcp: true, store: openStore(t, redis.URL())})
	one = newRig(t, o)
	two = &rig{t: t, tcp: true, network: one.network, servers: one.servers}
	var upstreams []*routing.Upstream
	for _, s := range two.servers {
		upstreams = append(upstreams, &routing.Upstream{Name: s.Name, URL: &url.URL{Scheme: "http", Host: s.addr, Path: "/mcp"}})
	}
	o.store, o.picker, o.seek = openStore(t, redis.URL()), lastCandidate{}, seek
	two.assemble(o, upstreams)
	return one, two, redis
}

// loseAt is lose for an instance that both berths have connections to.
func (f *rig) loseAt(other *rig, s *rigServer) {
	other.outbound.Close()
	f.lose(s)
}

// Two berths that open the session anew at the same time agree on one of the two; the
// other is ended, and both requests are served where the winner's is.
func TestTwoBerthsMoveASessionOnce(t *testing.T) {
	one, two, _ := newPair(t)
	session := one.initialize()
	one.furnish(session)
	two.who(session)
	one.loseAt(two, one.servers[0])
	var both sync.WaitGroup
	both.Add(2)
	for _, s := range one.servers[1:] {
		s.inject(onMethod("initialize", func(http.ResponseWriter, *http.Request, []byte) bool {
			both.Done()
			both.Wait()
			return false
		}))
	}
	var answers [2]string
	var calls sync.WaitGroup
	for i, f := range []*rig{one, two} {
		calls.Go(func() { answers[i] = f.who(session) })
	}
	calls.Wait()
	if answers[0] != answers[1] || answers[0] != "b" && answers[0] != "c" {
		t.Errorf("answered by %v, want one of b and c, twice", answers)
	}
	left, ended := 0, 0
	for _, s := range one.servers[1:] {
		left, ended = left+len(s.Sessions()), ended+s.Calls(http.MethodDelete)
		if s.Name == answers[0] {
			s.wantSession(t)
		}
	}
	if left != 1 || ended != 1 {
		t.Errorf("%d sessions are left and %d were ended, want one each", left, ended)
	}
	if n := one.servers[1].Executions() + one.servers[2].Executions(); n != 2 {
		t.Errorf("%d tools ran, want 2", n)
	}
}

// Requests that come together open one new session.
func TestOneBerthMovesASessionOnce(t *testing.T) {
	f := newRig(t, reinit(rigOptions{tcp: true}))
	session := f.initialize()
	f.lose(f.servers[0])
	var calls sync.WaitGroup
	for range 10 {
		calls.Go(func() {
			if got := f.who(session); got != "b" {
				t.Errorf("answered by %s, want b", got)
			}
		})
	}
	calls.Wait()
	if opened, ran := f.calls("initialize"), f.servers[1].Executions(); opened != 2 || ran != 10 {
		t.Errorf("%d sessions were opened and %d tools ran, want 2 and 10", opened, ran)
	}
}

// A berth whose cache still knows the old instance reads the store before it moves
// what has moved.
func TestStaleCacheMovesNothing(t *testing.T) {
	for name, lose := range map[string]func(one, two *rig){
		"killed":    func(one, two *rig) { one.loseAt(two, one.servers[0]) },
		"restarted": func(one, _ *rig) { one.servers[0].Restart() },
	} {
		t.Run(name, func(t *testing.T) {
			one, two, _ := newPair(t)
			session := one.initialize()
			if got := two.who(session); got != "a" {
				t.Fatalf("answered by %s, want a", got)
			}
			lose(one, two)
			if first, second := one.who(session), two.who(session); first != "b" || second != "b" {
				t.Errorf("answered by %s and %s, want b twice", first, second)
			}
			if n := one.calls("initialize"); n != 2 {
				t.Errorf("%d sessions were opened, want 2", n)
			}
		})
	}
}

// A session that another berth has moved meanwhile, to an instance of which this one has not heard yet, goes on there: it is looked for.
func TestASessionIsFollowedToAnInstanceThatIsNews(t *testing.T) {
	var all []*routing.Upstream
	one, two, _ := newPairWith(t, func(p *routing.Pool) { p.Replace(all) })
	all = two.pool.Upstreams()
	two.pool.Replace([]*routing.Upstream{all[0], all[2]})
	session := one.initialize()
	two.who(session)
	one.loseAt(two, one.servers[0])
	moving, moved := make(chan struct{}), make(chan struct{})
	one.servers[2].inject(onMethod("initialize", func(http.ResponseWriter, *http.Request, []byte) bool {
		close(moving)
		<-moved
		return false
	}))
	answered := make(chan string, 1)
	go func() { answered <- two.who(session) }()
	<-moving
	first := one.who(session)
	close(moved)
	if second := <-answered; first != "b" || second != "b" {
		t.Errorf("answered by %s and %s, want b twice", first, second)
	}
}

// What does not move with a session goes, through a berth that does not know of the
// move, where the session is by now.
func TestStaleCacheLeadsToTheNewInstance(t *testing.T) {
	for name, lose := range map[string]func(one, two *rig){
		"killed":    func(one, two *rig) { one.loseAt(two, one.servers[0]) },
		"restarted": func(one, _ *rig) { one.servers[0].Restart() },
	} {
		for kind, request := range map[string]func(f *rig, session, task, answer string) reply{
			"poll":   func(f *rig, session, task, _ string) reply { return f.legacy(session, "tasks/get", byID(task)) },
			"answer": func(f *rig, session, _, answer string) reply { return f.in(session, http.MethodPost, answer) },
			"end":    func(f *rig, session, _, _ string) reply { return f.in(session, http.MethodDelete, "") },
		} {
			t.Run(kind+", "+name, func(t *testing.T) {
				one, two, _ := newPair(t)
				session := one.initialize()
				two.who(session)
				lose(one, two)
				task := one.newCoreTask(session, 3600) // at b
				event := one.resume(session, "")
				tag := event[len("id: "):len("id: berth-12345678-")]
				r := request(two, session, task, `{"jsonrpc":"2.0","id":"`+tag+`7","result":{}}`)
				b := one.servers[1]
				if n := b.Calls("tasks/get") + b.Calls("") + b.Calls(http.MethodDelete); r.status/100 != 2 || n != 1 {
					t.Errorf("got %d %s, and %d requests at b, want one", r.status, r.body, n)
				}
			})
		}
	}
}

// Neither what the client said of itself nor an id of a session can be read in Redis.
func TestStoreTellsNothingOfAMovedSession(t *testing.T) {
	one, _, server := newPair(t)
	session := one.do(one.request(t.Context(), http.MethodPost,
		message("initialize", `"protocolVersion":"2025-11-25","clientInfo":{"name":"private-client","version":"1"}`))).header.Get("Mcp-Session-Id")
	one.legacy(session, "resources/subscribe", `"uri":"file:///private"`)
	one.lose(one.servers[0])
	one.who(session)
	alias := one.servers[1].LastHeader("tools/call").Get("Mcp-Session-Id")
	client := redis.NewClient(&redis.Options{Addr: server.Addr, Protocol: 2, DisableIdentity: true})
	defer client.Close()
	keys, err := client.Keys(t.Context(), "*").Result()
	if err != nil || len(keys) < 2 {
		t.Fatalf("keys: %v, %v", keys, err)
	}
	var kinds strings.Builder
	for _, key := range keys {
		value, err := client.Get(t.Context(), key).Result()
		if client.Type(t.Context(), key).Val() == "zset" {
			var members []string
			members, err = client.ZRange(t.Context(), key, 0, -1).Result()
			value = strings.Join(members, " ")
		}
		if err != nil {
			t.Fatal(err)
		}
		kinds.WriteString(key)
		for _, secret := range []string{session, alias, "private"} {
			plain, encoded := []byte(key+value), base64.StdEncoding.EncodeToString([]byte(secret))
			if secret == "" || bytes.Contains(plain, []byte(secret)) || bytes.Contains(plain, []byte(strings.TrimRight(encoded, "="))) {
				t.Errorf("%q stands in %s = %q", secret, key, value)
			}
		}
	}
	if !strings.Contains(kinds.String(), "handshake:") || !strings.Contains(kinds.String(), "session:") {
		t.Errorf("keys: %v", keys)
	}
}

// A store that is away can move nothing, and keeps nobody waiting: the client tries again, and does not begin anew.
func TestNothingMovesWithoutAStore(t *testing.T) {
	one, _, server := newPair(t)
	session := one.initialize()
	one.who(session)
	server.Stop()
	one.lose(one.servers[0])
	for range 2 {
		one.legacy(session, "ping", "").fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
	}
	if n := one.calls("initialize"); n != 1 {
		t.Errorf("%d sessions were opened anew", n-1)
	}
	server.Cont()
	realtest.Eventually(t, "the session at the next instance", func() bool { return one.who(session) == "b" })
}

// What a berth read before the move and writes after it does not undo it.
func TestUseBeforeTheMoveDoesNotUndoIt(t *testing.T) {
	one, two, _ := newPair(t)
	session := one.initialize()
	key := one.router.SessionKey("", session)
	before, _, err := two.bindings.Lookup(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	one.lose(one.servers[0])
	one.who(session)
	before.Expires = before.Expires.Add(time.Minute)
	two.bindings.Keep(key, before)
	realtest.Eventually(t, "the refresh is dropped", func() bool {
		now, _, err := two.bindings.Lookup(t.Context(), key)
		return err == nil && now.Upstream == "b"
	})
	if now, err := one.bindings.Reload(t.Context(), key); err != nil || now.Upstream != "b" || now.Alias == "" {
		t.Errorf("the store says %+v, %v; want b", now, err)
	}
}

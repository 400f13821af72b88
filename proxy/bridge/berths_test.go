package bridge

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/relay"
	"berth/internal/storage"
	"berth/internal/wire"
	"berth/proxy/bridge/held"
	"berth/proxy/bridge/sessions"
	"berth/proxy/fault"
	"berth/proxy/resident"
	"berth/routing"
	"berth/routing/profile"
)

// fleet are berths that reach each other and share a store.
type fleet struct {
	*storage.Store

	berths map[string]*Bridge
	passed int
	loses  int    // so many answers to what is passed on, which their berth gives to nobody then
	fails  error  // with which whoever passes it on is told so; nil: relay.ErrLost
	dies   string // the berth that does with such an answer; "": none
	stops  error  // with which all fails on its way that is passed on; nil: nothing does
}

// Shared says that there are other berths.
func (*fleet) Shared() bool { return true }

// post is the relay of one of them.
type post struct {
	*fleet
	name string
}

func (p post) Name() string { return p.name }

func (p post) Pass(ctx context.Context, to string, passed *exchange.Request, wait time.Duration) (*wire.Response, error) {
	b := p.berths[to]
	request, pool, ok := resident.Unaddressed(passed)
	if b == nil || !ok || pool != "p" {
		return nil, &exchange.SendError{Err: relay.ErrGone, Between: true}
	}
	if p.passed++; to == p.name {
		return nil, &exchange.SendError{Err: relay.ErrBusy, Between: true} // as a mailbox fails there
	}
	holder := b.To(b.options().Endpoint.Router.Pool.Find("a"))
	if p.loses > 0 {
		p.loses--
		go func() {
			if response, err := holder.Send(context.WithoutCancel(ctx), request, wait); err == nil {
				response.Body.Close()
			}
		}()
		time.Sleep(time.Second)
		delete(p.berths, p.dies)
		return nil, &exchange.SendError{Err: cmp.Or(p.fails, relay.ErrLost), Sent: true, Between: true}
	}
	if p.stops != nil {
		return nil, &exchange.SendError{Err: p.stops, Between: true}
	}
	return holder.Send(ctx, request, wait)
}

// join makes the rig's upstream that of three berths.
func (r *rig) join(question time.Duration) (f *fleet, a, b, c *Bridge) {
	store, err := storage.Open("memory:", storage.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = store.Close() })
	f = &fleet{Store: store, berths: map[string]*Bridge{}}
	for _, name := range []string{"a", "b", "c"} {
		f.berths[name] = r.another(func(o *Options) { o.Store, o.Relay, o.Question = f, post{f, name}, question })
	}
	return f, f.berths["a"], f.berths["b"], f.berths["c"]
}

// Any berth goes on with a call that another has asked for, and nobody gives up what somebody else
// has taken on.
func TestAnotherBerthGoesOn(t *testing.T) {
	u := tool(kind{}, func(k *running) {
		first := k.ask()
		k.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`)
		time.Sleep(time.Second)
		second := k.askAside()
		select {
		case <-k.ctx.Done():
		case <-time.After(3 * time.Minute):
		}
		k.ends(first, second)
	})
	// A server that does not end sessions must not keep berths reading.
	u.faults = func(w http.ResponseWriter, q *http.Request, _ message) bool {
		if q.Method == http.MethodDelete {
			w.WriteHeader(405)
		}
		return q.Method == http.MethodDelete
	}
	bridged(t, u, nil, func(r *rig) {
		r.keeps = true
		f, a, b, c := r.join(time.Minute)
		first := r.do(asking{name: "asks", by: a})
		second := r.do(asking{name: "asks", by: b, params: first.answers(accepted)})
		if len(second.Result.Requests) != 1 {
			r.t.Fatalf("got %s", second.text)
		}
		time.Sleep(50 * time.Second)
		last := r.do(asking{name: "asks", by: c, params: second.answers(accepted)}) // three minutes
		if len(last.Result.Got) != 2 || r.ran() != 1 || f.passed != 0 {
			t.Errorf("got %s; %d runs, %d passed on, told %v", last.text, r.ran(), f.passed, r.told())
		}
		if n := len(r.sent("notifications/cancelled")); n != 0 {
			t.Errorf("told %v", r.told())
		}
		time.Sleep(2 * held.Replay)
		in, ended := r.sent("tools/call")[0].session, 0
		for _, q := range r.sent("DELETE") {
			if q.session == in {
				ended++
			}
		}
		if ended != 1 {
			t.Errorf("%d berths have ended the session", ended)
		}
	})
}

// seeking is a berth's bridge that has heard of one upstream, another one, and finds a where it looks for it.
func (r *rig) seeking(f *fleet, other *routing.Upstream) (late *Bridge, sought *[]string) {
	sought = new([]string)
	late = r.another(func(o *Options) {
		o.Store, o.Relay, o.Question = f, post{f, "late"}, time.Minute
		known := o.Endpoint.Router.Pool.Find("a")
		var pool *routing.Pool
		pool = routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: []*routing.Upstream{other}, Seek: func(_ context.Context, name string) {
			*sought = append(*sought, name)
			pool.Replace([]*routing.Upstream{other, {Name: "a", URL: known.URL, Draining: true}})
		}})
		o.Endpoint.Router = &routing.Router{Pool: pool}
	})
	f.berths["late"] = late
	return late, sought
}

// A berth that has not heard of the upstream of a call looks for it where berths write theirs down, before it denies the round.
func TestABerthLooksForTheUpstreamOfARound(t *testing.T) {
	u := tool(kind{}, func(k *running) { k.ends(k.ask()) })
	bridged(t, u, nil, func(r *rig) {
		f, a, _, _ := r.join(time.Minute)
		first := r.do(asking{name: "asks", by: a})
		other := &routing.Upstream{Name: "z", URL: &url.URL{Scheme: "http", Host: "b:80", Path: "/mcp"}}
		late, sought := r.seeking(f, other)
		response, err := late.To(other).Send(r.t.Context(), asking{name: "asks", params: first.answers(accepted)}.request(other.URL), 0)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if g := r.read(response); len(g.Result.Got) != 1 || r.ran() != 1 || len(*sought) != 1 {
			t.Errorf("got %s, %d runs, looked for %v", g.text, r.ran(), *sought)
		}
	})
}

// It looks for the one that has given a cursor out, and for the one that is called anew once its client was where it had to be, too.
func TestABerthLooksForTheUpstreamOfACursor(t *testing.T) {
	const first = `"error":{"code":-32042,"message":"first","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://example.com/","message":"connect"}]}}`
	const declares = `{"elicitation":{"url":{}}}`
	u := tool(kind{lists: `{"tools":[],"nextCursor":"2"}`}, func(k *running) { k.result = first })
	bridged(t, u, nil, func(r *rig) {
		f, a, _, _ := r.join(time.Minute)
		page := r.do(asking{method: "tools/list", by: a, declares: declares})
		round := r.do(asking{name: "asks", by: a, declares: declares})
		for name, ask := range map[string]asking{
			"tools/list": {method: "tools/list", declares: declares, params: `"cursor":"` + mcp.CursorIn(mcp.ResultObject([]byte(page.text))) + `",`},
			"tools/call": {name: "asks", declares: declares, params: round.answers(`{"action":"accept"}`)},
		} {
			other := &routing.Upstream{Name: "z", URL: &url.URL{Scheme: "http", Host: "b:80", Path: "/mcp"}}
			late, sought := r.seeking(f, other)
			if name == "tools/call" {
				late.options().Endpoint.Router.Pool.Speaks(other, mcp.EraModern, nil)
			}
			response, err := late.OnTo(other).Send(r.t.Context(), ask.goesOn(other.URL), 0)
			if err != nil {
				t.Fatal(err)
			}
			g := r.read(response)
			response.Body.Close()
			if sent := r.sent(name); g.status != 200 || sent[len(sent)-1].host != "a:80" || len(*sought) != 1 {
				t.Errorf("%s: got %d %s, sent to %s, looked for %v", name, g.status, g.text, sent[len(sent)-1].host, *sought)
			}
		}
	})
}

// goesOn is the request of a round.
func (a asking) goesOn(target *url.URL) *exchange.Request {
	request := a.request(target)
	request.GoesOn = true
	return request
}

// A client that is gone as another berth takes its round leaves no call behind there.
func TestARoundOfAClientThatIsGoneEnds(t *testing.T) {
	u := tool(kind{}, func(k *running) { k.ends(k.ask()) })
	bridged(t, u, nil, func(r *rig) {
		_, a, b, _ := r.join(time.Minute)
		r.do(asking{name: "asks", by: b, declares: declaresNone}) // which era it is has been found out
		for range 10 {
			first := r.do(asking{name: "asks", by: a})
			gone, leave := context.WithCancel(r.t.Context())
			leave()
			if response, err := r.send(gone, asking{name: "asks", by: b, params: first.answers(accepted)}); err == nil {
				response.Body.Close()
			}
			time.Sleep(10 * time.Minute)
			if left := b.has(); left != (stands{}) {
				t.Fatalf("left: %+v", left)
			}
		}
	})
}

// A call that is answered at another berth keeps neither a session nor its place where it has asked, and may come back there.
func TestACallTakesNoRoomWhereAnotherBerthTakesItOn(t *testing.T) {
	u := tool(kind{}, func(k *running) { k.ends(k.ask(), k.ask()) })
	bridged(t, u, nil, func(r *rig) {
		f, _, b, _ := r.join(10 * time.Minute)
		a := r.another(func(o *Options) { o.Store, o.Relay, o.Sessions = f, post{f, "d"}, 2 })
		for i := range 5 {
			first := r.do(asking{name: "asks", by: a})
			second := r.do(asking{name: "asks", by: b, params: first.answers(accepted)})
			if synctest.Wait(); a.has() != (stands{}) {
				t.Fatalf("call %d: %+v are left", i, a.has())
			}
			last := r.do(asking{name: "asks", by: a, params: second.answers(accepted)})
			if synctest.Wait(); len(last.Result.Got) != 2 || b.has() != (stands{}) {
				t.Fatalf("call %d: got %s, %+v are left at the other", i, last.text, b.has())
			}
			time.Sleep(2 * held.Replay)
		}
		if n := r.ran(); n != 5 || f.passed != 0 {
			t.Errorf("%d runs, %d passed on", n, f.passed)
		}
	})
}

// deaf is a store whose notices nobody hears until it is told so.
type deaf struct {
	*fleet

	until chan struct{}
}

func (d deaf) Watch(ctx context.Context, topic string, received func(string)) error {
	select {
	case <-d.until:
		return d.fleet.Watch(ctx, topic, received)
	case <-ctx.Done():
		return nil
	}
}

// What a berth did not hear it finds out as it hears again: which calls others have, and which it has itself.
func TestABerthFindsOutWhichCallsOthersHaveTakenOn(t *testing.T) {
	u := tool(kind{}, func(k *running) { k.ends(k.ask()) })
	bridged(t, u, nil, func(r *rig) {
		f, _, b, _ := r.join(10 * time.Minute)
		hears := make(chan struct{})
		a := r.another(func(o *Options) { o.Store, o.Relay = deaf{f, hears}, post{f, "d"} })
		first, waits := r.do(asking{name: "asks", by: a}), r.do(asking{name: "asks", by: a})
		r.do(asking{name: "asks", by: b, params: first.answers(accepted)})
		if synctest.Wait(); a.has().holds != 2 {
			t.Errorf("unheard: %+v", a.has())
		}
		close(hears)
		if synctest.Wait(); a.has().holds != 1 {
			t.Errorf("%+v", a.has())
		}
		if g := r.do(asking{name: "asks", by: a, params: waits.answers(accepted)}); len(g.Result.Got) != 1 || r.ran() != 2 {
			t.Errorf("got %s, %d runs", g.text, r.ran())
		}
	})
}

// The berth that took the last round gives the call up, and it alone.
func TestTheBerthThatHasTheCallGivesItUp(t *testing.T) {
	u := tool(kind{}, func(k *running) { k.ends(k.ask(), k.ask()) })
	bridged(t, u, nil, func(r *rig) {
		_, a, b, _ := r.join(time.Minute)
		first := r.do(asking{name: "asks", by: a})
		time.Sleep(50 * time.Second)
		r.do(asking{name: "asks", by: b, params: first.answers(accepted)})
		time.Sleep(50 * time.Second)
		if told := r.told(); len(told) != 1 {
			t.Errorf("too early: %v", told)
		}
		time.Sleep(20 * time.Second)
		if told := r.told(); len(told) != 3 {
			t.Errorf("told %v", told)
		}
	})
}

// What cannot be resumed is held by the berth that asked, and a round that comes elsewhere is passed
// on there. With it the call is lost.
func TestARoundIsPassedOnToTheBerthThatHolds(t *testing.T) {
	u := tool(kind{plain: true}, func(k *running) { k.progress(1); k.ends(k.ask(), k.ask()) })
	bridged(t, u, nil, func(r *rig) {
		f, a, b, c := r.join(10 * time.Minute)
		g := r.do(asking{name: "asks", by: a, caller: "me"})
		for _, by := range []*Bridge{b, c} {
			if other := r.do(asking{name: "asks", by: by, caller: "other", params: g.answers(accepted)}); other.Error == nil || other.Error.Code != -32602 {
				t.Errorf("another caller got %s", other.text)
			}
			g = r.do(asking{name: "asks", by: by, caller: "me", params: g.answers(accepted)})
		}
		if len(g.Result.Got) != 2 || r.ran() != 1 || f.passed != 2 {
			t.Errorf("got %s, %d passed on", g.text, f.passed)
		}
		before := r.do(asking{name: "asks", by: a})
		r.do(asking{name: "asks", by: a, params: r.do(asking{name: "asks", by: a, params: before.answers(accepted)}).answers(accepted)})
		time.Sleep(2 * held.Replay) // by now nobody knows what has come of it
		if g := r.do(asking{name: "asks", by: a, params: before.answers(accepted)}); g.Error == nil || !strings.Contains(string(g.Error.Data), "given_up") {
			t.Errorf("got %s", g.text)
		}
		lost := r.do(asking{name: "asks", by: a})
		delete(f.berths, "a")
		if g := r.do(asking{name: "asks", by: b, params: lost.answers(accepted)}); g.Error == nil || !strings.Contains(string(g.Error.Data), "holder_lost") {
			t.Errorf("got %s", g.text)
		}
		alone := r.another(func(o *Options) { o.Question = time.Minute })
		if g := r.do(asking{name: "asks", by: alone, params: lost.answers(accepted)}); g.Error == nil || !strings.Contains(string(g.Error.Data), "holder_lost") {
			t.Errorf("got %s", g.text)
		}
	})
}

// A flush of the store loses what is passed on, not the call: its round is taken again at the berth that holds it, and runs once.
func TestARoundThatIsLostOnItsWayIsTakenAgain(t *testing.T) {
	u := tool(kind{plain: true}, func(k *running) {
		answer := k.ask()
		time.Sleep(time.Minute)
		k.ends(answer)
	})
	bridged(t, u, nil, func(r *rig) {
		f, a, b, _ := r.join(10 * time.Minute)
		g := r.do(asking{name: "asks", by: a})
		f.loses = 1
		if g := r.do(asking{name: "asks", by: b, params: g.answers(accepted)}); len(g.Result.Got) != 1 || r.ran() != 1 || f.passed != 2 {
			t.Errorf("got %s, %d runs, %d passed on", g.text, r.ran(), f.passed)
		}
		g = r.do(asking{name: "asks", by: a})
		f.loses = 10
		if g := r.do(asking{name: "asks", by: b, params: g.answers(accepted)}); g.Error == nil || !strings.Contains(string(g.Error.Data), "holder_lost") {
			t.Errorf("lost again: %s", g.text)
		}
	})
}

// Where the store fails on the way to the berth that holds a call nothing counts as sent: the round may be taken again, and runs once.
func TestARoundThatTheStoreFailsOnItsWayCountsAsNotSent(t *testing.T) {
	u := tool(kind{plain: true}, func(k *running) { k.ends(k.ask()) })
	bridged(t, u, nil, func(r *rig) {
		f, a, b, _ := r.join(10 * time.Minute)
		g := r.do(asking{name: "asks", by: a})
		f.loses, f.fails = 1, storage.ErrUnavailable
		round := asking{name: "asks", by: b, params: g.answers(accepted)}
		_, err := r.send(r.t.Context(), round)
		if e, failed := errors.AsType[*exchange.SendError](err); !failed || e.Sent || !e.Between || !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("got %v, want that nothing was sent", err)
		}
		if told := fault.Word(err, false); told.Reason != mcp.ReasonStoreUnavailable || told.RetryAfter == 0 || told.Outcome != mcp.Unknown {
			t.Errorf("its client is told %+v, want that it may have run", told)
		}
		if g := r.do(round); len(g.Result.Got) != 1 || r.ran() != 1 {
			t.Errorf("got %s, %d runs", g.text, r.ran())
		}
	})
}

// Whatever fails on the way there is told as what it is, and the call waits on; a round that a berth was lost with before may have run.
func TestARoundThatCannotBePassedOnIsToldAsWhatItIs(t *testing.T) {
	u := tool(kind{plain: true}, func(k *running) { k.ends(k.ask()) })
	for _, stops := range []error{storage.ErrUnavailable, relay.ErrBusy, relay.ErrTooLarge} {
		bridged(t, u, nil, func(r *rig) {
			f, a, b, _ := r.join(10 * time.Minute)
			round := asking{name: "asks", by: b, params: r.do(asking{name: "asks", by: a}).answers(accepted)}
			f.stops = stops
			_, err := r.send(r.t.Context(), round)
			if e, failed := errors.AsType[*exchange.SendError](err); !failed || e.Sent || !e.Between || !errors.Is(err, stops) {
				t.Errorf("%v: got %v", stops, err)
			}
			if told := fault.Word(err, false); told.Outcome == mcp.Unknown {
				t.Errorf("%v: its client is told %+v", stops, told)
			}
			f.stops = nil
			if g := r.do(round); len(g.Result.Got) != 1 {
				t.Errorf("%v: got %s", stops, g.text)
			}
			f.loses, f.stops = 1, stops
			_, err = r.send(r.t.Context(), round)
			if told := fault.Word(err, false); told.Outcome != mcp.Unknown || !errors.Is(err, stops) {
				t.Errorf("%v, after one that was lost: its client is told %+v", stops, told)
			}
		})
	}
}

// silence is a relay that brings nothing before its context ends.
type silence struct{ post }

func (silence) Pass(ctx context.Context, _ string, _ *exchange.Request, _ time.Duration) (*wire.Response, error) {
	<-ctx.Done()
	return nil, &exchange.SendError{Err: context.Cause(ctx), Between: true}
}

// The same where it takes longer than the answer may.
func TestARoundThatIsNotPassedOnInTimeSaysNothingOfTheUpstream(t *testing.T) {
	bridged(t, tool(kind{plain: true}, func(k *running) { k.ends(k.ask()) }), nil, func(r *rig) {
		f, a, _, _ := r.join(10 * time.Minute)
		b := r.another(func(o *Options) { o.Store, o.Relay = f, silence{post{f, "d"}} })
		round := asking{name: "asks", params: r.do(asking{name: "asks", by: a}).answers(accepted)}
		at := b.options().Endpoint.Router.Pool.Find("a")
		_, err := b.To(at).Send(r.t.Context(), round.request(at.URL), time.Second)
		if e, failed := errors.AsType[*exchange.SendError](err); !failed || e.Sent || !e.TimedOut || !e.Between {
			t.Errorf("got %+v", err)
		}
	})
}

// astray is a way to two upstreams of which the second has never heard of anything.
type astray struct {
	exchange.Sender

	strayed []string
}

func (a *astray) Send(ctx context.Context, request *exchange.Request, wait time.Duration) (*wire.Response, error) {
	if request.URL.Host != "a:80" || request.Host != "a:80" {
		a.strayed = append(a.strayed, request.URL.Host+" as "+request.Host)
		return wire.Whole(404, nil), nil
	}
	return a.Sender.Send(ctx, request, wait)
}

// A round goes to the upstream that has asked, wherever it was routed to: while the store is away nobody knows better than the state.
func TestARoundGoesToTheUpstreamThatHasAsked(t *testing.T) {
	for name, of := range bothKinds {
		t.Run(name, func(t *testing.T) {
			bridged(t, tool(of, func(k *running) { k.ends(k.ask()) }), nil, func(r *rig) {
				way := &astray{Sender: r.client}
				b := r.another(func(o *Options) { o.Endpoint.Client, o.Endpoint.Host = way, "upstream" })
				pool := b.options().Endpoint.Router.Pool
				a := &routing.Upstream{Name: "a", URL: &url.URL{Scheme: "http", Host: "a:80", Path: "/mcp"}, Era: profile.SpokenLegacy}
				other := &routing.Upstream{Name: "other", URL: &url.URL{Scheme: "http", Host: "other:80", Path: "/mcp"}, Era: profile.SpokenLegacy}
				pool.Replace([]*routing.Upstream{a, other})
				at := func(u *routing.Upstream, asked asking) got {
					out := asked.request(u.URL)
					out.Host = u.URL.Host
					response, err := b.To(u).Send(r.t.Context(), out, 0)
					if err != nil {
						r.t.Fatal(err)
					}
					defer response.Body.Close()
					return r.read(response)
				}
				first := at(a, asking{name: "asks"})
				if g := at(other, asking{name: "asks", params: first.answers(accepted)}); len(g.Result.Got) != 1 || len(way.strayed) > 0 {
					t.Errorf("got %s, went to %v", g.text, way.strayed)
				}
			})
		})
	}
}

// own is a sender to upstreams that berth runs itself: their sessions live in one process.
type own struct {
	exchange.Sender

	mu      sync.Mutex // guards the field below
	callers map[string]bool
}

func (o *own) Send(ctx context.Context, request *exchange.Request, wait time.Duration) (*wire.Response, error) {
	o.mu.Lock()
	o.callers[request.Caller] = true
	o.mu.Unlock()
	there := *request
	there.URL = &url.URL{Scheme: "http", Host: "a:80", Path: "/mcp"}
	return o.Sender.Send(ctx, &there, wait)
}

func (o *own) names() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.callers)
}

// process has a berth run the server itself.
func (r *rig) process(b *Bridge) *own {
	to := &own{Sender: r.client, callers: map[string]bool{}}
	b.options().Endpoint.Client = to
	b.options().Endpoint.Router.Pool.Replace([]*routing.Upstream{{Name: "a", URL: &url.URL{Scheme: resident.SchemeStdio, Path: "/a"}, Era: profile.SpokenLegacy}})
	return to
}

// A server that berth runs itself has its sessions in one process: that one goes on with the call,
// whatever its events are called. A process is a caller's who declares one thing, and of one call
// that may be asked.
func TestTheSessionsOfAProcessStayThere(t *testing.T) {
	u := tool(kind{}, func(k *running) { k.ends(k.ask()) })
	bridged(t, u, nil, func(r *rig) {
		f, a, b, _ := r.join(time.Minute)
		to := r.process(a)
		r.process(b)
		for range 2 {
			g := r.do(asking{name: "asks", by: a, caller: "me"})
			if g = r.do(asking{name: "asks", by: b, caller: "me", params: g.answers(accepted)}); len(g.Result.Got) != 1 {
				t.Errorf("got %s", g.text)
			}
		}
		if f.passed != 2 || r.ran() != 2 || to.names() != 1 {
			t.Errorf("%d passed on, %d runs, in the names of %d", f.passed, r.ran(), to.names())
		}
		for i, other := range []asking{
			{name: "asks", by: a, caller: "me", declares: declaresNone},
			{name: "asks", by: a, caller: "me"},
			{name: "asks", by: a, caller: "me"},
			{name: "asks", by: a, caller: "you"},
		} {
			r.do(other)
			if want := []int{2, 2, 3, 4}[i]; to.names() != want {
				t.Errorf("after %+v in the names of %d", other, to.names())
			}
		}
	})
}

// Where all places of a caller's are taken, the call whose client has let its question wait longest
// is given up for the next one: not one that goes on, nor one that has ended.
func TestAPlaceIsMadeForTheNextCall(t *testing.T) {
	u := tool(kind{}, func(k *running) {
		answer := k.ask()
		if strings.Contains(k.body, `"slow":true`) {
			time.Sleep(5 * time.Minute)
		}
		k.ends(answer)
	})
	bridged(t, u, nil, func(r *rig) {
		r.process(r.b)
		ended, goesOn := r.do(asking{name: "asks"}), r.do(asking{name: "asks", params: `"slow":true,`})
		r.do(asking{name: "asks", params: ended.answers(accepted)})
		done := make(chan got)
		go func() { done <- r.do(asking{name: "asks", params: `"slow":true,` + goesOn.answers(accepted)}) }()
		var waiting []got
		for range sessions.Places - 1 {
			waiting = append(waiting, r.do(asking{name: "asks"}))
		}
		time.Sleep(held.Unanswered + time.Second)
		began := time.Now()
		next := r.do(asking{name: "asks"})
		if took := time.Since(began); next.Result.Type != "input_required" || took > time.Second {
			t.Errorf("got %s after %v", next.text, took)
		}
		if g := r.do(asking{name: "asks", params: waiting[0].answers(accepted)}); g.Error == nil {
			t.Errorf("the oldest got %s", g.text)
		}
		if g := r.do(asking{name: "asks", params: waiting[1].answers(accepted)}); len(g.Result.Got) != 1 {
			t.Errorf("the second got %s", g.text)
		}
		if g := <-done; len(g.Result.Got) != 1 {
			t.Errorf("the one that goes on got %s", g.text)
		}
	})
}

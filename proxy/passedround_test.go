package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/relay"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/internal/wire"
	"berth/proxy"
	"berth/proxy/bridge"
	"berth/routing"
	"berth/routing/profile"
)

// noWay is a relay that passes nothing on.
type noWay struct {
	name string
	why  error
}

func (r noWay) Name() string { return r.name }

func (r noWay) Pass(context.Context, string, *exchange.Request, time.Duration) (*wire.Response, error) {
	return nil, &exchange.SendError{Err: r.why, Between: true}
}

// twoBerths are the bridges of two berths, of which one has what comes go through it.
type twoBerths struct {
	holder, other *bridge.Bridge
	now           atomic.Pointer[bridge.Bridge]
}

// To implements inbound.Bridge.
func (b *twoBerths) To(u *routing.Upstream) exchange.Sender { return b.now.Load().To(u) }

// OnTo implements inbound.Bridge.
func (b *twoBerths) OnTo(u *routing.Upstream) exchange.Sender { return b.now.Load().OnTo(u) }

// Bridges implements inbound.Bridge.
func (b *twoBerths) Bridges(u *routing.Upstream) bool { return b.now.Load().Bridges(u) }

// Doubt implements inbound.Bridge.
func (b *twoBerths) Doubt(ctx context.Context, u *routing.Upstream, out *exchange.Request, response *wire.Response, wait time.Duration) (*wire.Response, error) {
	return b.now.Load().Doubt(ctx, u, out, response, wait)
}

// withTwoBerths has upstreams of the legacy era be shown by the bridges of two berths, between which nothing is passed on. The first has what comes.
func withTwoBerths(t *testing.T, why error) (*twoBerths, rigOptions) {
	t.Helper()
	keys, err := seal.NewKeyring(make([]byte, seal.MinSecret))
	if err != nil {
		t.Fatal(err)
	}
	b := new(twoBerths)
	return b, rigOptions{
		size: 1, probe: true,
		upstream: func(_ int, u *routing.Upstream) { u.Era = profile.SpokenLegacy },
		endpoint: func(ep *proxy.Endpoint) {
			b.holder = bridge.New(bridge.Options{Endpoint: ep, Keys: keys, Relay: noWay{"one", why}})
			b.other = bridge.New(bridge.Options{Endpoint: ep, Keys: keys, Relay: noWay{"two", why}})
			b.now.Store(b.holder)
			ep.Bridge = b
		},
	}
}

func (b *twoBerths) run(f *rig) {
	f.background(b.holder.Run)
	f.background(b.other.Run)
}

func (f *rig) isWell(name string) {
	f.t.Helper()
	if u := f.pool.Find(name); u.Silent() || u.Ejected() {
		f.t.Errorf("%s, which nothing was sent to, is %+v, silent %v, ejected %v", name, u.State(), u.Silent(), u.Ejected())
	}
}

// A round that cannot be passed on to the berth that holds its call is told as what it is, and is no fault of the upstream's.
func TestARoundThatCannotBePassedOnIsNoFaultOfItsUpstream(t *testing.T) {
	for why, want := range map[error]struct {
		status int
		reason string
	}{
		storage.ErrUnavailable: {http.StatusServiceUnavailable, "store_unavailable"},
		relay.ErrBusy:          {http.StatusServiceUnavailable, "overloaded"},
		relay.ErrTooLarge:      {http.StatusRequestEntityTooLarge, ""},
	} {
		t.Run(why.Error(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, o := withTwoBerths(t, why)
				f := newRig(t, o)
				b.run(f)
				tool := &legacyTool{calls: make(chan *legacyCall, 1)}
				f.servers[0].inject(tool.serve)
				call := func(more string) reply {
					const declares = `"_meta":{` + metaVersion + `,"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`
					return f.do(f.request(t.Context(), http.MethodPost, message("tools/call", `"name":"work","arguments":{},`+more+declares), modernHeader("tools/call", "work")...))
				}
				go func() { (<-tool.calls).say(question) }()
				round := roundOf(t, call(""))
				b.now.Store(b.other)
				for range 6 {
					r := call(round)
					if later := r.header.Get("Retry-After") != ""; r.status != want.status || !strings.Contains(r.body, want.reason) || later != (want.status == http.StatusServiceUnavailable) {
						t.Fatalf("got %v, again %v", r, later)
					}
				}
				f.isWell("a")
				time.Sleep(20 * time.Minute) // what the bridge holds has run out
			})
		})
	}
}

const question = `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"n":{"type":"string"}}}}}`

// roundOf is what answers all that a call has asked for.
func roundOf(t *testing.T, asked reply) string {
	t.Helper()
	var m struct {
		Result struct {
			RequestState  string
			InputRequests map[string]any
		}
	}
	if err := json.Unmarshal([]byte(asked.body), &m); err != nil || m.Result.RequestState == "" {
		t.Fatalf("it asks nothing: %v", asked)
	}
	answers := map[string]any{}
	for key := range m.Result.InputRequests {
		answers[key] = map[string]any{"action": "decline"}
	}
	given, _ := json.Marshal(answers)
	return fmt.Sprintf(`"requestState":%q,"inputResponses":%s,`, m.Result.RequestState, given)
}

// That of a task waits for the store, however long, and is no fault of the upstream's either.
func TestARoundOfATaskThatWaitsForTheStoreIsNoFaultOfItsUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, o := withTwoBerths(t, storage.ErrUnavailable)
		f := newCoreRig(t, o, nil)
		b.run(f.rig)
		id := f.upgraded.made()
		call := <-f.tool.calls
		call.say(question)
		v := f.upgraded.reaches(id, "input_required")
		b.now.Store(b.other)
		for key := range v.InputRequests {
			f.answer(id, `{"`+key+`":{"action":"decline"}}`)
		}
		for range 30 {
			time.Sleep(time.Second)
			f.isWell("a")
		}
		b.now.Store(b.holder)
		call.ends(`"result":{"content":[]}`)
		f.upgraded.reaches(id, "completed")
		time.Sleep(20 * time.Minute) // what the bridge holds has run out
	})
}

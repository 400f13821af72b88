package adminapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"berth/internal/adminapi"
	"berth/internal/api"
	"berth/internal/bulletin"
	"berth/internal/drain"
	"berth/internal/journal"
	"berth/internal/mcp"
	"berth/internal/mcp/offer"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/internal/storage/storagetest"
	"berth/internal/trouble"
	"berth/routing"
	"berth/sticky"
)

// rig is an API over real parts: a store, a pool of two upstreams, this berth and its troubles.
type rig struct {
	store    *storage.Store
	pool     *routing.Pool
	troubles *trouble.Book
	drains   *drain.Watch
	log      strings.Builder
	*operator
}

func newRig(t *testing.T) *rig {
	t.Helper()
	store := storagetest.OpenMemory(t)
	return newRigOn(t, store)
}

func newRigOn(t *testing.T, store *storage.Store) *rig {
	t.Helper()
	r := &rig{store: store, troubles: trouble.New(nil)}
	level := new(journal.Level)
	r.pool = routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: []*routing.Upstream{
		{Name: "a", URL: &url.URL{Scheme: "http", Host: "a", Path: "/mcp"}, MaxInFlight: 7}, {Name: "b", URL: &url.URL{Scheme: "sse+http", Host: "b"}, Backup: true},
	}, Probe: func(context.Context, *routing.Upstream) error { return nil }})
	t.Cleanup(r.pool.Close)
	pools := func() []*routing.Pool { return []*routing.Pool{r.pool} }
	drains := drain.New(drain.Options{
		Name: "me", Store: store, Bindings: sticky.New(store, sticky.Options{}), IDs: drain.NewIDs(seal.NewStoredKeyring(store)), Pools: pools,
	})
	r.drains = drains
	board := bulletin.New(bulletin.Options{Store: store, Name: "me", Own: func() api.Berth {
		return api.Berth{Host: "h:1", State: bulletin.Serving, Ready: true, Sees: bulletin.Sights(pools()), Troubles: adminapi.TroublesOf(r.troubles)}
	}})
	a := adminapi.New(adminapi.Options{
		Pools: pools, Drains: drains, Reopens: func(string) bool { return false }, Board: board, Store: store, Troubles: r.troubles,
		PoolConfig: func(string) adminapi.PoolConfig {
			return adminapi.PoolConfig{Path: "/mcp", Picker: "p2c", SessionFailover: "notfound"}
		},
		Limits: func() []api.Limit {
			return []api.Limit{{Key: "limits.body", Scope: "request", Most: "4MiB", Used: -1, Unit: "bytes"}}
		},
		Config: func() api.Config {
			return api.Config{Digest: "d", Keys: []api.Key{{Key: "listen", Value: "x", Origin: "default"}}}
		},
		Level: level, Log: journal.New(&r.log).Logger(level),
		Ready: func() (bool, []string) { return false, []string{"pool p: nobody answers"} },
	})
	r.operator = newOperator(t, a.Routes())
	return r
}

// say has another berth say that it sees a so.
func (r *rig) say(t *testing.T, name, state string) {
	t.Helper()
	other := api.Berth{Host: "other:1", State: bulletin.Serving, Sees: []api.Sight{{Pool: "p", Upstream: "a", State: state}}, Troubles: []api.Trouble{{Kind: "refusals", Count: 5, Recent: 2}}}
	value, _ := json.Marshal(other)
	if err := errors.Join(r.store.Put(t.Context(), "berth:"+name, value, time.Minute), r.store.KeepMembers(t.Context(), "berths", storage.Member{Name: name, Left: 15 * time.Minute})); err != nil {
		t.Fatal(err)
	}
}

func TestUpstreamsAreToldAsEachBerthSeesThem(t *testing.T) {
	r := newRig(t)
	r.say(t, "other", "silent")
	r.pool.FellSilent(r.pool.Find("b"), errors.New("connection refused"))
	r.pool.Find("a").Declares(mcp.EraLegacy, offer.Offer{Server: "files 1.2"})
	var told api.Upstreams
	if err := r.ask("GET", "/v1/upstreams", "", &told); err != nil {
		t.Fatal(err)
	}
	a, b := told.Upstreams[0], told.Upstreams[1]
	if a.State != "ok" || !a.Disagree || len(a.SeenBy) != 2 || a.SeenBy[0].Berth != "me" || a.SeenBy[1].State != "silent" || a.Transport != "http" || a.MaxFlight != 7 || a.Server != "files 1.2" {
		t.Errorf("a is %+v", a)
	}
	if b.State != "silent" || b.Reason != "connection refused" || b.Disagree || len(b.SeenBy) != 1 || b.Transport != "sse" || b.Era != "" || !b.Backup || b.Since.IsZero() {
		t.Errorf("b is %+v", b)
	}
}

func TestStatusAddsUpWhatBerthsSay(t *testing.T) {
	r := newRig(t)
	r.say(t, "other", "ok")
	r.troubles.Note(trouble.Refusals, trouble.Event{What: "overloaded", Pool: "p"})
	var told api.Status
	if err := r.ask("GET", "/v1/status", "", &told); err != nil {
		t.Fatal(err)
	}
	if told.Ready || len(told.NotReady) != 1 || told.Store.Kind != "memory" || !told.Store.Available || told.Berth.Name != "me" || len(told.Berths) != 2 || len(told.Pools[0].Upstreams) != 2 {
		t.Errorf("told %+v", told)
	}
	for _, one := range told.Troubles {
		if want := map[string]int64{"refusals": 6}[one.Kind]; one.Count != want {
			t.Errorf("%s: %d, want %d", one.Kind, one.Count, want)
		}
	}
	var events api.Events
	if err := r.ask("GET", "/v1/troubles/refusals", "", &events); err != nil || len(events.Events) != 1 || events.Events[0].What != "overloaded" {
		t.Errorf("events %+v, %v", events, err)
	}
	if err := r.ask("GET", "/v1/troubles/sadness", "", &events); err == nil {
		t.Error("sadness has events")
	}
}

// With the store away what this berth knows is told, with a word about it, and orders are refused.
func TestWithTheStoreAwayWhatIsKnownIsTold(t *testing.T) {
	r := newRig(t)
	r.store.Close()
	var status api.Status
	if err := r.ask("GET", "/v1/status", "", &status); err != nil || status.Partial == "" || len(status.Pools[0].Upstreams) != 2 || status.Berths[0].Name != "me" {
		t.Errorf("status %+v, %v", status, err)
	}
	var all api.Upstreams
	if err := r.ask("GET", "/v1/upstreams", "", &all); err != nil || all.Partial == "" || len(all.Upstreams) != 2 || all.Upstreams[0].Drained {
		t.Errorf("upstreams %+v, %v", all, err)
	}
	var one api.Upstream
	if err := r.ask("POST", "/v1/upstreams/p/a/drain", "{}", &one); err == nil || !strings.Contains(err.Error(), "the store (memory:) has not answered: ") || strings.Contains(err.Error(), "storage:") {
		t.Errorf("a drain is answered %v, %+v", err, one)
	}
}

// Who misspells an upstream is told which there are, with and without the store.
func TestWhichUpstreamsThereAreIsToldWhereOneIsUnknown(t *testing.T) {
	r := newRig(t)
	var one api.Upstream
	for _, order := range [][2]string{{"GET", ""}, {"POST", "/drain"}, {"POST", "/undrain"}} {
		for name, want := range map[string]string{"p/x": "there is no upstream p/x; in pool p there are a, b", "x/a": "there is no pool x; there are p"} {
			if err := r.ask(order[0], "/v1/upstreams/"+name+order[1], "", &one); err == nil || err.Error() != want {
				t.Errorf("%s %s%s: %v", order[0], name, order[1], err)
			}
		}
	}
}

// An outage is told in words: which store, since when and why, without its password.
func TestAnOutageIsToldInWords(t *testing.T) {
	store, err := storage.Open("redis://:s3cret@127.0.0.1:1", storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	r := newRigOn(t, store)
	var one api.Upstream
	err = r.ask("POST", "/v1/upstreams/p/a/drain", "{}", &one) // the breaker is open by then
	if err == nil || !strings.HasPrefix(err.Error(), "the store does not answer (redis://") || !strings.Contains(err.Error(), "127.0.0.1:1") ||
		!strings.Contains(err.Error(), ", since 20") {
		t.Errorf("an order is refused with: %v", err)
	}
	var status api.Status
	if err := r.ask("GET", "/v1/status", "", &status); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{err.Error(), status.Partial, status.Store.Reason} {
		if text == "" || strings.Contains(text, "breaker") || strings.Contains(text, "storage:") || strings.Contains(text, "s3cret") {
			t.Errorf("told %q", text)
		}
	}
}

func TestOrdersWithUnknownFieldsAreRefused(t *testing.T) {
	r := newRig(t)
	var one api.Upstream
	for body, want := range map[string]string{
		`{"move_session": true}`: `unknown field "move_session"`, `{} {}`: "more behind it", `[]`: "JSON object", `{"move_sessions": true}`: "cannot be moved",
	} {
		if err := r.ask("POST", "/v1/upstreams/p/a/drain", body, &one); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
	for _, body := range []string{"{}", ""} {
		if err := r.ask("POST", "/v1/upstreams/p/a/drain", body, &one); err != nil || !one.Draining {
			t.Errorf("%q: %v, %+v", body, err, one)
		}
	}
}

func TestTheLogLevelIsSetForATime(t *testing.T) {
	r := newRig(t)
	var told api.LogLevel
	for _, body := range []string{"", "{}", `{"level": "loud"}`, `{"level": "debug", "for": 0}`, `{"level": "debug", "for": 3601}`, `{"level": "debug", "seconds": 3}`} {
		if err := r.ask("PUT", "/v1/log-level", body, &told); err == nil {
			t.Errorf("%q is taken: %+v", body, told)
		}
	}
	if err := r.ask("PUT", "/v1/log-level", `{"level": "debug", "for": 60}`, &told); err != nil || told.Level != "debug" || told.Configured != "info" || told.Until.IsZero() {
		t.Errorf("told %+v, %v", told, err)
	}
}

// A log that falls silent for an hour says why, each line with one member of a name.
func TestTheOrderOfALevelIsLoggedWhateverTheLevel(t *testing.T) {
	r := newRig(t)
	var told api.LogLevel
	for _, level := range []string{"error", "warn", "debug"} {
		r.log.Reset()
		if err := r.ask("PUT", "/v1/log-level", `{"level": "`+level+`", "for": 60}`, &told); err != nil {
			t.Fatal(err)
		}
		if line := r.log.String(); !strings.HasSuffix(line, `"level":"INFO","msg":"another level is logged for a time","to":"`+level+`","seconds":60}`+"\n") {
			t.Errorf("logged %q", line)
		}
	}
}

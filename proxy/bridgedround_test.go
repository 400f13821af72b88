package proxy_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/seal"
	"berth/proxy"
	"berth/proxy/bridge"
	"berth/routing"
	"berth/routing/health"
	"berth/routing/profile"
)

// bothEras are the options of a pool of a, which asks in mid-call over the bridge, and of b of the modern era, which answers calls. run
// returns those that b was sent.
func bothEras(t *testing.T, question time.Duration) (o rigOptions, run func(f *rig) (atB *rounds)) {
	t.Helper()
	keys, err := seal.NewKeyring(make([]byte, seal.MinSecret))
	if err != nil {
		t.Fatal(err)
	}
	var b *bridge.Bridge
	o = rigOptions{size: 2, picker: new(routing.RoundRobin)}
	o.upstream = func(i int, u *routing.Upstream) {
		u.Era = []profile.Spoken{profile.SpokenLegacy, profile.SpokenModern}[i]
	}
	o.endpoint = func(ep *proxy.Endpoint) {
		b = bridge.New(bridge.Options{Endpoint: ep, Keys: keys, Question: question})
		ep.Bridge = b
	}
	return o, func(f *rig) *rounds {
		atB := new(rounds)
		f.background(b.Run)
		f.servers[0].inject(asksOnce())
		f.servers[1].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			if methodIn(body) != "tools/call" {
				return false
			}
			atB.note(r, body)
			return sayResult(`{"resultType":"complete","content":[{"type":"text","text":"ran at b"}]}`)(w, r, body)
		})
		return atB
	}
}

// asksOnce is a server of the legacy era whose tools ask their client once in mid-call, and answer then.
func asksOnce() faultFunc {
	answered := make(chan struct{}, 1)
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		switch methodIn(body) {
		case "": // an answer
			if r.Method == http.MethodPost {
				answered <- struct{}{}
				w.WriteHeader(http.StatusAccepted)
				return true
			}
			w.WriteHeader(http.StatusMethodNotAllowed)
		case "tools/call":
			w.Header().Set("Content-Type", eventsType)
			_, _ = io.WriteString(w, `data: {"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`+"\n\n")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-answered:
				_, _ = io.WriteString(w, "data: "+response(body, `"result":{"content":[{"type":"text","text":"ran at a"}]}`)+"\n\n")
			case <-r.Context().Done():
			}
		default:
			return asOldServer(w, r, body)
		}
		return true
	}
}

// eject has the upstream fail for others, until it gets no new work.
func (f *rig) eject(name string) {
	f.t.Helper()
	u := f.pool.Find(name)
	for range 5 {
		f.pool.Failed(u, health.FailedStatus, fmt.Errorf("HTTP 500"))
	}
	if u.State().Name == health.StateOK {
		f.t.Fatalf("%s is %s", name, u.State().Name)
	}
}

// What a bridged upstream has asked its client about goes on there, whoever else is fit for new work: another one would run the tool anew.
func TestABridgedRoundGoesOnWhereItsCallAsked(t *testing.T) {
	for what, between := range map[string]func(f *rig){
		"its upstream is ejected":                 func(f *rig) { f.eject("a") },
		"nobody remembers whose the state is":     func(*rig) { time.Sleep(16 * time.Minute) },
		"nobody remembers, and it is ejected too": func(f *rig) { time.Sleep(16 * time.Minute); f.eject("a") },
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, run := bothEras(t, time.Hour)
				f := newRig(t, o)
				atB := run(f)
				round := f.bridgedRound()
				between(f)
				answer := f.bridgedCall(round)
				if !strings.Contains(answer.raw, "ran at a") {
					t.Errorf("a round whose call waits at a: %s", answer.raw)
				}
				if n := len(atB.all()); n != 0 {
					t.Errorf("b was sent it %d times", n)
				}
				time.Sleep(time.Hour) // until the session that nobody uses is ended
			})
		})
	}
}

// roundAnswer is what a round of a call comes to.
type roundAnswer struct {
	RequestState  string
	InputRequests map[string]any
	raw           string
}

// bridgedRound calls the tool at a, and returns what more its second round has in its params.
func (f *rig) bridgedRound() string {
	f.t.Helper()
	f.pool.SetDrains(map[string]routing.Drain{"b": {Since: time.Now()}})
	asked := f.bridgedCall("")
	f.pool.SetDrains(nil)
	state, _ := json.Marshal(asked.RequestState)
	for key := range asked.InputRequests {
		return fmt.Sprintf(`"requestState":%s,"inputResponses":{%q:{"action":"accept","content":{}}},`, state, key)
	}
	f.t.Fatalf("the call did not ask: %s", asked.raw)
	return ""
}

// bridgedCall calls the tool that asks, with more in its params.
func (f *rig) bridgedCall(more string) (answer roundAnswer) {
	f.t.Helper()
	const meta = `"_meta":{` + metaVersion + `,"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}}}}`
	r := f.do(f.request(f.t.Context(), http.MethodPost, message("tools/call", `"name":"asks","arguments":{},`+more+meta), modernHeader("tools/call", "asks")...))
	body := r.body
	if strings.HasPrefix(r.header.Get("Content-Type"), eventsType) {
		all := eventsIn(body)
		body = all[len(all)-1]
	}
	if err := json.Unmarshal([]byte(body), &struct{ Result *roundAnswer }{&answer}); err != nil {
		f.t.Fatalf("%d %s: %v", r.status, r.body, err)
	}
	answer.raw = body
	return answer
}

// Where it cannot be reached the round is not sent, and may be taken again: to nobody else.
func TestABridgedRoundThatCannotBeSentIsNobodyElses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, run := bothEras(t, 0)
		f := newRig(t, o)
		atB := run(f)
		round := f.bridgedRound()
		f.servers[0].listener.Close() // what is under way goes on
		f.servers[0].http.SetKeepAlivesEnabled(false)
		for range 6 { // five failures eject
			if answer := f.bridgedCall(round); !strings.Contains(answer.raw, `"no_upstream","retryable":true`) {
				t.Errorf("a round whose call waits at one that is away: %s", answer.raw)
			}
		}
		if n := len(atB.all()); n != 0 {
			t.Errorf("b was sent it %d times", n)
		}
		if u := f.pool.Find("b"); u.State().Name != health.StateOK || u.Silent() {
			t.Errorf("b, which nobody asked anything, is %s, silent: %v", u.State().Name, u.Silent())
		}
		time.Sleep(time.Hour) // until the session that nobody uses is ended
	})
}

// Likewise a call that berth made a task of.
func TestATasksBridgedRoundGoesOnWhereItsCallAsked(t *testing.T) {
	o, run := bothEras(t, 0)
	f := newUpgraded(t, o, nil)
	atB := run(f.rig)
	f.pool.SetDrains(map[string]routing.Drain{"b": {Since: time.Now()}}) // so that a is given the call
	id := f.made()
	asked := f.reaches(id, "input_required")
	f.pool.SetDrains(nil)
	f.eject("a")
	for key := range asked.InputRequests {
		f.answer(id, `{"`+key+`":{"action":"accept","content":{}}}`)
	}
	if v := f.reaches(id, "completed"); !strings.Contains(string(v.Result), "ran at a") {
		t.Errorf("the call, which waited at a: %s", v.Result)
	}
	if n := len(atB.all()); n != 0 {
		t.Errorf("b was sent it %d times", n)
	}
}

// A call that was refused until its user was at a URL waits nowhere: it is made anew at whoever is there.
func TestACallThatWaitsNowhereIsMadeAnewElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, run := bothEras(t, 0)
		o.upstream = func(_ int, u *routing.Upstream) { u.Era = profile.SpokenLegacy }
		f := newRig(t, o)
		run(f)
		for i, outcome := range []string{`"error":{"code":-32042,"message":"x","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://host/","message":"?"}]}}`, `"result":{"content":[{"type":"text","text":"ran at b"}]}`} {
			f.servers[i].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
				if methodIn(body) == "tools/call" {
					return say(jsonType, response(body, outcome))(w, r, body)
				}
				return asOldServer(w, r, body)
			})
		}
		round := f.bridgedRound()
		f.servers[0].kill()
		if answer := f.bridgedCall(round); !strings.Contains(answer.raw, "ran at b") {
			t.Errorf("a is away: %s", answer.raw)
		}
		time.Sleep(time.Hour)
	})
}

// A server may be a berth by itself, with the same secret: its states are its own.
func TestAnotherBerthsStateIsItsOwn(t *testing.T) {
	keys, err := seal.NewKeyring(make([]byte, seal.MinSecret))
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := keys.Seal(t.Context(), "bridged question", []string{"theirs", "caller"}, []byte("{}"), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	o, run := bothEras(t, 0)
	o.size = 1
	o.upstream = func(_ int, u *routing.Upstream) { u.Era = profile.SpokenModern }
	f := newRig(t, o)
	f.servers = append(f.servers, f.servers[0]) // both are the modern one
	atB := run(f)
	if answer := f.bridgedCall(fmt.Sprintf(`"requestState":%q,`, theirs)); !strings.Contains(answer.raw, "ran at b") || len(atB.all()) != 1 {
		t.Errorf("got %s", answer.raw)
	}
}

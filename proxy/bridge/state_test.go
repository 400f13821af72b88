package bridge

import (
	"strings"
	"testing"
	"time"

	"berth/proxy/bridge/rounds"
)

// A state is good for the one call of the one caller that it was made for, and for a time.
func TestAStateIsGoodForItsCallAlone(t *testing.T) {
	u := tool(kind{}, func(k *running) { k.ends(k.ask()) })
	u.tools["other"] = u.tools["asks"]
	bridged(t, u, nil, func(r *rig) {
		first := r.do(asking{name: "asks", caller: "alice", params: `"arguments":{"n":1},`})
		good := `"arguments":{"n":1},` + first.answers(accepted)
		forged := []byte(first.Result.State)
		forged[len(forged)/2] ^= 1
		for name, a := range map[string]asking{
			"forged":          {name: "asks", caller: "alice", params: strings.Replace(good, first.Result.State, string(forged), 1)},
			"longer":          {name: "asks", caller: "alice", params: strings.Replace(good, first.Result.State, first.Result.State+"-TAMPERED", 1)},
			"no string":       {name: "asks", caller: "alice", params: strings.Replace(good, `"`+first.Result.State+`"`, "12", 1)},
			"empty":           {name: "asks", caller: "alice", params: strings.Replace(good, first.Result.State, "", 1)},
			"none of berth's": {name: "asks", caller: "alice", params: strings.Replace(good, first.Result.State, "x", 1)},
			"another caller":  {name: "asks", caller: "bob", params: good},
			"nobody":          {name: "asks", params: good},
			"another tool":    {name: "other", caller: "alice", params: good},
			"other arguments": {name: "asks", caller: "alice", params: `"arguments":{"n":2},` + first.answers(accepted)},
			"another method":  {method: "prompts/get", name: "asks", caller: "alice", params: good},
		} {
			if g := r.do(a); g.status != 400 || g.Error == nil || g.Error.Code != -32602 {
				t.Errorf("%s: got %d %s", name, g.status, g.text)
			}
		}
		if len(r.sent("answer")) != 0 {
			t.Errorf("the server was told %v", r.told())
		}
		// How it is written does not count.
		first = r.do(asking{name: "asks", caller: "alice", params: `"arguments":{"n":1.0,"o":{"a":"é","b":[1, 2]}},`})
		for _, again := range []string{`{"o":{"b":[1,2],"a":"\u00e9"},"n":1}`, `{"n":1e0, "o":{"a":"é","b":[1,2]}}`} {
			if g := r.do(asking{name: "asks", caller: "alice", params: `"arguments":` + again + `,` + first.answers(accepted)}); len(g.Result.Got) != 1 {
				t.Errorf("%s: got %s", again, g.text)
			}
		}
		first = r.do(asking{name: "asks", caller: "alice", params: `"arguments":{"n":1},`})
		good = `"arguments":{"n":1},` + first.answers(accepted)
		// Token, trace and id are a request's own.
		last := r.do(asking{name: "asks", caller: "alice", id: `"z"`, params: good, meta: `,"progressToken":"p","traceparent":"x"`})
		if len(last.Result.Got) != 1 {
			t.Errorf("got %s", last.text)
		}
	})
}

// An answer that comes too late finds that the call is given up: the tool may have run. That is remembered for a day.
func TestAStateExpires(t *testing.T) {
	u := tool(kind{}, func(k *running) { k.ends(k.ask()) })
	bridged(t, u, func(o *Options) { o.Question = time.Minute }, func(r *rig) {
		other := r.another(func(o *Options) { o.Question = time.Minute })
		first := r.do(asking{name: "asks"})
		time.Sleep(time.Minute + 2*time.Second)
		for _, by := range []*Bridge{r.b, other} {
			g := r.do(asking{name: "asks", params: first.answers(accepted), by: by})
			if g.status != 200 || g.Error == nil || !strings.Contains(string(g.Error.Data), `"reason":"given_up","retryable":false,"mayHaveExecuted":true`) {
				t.Errorf("got %d %s", g.status, g.text)
			}
			if g := r.do(asking{name: "asks", params: `"arguments":{"n":2},` + first.answers(accepted), by: by}); g.status != 400 {
				t.Errorf("of another call: %d %s", g.status, g.text)
			}
		}
		time.Sleep(rounds.Remembered)
		if g := r.do(asking{name: "asks", params: first.answers(accepted)}); g.status != 400 || g.Error == nil || g.Error.Code != -32602 {
			t.Errorf("a day later: %d %s", g.status, g.text)
		}
	})
}

// How long a client has to answer is told by the store: clocks of berths that are off, or jump, take nothing of it.
func TestClocksOfBerthsCountForNoQuestion(t *testing.T) {
	for name, of := range bothKinds {
		t.Run(name, func(t *testing.T) {
			u := tool(of, func(k *running) { k.ends(k.ask()) })
			bridged(t, u, nil, func(r *rig) {
				f, a, b, _ := r.join(time.Minute)
				b.clock.own = func() time.Time { return time.Now().Add(time.Hour) }
				for _, way := range [][2]*Bridge{{a, b}, {b, a}} {
					first := r.do(asking{name: "asks", by: way[0]})
					time.Sleep(50 * time.Second)
					if status := r.asksWhetherMoot(first, asking{by: way[1]}); status != 202 {
						t.Errorf("looked at: %d", status)
					}
					if g := r.do(asking{name: "asks", by: way[1], params: first.answers(accepted)}); len(g.Result.Got) != 1 {
						t.Errorf("got %s", g.text)
					}
				}
				first := r.do(asking{name: "asks", by: a})
				time.Sleep(time.Minute + time.Second)
				delete(f.berths, "a")
				if g := r.do(asking{name: "asks", by: b, params: first.answers(accepted)}); g.Error == nil || !strings.Contains(string(g.Error.Data), "given_up") {
					t.Errorf("too late: %s", g.text)
				}
			})
		})
	}
}

package bridge

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// after is closed after a while.
func after(d time.Duration) <-chan struct{} {
	leaves := make(chan struct{})
	time.AfterFunc(d, func() { close(leaves) })
	return leaves
}

// isBare reports whether an answer asks for nothing but to be called again.
func (g got) isBare() bool {
	return g.Result.Type == "input_required" && len(g.Result.Requests) == 0 && g.Result.State != ""
}

// counts is a tool that tells its progress so many times, a minute apart.
func counts(steps int) func(*running) {
	return func(k *running) {
		for n := range steps {
			k.progress(n)
			time.Sleep(time.Minute)
		}
		k.ends()
	}
}

const counted = `,"progressToken":"p"`

// A call that runs is left to another berth by who sends it, where its stream can be read on: the tool runs once, and nothing of it is lost.
func TestACallThatRunsIsLeftToAnotherBerth(t *testing.T) {
	u := tool(kind{}, counts(4))
	bridged(t, u, nil, func(r *rig) {
		r.keeps = true
		_, a, b, c := r.join(10 * time.Minute)
		began := time.Now()
		first := r.do(asking{name: "asks", meta: counted, by: a, leaves: after(90 * time.Second)})
		if !first.isBare() || len(first.all) != 3 || time.Since(began) > 91*time.Second || a.Tied() != 0 {
			t.Fatalf("after %v got %s, %d tied", time.Since(began), first.all, a.Tied())
		}
		second := r.do(asking{name: "asks", meta: counted, by: b, params: first.with(""), leaves: after(time.Minute)})
		if !second.isBare() || len(second.all) != 2 || !strings.Contains(second.all[0], `"progress":2`) {
			t.Fatalf("got %s", second.all)
		}
		last := r.do(asking{name: "asks", meta: counted, by: c, params: second.with("")})
		if last.Result.Got == nil || len(last.all) != 2 || !strings.Contains(last.all[0], `"progress":3`) {
			t.Errorf("got %s", last.all)
		}
		if r.ran() != 1 || len(r.told()) != 0 || len(r.sent("notifications/cancelled")) != 0 {
			t.Errorf("it ran %d times, told %v", r.ran(), r.told())
		}
	})
}

// Who leaves it may go on with it himself.
func TestACallThatWasLeftToNobodyGoesOn(t *testing.T) {
	u := tool(kind{}, func(k *running) {
		time.Sleep(time.Minute)
		k.progress(1)
		time.Sleep(time.Minute)
		k.ends(k.ask())
	})
	bridged(t, u, nil, func(r *rig) {
		began := time.Now() // before its stream has told what tells whether it is replayed, it stays
		bare := r.do(asking{name: "asks", meta: counted, leaves: after(time.Second)})
		if took := time.Since(began); !bare.isBare() || took < time.Minute || took > 61*time.Second {
			t.Fatalf("got %s after %v", bare.text, took)
		}
		asked := r.do(asking{name: "asks", meta: counted, params: bare.with("")})
		last := r.do(asking{name: "asks", meta: counted, params: asked.answers(accepted)})
		if len(last.Result.Got) != 1 || r.ran() != 1 || r.resumptions() != 3 { // to find out, and once for each round
			t.Errorf("got %s, ran %d times, resumed %d times", last.text, r.ran(), r.resumptions())
		}
	})
}

// What cannot be read on elsewhere stays, or of what that is not known.
func TestACallThatCannotBeReadOnStays(t *testing.T) {
	stays := func(t *testing.T, of kind, faults func(w http.ResponseWriter, q *http.Request, m message) bool) {
		u := tool(of, counts(3))
		u.faults = faults
		bridged(t, u, nil, func(r *rig) {
			if last := r.do(asking{name: "asks", meta: counted, leaves: after(time.Second)}); last.Result.Got == nil || r.ran() != 1 {
				t.Errorf("got %s, ran %d times", last.text, r.ran())
			}
		})
	}
	t.Run("without ids", func(t *testing.T) { stays(t, kind{plain: true}, nil) })
	t.Run("as JSON", func(t *testing.T) { stays(t, kind{whole: true}, nil) })
	for how, answers := range unreplayed {
		t.Run(how, func(t *testing.T) {
			stays(t, kind{}, func(w http.ResponseWriter, q *http.Request, _ message) bool {
				if resumes(q) {
					answers(w, q)
				}
				return resumes(q)
			})
		})
	}
}

// What comes on the session's own stream while it is found out whether the call's is replayed is asked with the rest: nobody is told it again.
func TestWhatIsAskedWhileItIsFoundOutWhetherAStreamIsReplayedIsAsked(t *testing.T) {
	asks := make(chan func(), 1)
	u := tool(kind{}, func(k *running) {
		text, _, answer := k.question("elicitation/create", formAsk)
		asks <- func() { k.aside(text) }
		k.ends(k.ask(), k.wait(answer))
	})
	u.faults = func(_ http.ResponseWriter, q *http.Request, _ message) bool {
		if resumes(q) {
			select {
			case aside := <-asks:
				aside()
				time.Sleep(100 * time.Millisecond)
			default:
			}
		}
		return false
	}
	bridged(t, u, nil, func(r *rig) {
		first := r.do(asking{name: "asks"})
		synctest.Wait()
		if len(first.Result.Requests) != 2 {
			t.Fatalf("got %s", first.text)
		}
		if last := r.do(asking{name: "asks", params: first.answers(accepted)}); len(last.Result.Got) != 2 {
			t.Errorf("got %s", last.text)
		}
	})
}

// Who goes on with a call ends its session in the end: one in which another call runs stays with both.
func TestACallThatSharesItsSessionStays(t *testing.T) {
	u := tool(kind{}, counts(6))
	bridged(t, u, nil, func(r *rig) {
		r.keeps = true
		_, a, b, _ := r.join(10 * time.Minute)
		another := make(chan got, 1)
		go func() {
			time.Sleep(4 * time.Minute)
			another <- r.do(asking{name: "asks", meta: counted, declares: declaresNone, by: a})
		}()
		first := r.do(asking{name: "asks", meta: counted, declares: declaresNone, by: a, leaves: after(250 * time.Second)})
		if first.isBare() {
			first = r.do(asking{name: "asks", meta: counted, declares: declaresNone, by: b, params: first.with("")})
		}
		second, calls := <-another, r.sent("tools/call")
		if calls[0].session != calls[1].session || first.Result.Got == nil || second.Result.Got == nil || len(calls) != 2 {
			t.Errorf("got %s and %s in %s and %s", first.text, second.text, calls[0].session, calls[1].session)
		}
	})
}

// What an upstream says in one event (2025-03-26) is told by whoever has taken the first of it: another one reads behind the event.
func TestACallIsNotLeftAmidABatch(t *testing.T) {
	const steps = 10
	u := tool(kind{}, func(k *running) {
		time.Sleep(time.Minute)
		var batch strings.Builder
		for n := range steps {
			fmt.Fprintf(&batch, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}},`, k.token, n)
		}
		k.ends()
		k.say(`[` + batch.String() + `{"jsonrpc":"2.0","id":` + k.id + `,` + k.result + `}]`)
		k.result = ""
	})
	bridged(t, u, nil, func(r *rig) {
		if g := r.do(asking{name: "asks", meta: counted, leaves: after(time.Second)}); g.Result.Got == nil || len(g.all) != steps+1 {
			t.Errorf("got %s", g.all)
		}
	})
}

// Of several calls that are to be left one finds out whether that may be, and the others wait for it: nothing else may come of them for long.
func TestCallsThatAreToBeLeftWaitUntilItIsFoundOut(t *testing.T) {
	u := tool(kind{}, func(k *running) {
		k.progress(0)
		time.Sleep(10 * time.Minute)
		k.ends()
	})
	u.faults = func(_ http.ResponseWriter, q *http.Request, _ message) bool {
		if resumes(q) {
			time.Sleep(100 * time.Millisecond)
		}
		return false
	}
	bridged(t, u, nil, func(r *rig) {
		const calls = 3
		leaves, left := after(time.Minute), make(chan got, calls)
		for range calls {
			go func() { left <- r.do(asking{name: "asks", meta: counted, leaves: leaves}) }()
		}
		for range calls {
			if g := <-left; !g.isBare() {
				t.Errorf("got %s", g.text)
			}
		}
	})
}

package proxy_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage/redistest"
	"berth/proxy"
	"berth/routing"
	"berth/sticky"
	"berth/upgrade"
)

// response1 is a response to the request with id 1.
func response1(rest string) string { return `{"jsonrpc":"2.0","id":1,` + rest + `}` }

// The response is the last event, after hours if it takes hours, and until then comments
// keep the stream open. Nothing on it bears an id: no upstream could resume it.
func TestResultIsWaitedForOnAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, func(r *upgrade.Rule) { r.TTL = 48 * time.Hour })
		session := f.initialize()
		id, call := f.made(session, func(c *upgrade.Creation) { c.TTL = 24 * time.Hour; c.Rule.MaxTTL = c.TTL; c.Rule.Timeout = 0 })
		w := f.awaits(session, id, "")
		synctest.Wait()
		if got := w.header; got.Get("Content-Type") != eventsType || got.Get("Cache-Control") != "no-cache" {
			t.Errorf("opened with %v", got)
		}
		time.Sleep(5 * time.Hour)
		synctest.Wait()
		if w.isOver() || w.comments < 5*60*4 {
			t.Fatalf("over %v, %d comments", w.isOver(), w.comments)
		}
		call.ends(`"result":{ "content":[ ],"isError":false}`)
		<-w.over
		w.wants(t, response1(`"result":{ "content":[ ],"isError":false,`+related(id)+`}`))
		if strings.Contains(w.raw.String(), "\nid:") || strings.HasPrefix(w.raw.String(), "id:") || w.err != nil {
			t.Errorf("got %q, %v", w.raw.String(), w.err)
		}
	})
}

// What has ended is told at once, in JSON: exactly what the call returned.
func TestResultIsWhatTheCallReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		session := f.initialize()
		for outcome, want := range map[string]string{
			`"result":{"content":[],"x" : 1.0}`:                                 `"result":{"content":[],"x" : 1.0,RELATED}`,
			`"result":{"content":[],"isError":true}`:                            `"result":{"content":[],"isError":true,RELATED}`,
			`"error":{"code":-32050,"message":"no", "data":{ "a":[1] }}`:        `"error":{"code":-32050,"message":"no", "data":{ "a":[1] }}`,
			`"result":{"_meta":{"io.modelcontextprotocol/related-task":{}}}`:    `"result":{RELATED}`,
			`"result":{"_meta":{"a": 1},"structuredContent":{"_meta":{"b":2}}}`: `"result":{"_meta":{"a": 1,INNER},"structuredContent":{"_meta":{"b":2}}}`,
		} {
			id, call := f.made(session)
			call.ends(outcome)
			synctest.Wait()
			r := f.legacy(session, "tasks/result", byID(id))
			inner := strings.TrimSuffix(strings.TrimPrefix(related(id), `"_meta":{`), "}")
			want := response1(strings.NewReplacer("RELATED", related(id), "INNER", inner).Replace(want))
			if r.status != 200 || r.body != want || r.header.Get("Content-Type") != jsonType {
				t.Errorf("got  %d %s\nwant %s", r.status, r.body, want)
			}
		}
		id, _ := f.made(session)
		waiting := f.awaits(session, id, "")
		synctest.Wait()
		f.legacy(session, "tasks/cancel", byID(id))
		synctest.Wait()
		r := f.legacy(session, "tasks/result", byID(id))
		if m := r.message(t); r.status != 200 || m.Error == nil || m.Error.Code != -32603 {
			t.Errorf("of a cancelled task: %v", r)
		}
		waiting.wants(t, r.body)
	})
}

// All that is open is asked at the beginning of a stream, and what comes later as it comes,
// once. An ask that has its answer is not asked again.
func TestAsksGoDownAStreamOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		session := f.initialize()
		id, call := f.made(session)
		first := f.awaits(session, id, "")
		synctest.Wait()
		call.ask(`7`)
		call.ask(`"x"`)
		time.Sleep(time.Minute)
		first.wants(t, asking(id, `7`), asking(id, `"x"`))
		if v := f.look(session, id); v.Status != "input_required" {
			t.Errorf("while it asks: %+v", v)
		}
		first.leave()
		<-first.over
		synctest.Wait()
		second := f.awaits(session, id, "")
		time.Sleep(time.Minute)
		second.wants(t, asking(id, `7`), asking(id, `"x"`))
		f.replies(session, `7`)
		time.Sleep(time.Minute)
		second.leave()
		<-second.over
		synctest.Wait()
		third := f.awaits(session, id, "")
		call.ask(`8`)
		time.Sleep(time.Minute)
		third.wants(t, asking(id, `"x"`), asking(id, `8`))
		f.replies(session, `8`)
		f.replies(session, `"x"`)
		time.Sleep(time.Minute)
		if v := f.look(session, id); v.Status != "working" {
			t.Errorf("when it has its answers: %+v", v)
		}
		call.ask(`7`) // an id that is free again
		time.Sleep(time.Minute)
		call.ends(`"result":{"content":[]}`)
		<-third.over
		third.wants(t, asking(id, `"x"`), asking(id, `8`), asking(id, `7`), response1(`"result":{"content":[],`+related(id)+`}`))
	})
}

// What the server takes back is taken back where it was asked, and not asked any more.
func TestAskThatIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		session := f.initialize()
		id, call := f.made(session)
		call.ask(`7`)
		synctest.Wait()
		asked := f.awaits(session, id, "")
		time.Sleep(time.Minute)
		call.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"late"}}`)
		time.Sleep(time.Minute)
		later := f.awaits(session, id, "")
		time.Sleep(time.Minute)
		asked.wants(t, strings.Replace(elicitation(`7`), `"?"`, `"?",`+related(id), 1),
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"late",`+related(id)+`}}`)
		later.wants(t)
		if v := f.look(session, id); v.Status != "working" {
			t.Errorf("got %+v", v)
		}
	})
}

// In another session an answer would go to another upstream, which waits for none, or for
// an answer to something else of this id.
func TestAsksAreGivenInTheSessionOfTheCallAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		session := f.initialize()
		id, call := f.made(session)
		elsewhere, nowhere := f.awaits(f.initialize(), id, ""), f.awaits("", id, "")
		call.ask(`7`)
		time.Sleep(time.Minute)
		elsewhere.wants(t)
		nowhere.wants(t)
		call.ends(`"result":{}`)
		<-elsewhere.over
		<-nowhere.over
		elsewhere.wants(t, response1(`"result":{`+related(id)+`}`))
		nowhere.wants(t, response1(`"result":{`+related(id)+`}`))
	})
}

// Progress bears the token of the call for the task's life, on the next stream too, and increases under each token.
func TestProgressOfATaskIsUnderTheTokenOfItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		session := f.initialize()
		id, call := f.made(session)
		w := f.awaits(session, id, "")
		synctest.Wait()
		call.progress(`"progress":1,"total":3,"message":"a"`)
		time.Sleep(2 * time.Second)
		call.progress(`"progress":2,"total":3`)
		time.Sleep(2 * time.Second)
		call.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"anothers","progress":9}}`)
		time.Sleep(time.Hour / 2)
		told := func(token, rest string) string {
			return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,` + rest + `,` + related(id) + `}}`
		}
		w.wants(t, told(`"mine"`, `"progress":1,"total":3,"message":"a"`), told(`"mine"`, `"progress":2,"total":3`))
		w.leave()
		<-w.over
		synctest.Wait()
		again := f.awaits(session, id, `,"_meta":{"progressToken":5}`)
		time.Sleep(time.Minute)
		again.wants(t, told(`5`, `"progress":2,"total":3`))
		for _, n := range []string{"2", "1.5", "3"} {
			call.progress(`"progress":` + n)
			time.Sleep(2 * time.Second)
		}
		again.wants(t, told(`5`, `"progress":2,"total":3`), told(`"mine"`, `"progress":3`), told(`5`, `"progress":3`))
	})
}

// A client that counts only progress is told some while the tool tells none.
func TestWaitThatAsksForProgressGetsSome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		session := f.initialize()
		id, call := f.made(session)
		w := f.awaits(session, id, `,"_meta":{"progressToken":"r"}`)
		time.Sleep(31 * time.Second)
		w.wants(t,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"r","progress":0.000001,`+related(id)+`}}`,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"r","progress":0.000002,`+related(id)+`}}`)
		call.progress(`"progress":1`)
		time.Sleep(time.Hour / 2)
		if got := w.heard(); len(got) != 4 {
			t.Errorf("heard %d, want the tool's under two tokens and no more of berth's own", len(got))
		}
	})
}

// Tools begin at 0 as a rule, also where berth has told progress by then.
func TestToolsProgressOfATaskGrowsFromBerths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		session := f.initialize()
		id, call := f.made(session)
		w := f.awaits(session, id, `,"_meta":{"progressToken":"r"}`)
		time.Sleep(16 * time.Second)
		call.progress(`"progress":0,"message":"a"`)
		time.Sleep(2 * time.Second)
		call.progress(`"progress":1`)
		time.Sleep(time.Minute)
		told := func(token, rest string) string {
			return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,` + rest + `,` + related(id) + `}}`
		}
		w.wants(t, told(`"r"`, `"progress":0.000001`),
			told(`"mine"`, `"progress":0,"message":"a"`), told(`"r"`, `"progress":0.000002,"message":"a"`),
			told(`"mine"`, `"progress":1`), told(`"r"`, `"progress":1`))
	})
}

// What the tool says beside passes, once.
func TestMessagesOfATaskPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		session := f.initialize()
		id, call := f.made(session)
		w := f.awaits(session, id, "")
		synctest.Wait()
		call.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"a"}}`)
		time.Sleep(2 * time.Second)
		call.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"b"}}`)
		time.Sleep(time.Minute)
		said := func(data string) string {
			return `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"` + data + `",` + related(id) + `}}`
		}
		w.wants(t, said("a"), said("b"))
	})
}

// Any number of clients wait for one task, at any berth; who hangs up ends nothing else.
func TestHangUpEndsNothingButItsOwnWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t, "memory:")
		f := newCoreRig(t, rigOptions{store: store}, nil)
		g := f.beside(store)
		session := f.initialize()
		id, call := f.made(session)
		gone, stays, other := f.awaits(session, id, ""), f.awaits(session, id, ""), g.awaits(session, id, "")
		synctest.Wait()
		gone.leave()
		<-gone.over
		time.Sleep(time.Minute)
		if v := f.look(session, id); v.Status != "working" || stays.isOver() || other.isOver() {
			t.Fatalf("got %+v, over %v, %v", v, stays.isOver(), other.isOver())
		}
		call.ends(`"result":{}`)
		<-stays.over
		<-other.over
		stays.wants(t, response1(`"result":{`+related(id)+`}`))
		other.wants(t, response1(`"result":{`+related(id)+`}`))
	})
}

// Who takes no event streams waits for JSON.
func TestResultIsWaitedForInJSONWhereNoStreamIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		session := f.initialize()
		id, call := f.made(session)
		w := f.awaits(session, id, "", "Accept", jsonType)
		call.ask(`7`)
		time.Sleep(time.Hour / 2)
		call.ends(`"result":{}`)
		<-w.over
		if got := w.raw.String(); got != response1(`"result":{`+related(id)+`}`) || w.header.Get("Content-Type") != jsonType {
			t.Errorf("got %q", got)
		}
	})
}

// An outage is waited out, the end of the task in it included.
func TestOutageDoesNotEndAWait(t *testing.T) {
	redis := redistest.Start(t)
	line := newStoreLine(t, redis.Addr)
	f := newCoreRig(t, rigOptions{store: openStore(t, redis.URL())}, nil)
	g := f.beside(openStore(t, "redis://"+line.addr+"/0"))
	session := f.initialize()
	id, call := f.made(session)
	w := g.awaits(session, id, "")
	g.eventually("the beginning of the stream", func() bool { return w.begun() })
	<-line.hold()
	g.eventually("a refusal in the outage", func() bool {
		return g.legacy(session, "tasks/result", byID(id)).status == http.StatusServiceUnavailable
	})
	call.ends(`"result":{}`)
	f.reaches(session, id, "completed")
	if w.isOver() {
		t.Fatalf("the wait has ended: %v", w.heard())
	}
	line.release()
	g.eventually("the end", w.isOver)
	w.wants(t, response1(`"result":{`+related(id)+`}`))
}

// A draining berth has waits go on, and then tells them to ask elsewhere.
func TestDrainLetsWaitsGoOnAndThenSendsThemElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		session := f.initialize()
		id, _ := f.made(session)
		w, plain := f.awaits(session, id, ""), f.awaits(session, id, "", "Accept", jsonType)
		synctest.Wait()
		f.proxy.Drain()
		time.Sleep(time.Minute)
		if w.isOver() || plain.isOver() {
			t.Fatal("drain has ended the waits")
		}
		f.proxy.ReleaseWaiters()
		f.proxy.ReleaseWaiters()
		<-w.over
		<-plain.over
		const want = `{"jsonrpc":"2.0","id":1,"error":{"code":-31503,"message":"this berth is about to end","data":{"reason":"draining","retryable":true,"retryAfterMs":1000,"mayHaveExecuted":false,"outcome":"not_executed"}}}`
		w.wants(t, want)
		plain.wants(t, want)
		if v := f.look(session, id); v.Status != "working" || w.err != nil {
			t.Errorf("got %+v, %v", v, w.err)
		}
	})
}

// Waits are standing streams: they take no place of calls, and are bounded as streams are.
func TestWaitsCountAsStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{options: func(o *proxy.Options) { o.Limits.StreamsPerCaller, o.Limits.InFlight = 2, 3 }}, nil)
		session := f.initialize()
		id, _ := f.made(session)
		first, second := f.awaits(session, id, ""), f.awaits(session, id, "")
		synctest.Wait()
		r := f.legacy(session, "tasks/result", byID(id))
		r.fails(t, http.StatusTooManyRequests, -31429, "too_many_streams", true)
		for range 5 {
			f.look(session, id)
		}
		first.leave()
		<-first.over
		synctest.Wait()
		third := f.awaits(session, id, "")
		synctest.Wait()
		if third.isOver() || second.isOver() {
			t.Error("there was room for one more")
		}
	})
}

// A task that has gone ends the wait for it.
func TestWaitEndsWithItsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		session := f.initialize()
		id, _ := f.made(session, func(c *upgrade.Creation) { c.TTL = time.Minute })
		w := f.awaits(session, id, "")
		time.Sleep(time.Hour)
		if got := w.heard(); len(got) != 1 || !strings.Contains(got[0], "upstream_timeout") {
			t.Errorf("heard %v", got)
		}
	})
}

// A task that nobody knows any more ends the wait as it ends polls.
func TestWaitEndsWhereTheTaskIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t, "memory:")
		f := newCoreRig(t, rigOptions{store: store}, nil)
		session := f.initialize()
		id, _ := f.made(session)
		w := f.beside(store).awaits(session, id, "")
		synctest.Wait()
		if err := store.Delete(t.Context(), "upgrade:{"+id+"}"); err != nil {
			t.Fatal(err)
		}
		<-w.over
		w.wants(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Task not found"}}`)
	})
}

// So are those of several upstreams that a session has left one after the other; its end is told to all of them.
func TestAsksOfUpstreamsThatTheSessionHasLeftOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, reinit(rigOptions{size: 4}), nil)
		session := f.initialize()
		calls, drains := map[string]*legacyCall{}, map[string]routing.Drain{}
		for len(drains) < 3 {
			binding, err := f.bindings.Reload(t.Context(), f.router.SessionKey("", session))
			if err != nil {
				t.Fatal(err)
			}
			id, call := f.made(session)
			calls[id], drains[binding.Upstream] = call, routing.Drain{Since: time.Now(), MoveSessions: true}
			f.pool.SetDrains(drains)
			if r := f.legacy(session, "ping", ""); r.status != 200 {
				t.Fatalf("not moved: %v", r)
			}
		}
		for id, call := range calls {
			w := f.awaits(session, id, "")
			call.ask(`7`)
			time.Sleep(time.Minute)
			var asked struct{ ID json.RawMessage }
			if got := w.heard(); len(got) != 1 || json.Unmarshal([]byte(got[0]), &asked) != nil {
				t.Fatalf("heard %v", got)
			}
			f.replies(session, string(asked.ID))
			time.Sleep(time.Minute)
			if v := f.look(session, id); v.Status != "working" {
				t.Errorf("when it has its answer: %+v", v)
			}
			call.ends(`"result":{"content":[]}`)
			<-w.over
		}
		if posted := f.tool.answers(); len(posted) != 3 || len(slices.Compact(posted)) != 1 {
			t.Errorf("the upstreams got %v", posted)
		}
		if r := f.in(session, http.MethodDelete, ""); r.status/100 != 2 {
			t.Errorf("the end got %v", r)
		}
		time.Sleep(time.Minute)
		for _, s := range f.servers {
			if left := s.Sessions(); len(left) != 0 {
				t.Errorf("%s still has %v", s.Name, left)
			}
		}
	})
}

// An ask of an upstream that the session has left is given to nobody: the answer would go
// to the present one.
func TestAskOfAnUpstreamThatTheSessionHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{size: 2}, nil)
		session := f.initialize()
		id, call := f.made(session)
		f.bindings.Amend(t.Context(), f.router.SessionKey("", session), sticky.Binding{Upstream: f.servers[1].Name}, "", "")
		w := f.awaits(session, id, "")
		call.ask(`7`)
		time.Sleep(time.Minute)
		w.wants(t)
	})
}

// A call that is held at an upstream which its session has left, since it drains, asks and is answered there.
func TestAskOfADrainingUpstreamThatTheSessionHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, reinit(rigOptions{size: 2}), nil)
		session := f.initialize()
		id, call := f.made(session)
		f.pool.SetDrains(map[string]routing.Drain{f.servers[0].Name: {Since: time.Now(), MoveSessions: true}})
		if r := f.legacy(session, "ping", ""); r.status != 200 || len(f.servers[1].Sessions()) != 1 {
			t.Fatalf("not moved: %v", r)
		}
		w := f.awaits(session, id, "")
		call.ask(`7`)
		time.Sleep(time.Minute)
		w.wants(t, asking(id, `7`))
		f.replies(session, `7`)
		time.Sleep(time.Minute)
		if posted := f.tool.answers(); len(posted) != 1 || posted[0] != `{"jsonrpc":"2.0","id":7,"result":{}}` {
			t.Errorf("the upstream got %v", posted)
		}
		if v := f.look(session, id); v.Status != "working" {
			t.Errorf("when it has its answer: %+v", v)
		}
	})
}

package proxy_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage/redistest"
)

// asking is an elicitation as a stream about the task gives it.
func asking(task, id string) string {
	return strings.Replace(elicitation(id), `"?"`, `"?",`+related(task), 1)
}

// given are those of the streams that were given a message.
func given(message string, streams ...*waiter) (to []*waiter) {
	for _, w := range streams {
		for _, heard := range w.heard() {
			if heard == message {
				to = append(to, w)
			}
		}
	}
	return to
}

// A message goes down one of the streams that a client waits on (2025-11-25, transports,
// "Multiple Connections"), and what it asks moves to another one when that one ends. An
// answer counts wherever the question was given.
func TestAskGoesDownOneOfSeveralStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		session := f.initialize()
		id, call := f.made(session)
		streams := []*waiter{f.awaits(session, id, ""), f.awaits(session, id, ""), f.awaits(session, id, "")}
		synctest.Wait()
		call.ask(`7`)
		call.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"a"}}`)
		call.progress(`"progress":1`)
		time.Sleep(time.Minute)
		var all []string
		for _, w := range streams {
			all = append(all, w.heard()...)
		}
		if len(all) != 3 || !slices.Contains(all, asking(id, `7`)) {
			t.Fatalf("three streams heard\n%s\nwant question, message and progress, each once", strings.Join(all, "\n"))
		}
		first := given(asking(id, `7`), streams...)[0]
		first.leave()
		<-first.over
		synctest.Wait()
		streams = slices.DeleteFunc(streams, func(w *waiter) bool { return w == first })
		to := given(asking(id, `7`), streams...)
		if len(to) != 1 {
			t.Fatalf("when its stream ended the question went down %d others, want 1", len(to))
		}
		to[0].wants(t, asking(id, `7`)) // not again what the first was told
		f.replies(session, `7`)
		call.ask(`8`)
		time.Sleep(time.Minute)
		if to := given(asking(id, `8`), streams...); len(to) != 1 {
			t.Errorf("the next question went down %d streams, want 1", len(to))
		}
		call.ends(`"result":{}`)
		for _, w := range streams {
			<-w.over
			if got := w.heard(); got[len(got)-1] != response1(`"result":{`+related(id)+`}`) {
				t.Errorf("ended with %s", got[len(got)-1])
			}
		}
	})
}

// Each task of a session has streams of its own: what one asks is on none of another's.
func TestAskGoesDownAStreamOfItsOwnTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		session := f.initialize()
		one, first := f.made(session)
		two, second := f.made(session)
		ones, twos := f.awaits(session, one, ""), f.awaits(session, two, "")
		synctest.Wait()
		second.ask(`7`)
		first.ask(`8`)
		time.Sleep(time.Minute)
		ones.wants(t, asking(one, `8`))
		twos.wants(t, asking(two, `7`))
	})
}

// A token is of one request: each stream is told progress under its own.
func TestEachStreamIsToldProgressUnderItsOwnToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		session := f.initialize()
		id, call := f.made(session)
		one, two := f.awaits(session, id, `,"_meta":{"progressToken":1}`), f.awaits(session, id, `,"_meta":{"progressToken":2}`)
		synctest.Wait()
		call.progress(`"progress":1`)
		time.Sleep(time.Minute)
		told := func(token string) string {
			return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,"progress":1,` + related(id) + `}}`
		}
		if n := len(given(told(`"mine"`), one, two)); n != 1 {
			t.Errorf("progress of the call went down %d streams, want 1", n)
		}
		if len(given(told(`1`), one)) != 1 || len(given(told(`2`), two)) != 1 || len(given(told(`1`), two))+len(given(told(`2`), one)) != 0 {
			t.Errorf("heard %v and %v", one.heard(), two.heard())
		}
	})
}

// Two berths with a stream of one session each: one of them is given the question, and the
// other one once that stream has ended, whichever way.
func TestAskGoesDownAStreamOfOneBerth(t *testing.T) {
	for how, end := range map[string]func(b *upgraded, w *waiter){
		"the client hangs up": func(_ *upgraded, w *waiter) { w.leave() },
		"its berth drains":    func(b *upgraded, _ *waiter) { b.proxy.Drain(); b.proxy.ReleaseWaiters() },
	} {
		t.Run(how, func(t *testing.T) {
			redis := redistest.Start(t)
			f := newCoreRig(t, rigOptions{tcp: true, store: openStore(t, redis.URL())}, nil)
			g := f.beside(openStore(t, redis.URL()))
			session := f.initialize()
			id, call := f.made(session)
			berths := map[*waiter]*upgraded{}
			one, other := f.awaits(session, id, `,"_meta":{"progressToken":1}`), g.awaits(session, id, `,"_meta":{"progressToken":1}`)
			berths[one], berths[other] = f.upgraded, g
			f.eventually("both streams", func() bool { return one.begun() && other.begun() })
			call.ask(`7`)
			f.eventually("the question", func() bool { return len(given(asking(id, `7`), one, other)) > 0 })
			call.progress(`"progress":1`) // each stream is told of it, after a look
			own := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,` + related(id) + `}}`
			f.eventually("a look of both", func() bool { return len(given(own, one, other)) == 2 })
			to := given(asking(id, `7`), one, other)
			if len(to) != 1 {
				t.Fatalf("the question went down %d streams, want 1", len(to))
			}
			first, second := to[0], other
			if first == other {
				second = one
			}
			end(berths[first], first)
			<-first.over
			f.eventually("the question on the other stream", func() bool { return len(given(asking(id, `7`), second)) == 1 })
			f.replies(session, `7`)
			call.ends(`"result":{}`)
			f.eventually("the end", second.isOver)
			second.wants(t, own, asking(id, `7`), response1(`"result":{`+related(id)+`}`))
		})
	}
}

// logged is a message that a tool logs.
const logged = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"a",`

// A stream that has told a task's last words ends with the task. A berth that read of them
// before that, and may ask only then whether to tell them, told them a second time.
func TestLastWordsOfATaskGoDownOneStream(t *testing.T) {
	redis := redistest.Start(t)
	f := newCoreRig(t, rigOptions{tcp: true, store: openStore(t, redis.URL())}, nil)
	line := newStoreLine(t, redis.Addr)
	g := f.beside(openStore(t, "redis://"+line.addr+"/0"))
	session := f.initialize()
	id, call := f.made(session)
	first := f.awaits(session, id, "")
	call.say(logged + `"_meta":{}}}`)
	call.progress(`"progress":1`)
	f.eventually("message and progress", func() bool { return len(first.heard()) == 2 })
	asked := line.holdWhat(":tells:")
	second := g.awaits(session, id, "")
	<-asked
	call.ends(`"result":{}`)
	<-first.over
	line.release()
	<-second.over
	response := response1(`"result":{` + related(id) + `}`)
	first.wants(t, logged+related(id)+`}}`, first.heard()[1], response)
	second.wants(t, response)
}

// A berth that sees a task's last words with its end alone tells them all the same: the
// other ones rely on it.
func TestLastWordsOfATaskAreToldWithItsEnd(t *testing.T) {
	redis := redistest.Start(t)
	line := newStoreLine(t, redis.Addr)
	f := newCoreRig(t, rigOptions{tcp: true, store: openStore(t, "redis://"+line.addr+"/0")}, nil)
	g := f.beside(openStore(t, redis.URL()))
	session := f.initialize()
	id := g.legacy(session, "tools/call", work).message(t).Result.Task.TaskID
	call := <-f.tool.calls
	first := f.awaits(session, id, "")
	call.say(logged + `"_meta":{}}}`)
	f.eventually("a message", func() bool { return len(first.heard()) == 1 })
	second := g.awaits(session, id, "")
	asked := line.hold()
	call.say(logged + `"n":2}}`)
	call.ends(`"result":{}`)
	<-second.over
	<-asked
	line.release()
	<-first.over
	response := response1(`"result":{` + related(id) + `}`)
	first.wants(t, logged+related(id)+`}}`, logged+`"n":2,`+related(id)+`}}`, response)
	second.wants(t, response)
}

// A session's standing streams at two berths hear each status once between them, and what
// comes when the one that heard has ended, the other one does.
func TestStatusIsToldAtOneBerth(t *testing.T) {
	f, g, _ := newSessionPair(t)
	one, other := f.stand(f.session), g.stand(f.session)
	told := func(status string) (by []*standing) {
		for _, s := range []*standing{one, other} {
			statuses, _ := s.statuses()
			for _, told := range statuses {
				if told == status {
					by = append(by, s)
				}
			}
		}
		return by
	}
	id := f.errand(`"seconds":0.3,"asks":["elicitation"]`)
	f.respond(f.session, f.asks(id, 1)[0], `"result":{}`)
	f.eventually("the end told", func() bool { return len(told("completed")) > 0 })
	first, second := told("completed")[0], other
	if first == other {
		second = one
	}
	first.leave()
	<-first.over
	f.errand(`"seconds":4`) // longer than berth takes to notice that the stream has ended
	f.eventually("the end of the next told", func() bool { return len(told("completed")) > 1 })
	if ends := told("completed"); ends[len(ends)-1] != second && ends[0] != second {
		t.Error("the end of the second task was told by a stream that had ended")
	}
	if asked, ends := told("input_required"), told("completed"); len(asked) > 1 || len(ends) != 2 {
		t.Errorf("told input_required %d times and completed %d times, of two tasks that asked once", len(asked), len(ends))
	}
}

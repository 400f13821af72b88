package upgrade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/task"

	"pgregory.net/rapid"
)

// oldRequests are those of clients of the legacy era.
var (
	oldRequests = []string{"create", "create", "create", "poll", "poll", "reply", "reply", "reply", "reply", "cancel", "end"}
	oldDoomed   = []string{"create dying", "create unheard", "reply dying", "reply unheard", "cancel dying", "end dying", "end unheard"}
)

// oldLives are what the tools of such a world do.
var oldLives = []string{
	"result", "result/2s", "say/500ms log say/1s result/8s", "ask result", "ask/1s say result/2s", "say ask say ask say result",
	"ask:3 result", "retract/1s result/3s", "cut result/1s", "say cut/1s ask cut result/4s", "ask cut say result", "retract ask:2 cut say/1s result",
}

// sayAskSayAskSay is such a life: events between questions.
const sayAskSayAskSay = 5

// oldTimeout is longer than a script.
const oldTimeout = 6 * time.Minute

// oldSession is a client's session.
type oldSession struct {
	name     string // as the client calls it; "at " + name is the upstream's
	upstream string
	ended    bool // its client wants it to be
	told     bool // its client knows that it will be
	lost     int  // world.lost before that
}

func (s *oldSession) key() string { return SessionKey(poolName, somebody.Principal, s.name) }
func (s *oldSession) at() string  { return "at " + s.name }

func (s *oldSession) behind() string { return BehindKey(s.key(), s.at()) }

// TestOldWorldInMemory runs scripts on berths in front of a server that holds sessions, in
// fake time.
func TestOldWorldInMemory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		script := drawScript(rt, slices.Concat(oldRequests, oldRequests, oldDoomed, faults, []string{"flush"}))
		var wrong []string
		synctest.Test(t, func(t *testing.T) {
			store := openStore(t, "memory:", storage.Options{})
			defer store.Close()
			at := newCell(store)
			w := newOldWorld(settings{at: at, shared: true, keys: givenKeys(t)}, 0)
			w.flush = func() {
				fresh := openStore(t, "memory:", storage.Options{})
				t.Cleanup(func() { _ = fresh.Close() })
				at.Store(fresh)
			}
			w.play(script)
			w.old.stop()
			wrong = w.wrong.all()
		})
		if len(wrong) > 0 {
			rt.Fatalf("%s\nscript:\n%s", strings.Join(wrong, "\n"), lines(script))
		}
	})
}

func newOldWorld(s settings, pace int) *world {
	old := newOldTool(pace)
	s.old = old.oldServer
	w := &world{tool: newTool("u", "v"), settings: s, pace: pace, old: old}
	w.tool.pace = pace
	old.ending = w.sessionEnds
	return w
}

// session is the n-th of those that clients have open.
func (w *world) session(n int) *oldSession {
	w.mu.Lock()
	defer w.mu.Unlock()
	for n = n % 3; len(w.sessions) <= n; {
		w.openSession(len(w.sessions))
	}
	return w.sessions[n]
}

// openSession opens one in the place of another. The caller has w.mu.
func (w *world) openSession(n int) {
	w.names++
	s := &oldSession{name: fmt.Sprint("session ", w.names), upstream: w.tool.upstreams[n%2]}
	if n < len(w.sessions) {
		w.sessions[n] = s
	} else {
		w.sessions = append(w.sessions, s)
	}
	w.all = append(w.all, s)
}

// createOld makes a task of a call in a session.
func (w *world) createOld(b *berth, n int) {
	s := w.session(n)
	w.mu.Lock()
	w.names++
	call, ended := fmt.Sprint("call-", w.names), s.ended
	w.mu.Unlock()
	if over, err := b.Sessions.SessionOver(context.Background(), s.key()); ended || over || err != nil {
		return
	}
	r := rule(func(r *Rule) {
		r.TTL, r.Timeout = time.Hour, oldTimeout/time.Duration(max(w.pace, 1))
		if n%4 == 0 {
			r.OnOrphan = task.OrphanRerun
		}
	})
	c := creation(r, call+" "+oldLives[n%len(oldLives)])
	c.Version, c.Core, c.Session, c.Prefer, c.Call.Session = "2025-11-25", true, s.name, s.upstream, s.at()
	flushes := w.flushes()
	h, err := b.Maker.Create(context.Background(), c)
	if err != nil {
		return
	}
	k := &known{id: h.Task().ID, call: call, rerun: r.OnOrphan == task.OrphanRerun, lost: flushes, session: s}
	w.mu.Lock()
	k.late = s.ended
	w.mu.Unlock()
	h.Start(nil)
	w.handOut(b, h, k)
}

// reply answers what a task asks, as far as which says, as a berth does that a client posts
// its responses to.
func (w *world) reply(b *berth, k *known, which int) {
	before, flushes := k.snapshot(), w.flushes()
	v, err := b.Reader.Get(context.Background(), k.id, somebody)
	w.compare(b, k, &before, v, err, flushes)
	if w.isTold(k.session) {
		return // it does not answer any more
	}
	for i, ask := range v.OpenAsks() {
		if which>>i&1 == 1 || !b.line.stand() {
			continue
		}
		w.respond(b, k.session, ask.Key)
		if v, err := b.Reader.Peek(context.Background(), k.id, somebody); err == nil && b.line.Health().Healthy && !v.IsAsked(ask.Key) {
			k.mu.Lock()
			k.answered = append(k.answered, ask.Key)
			k.mu.Unlock()
		}
	}
}

// isTold reports whether a client was told that its session will have ended.
func (w *world) isTold(s *oldSession) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return s.told && s.lost == w.lost // what a flush has lost may have been the end
}

// respond posts a response in a session.
func (w *world) respond(b *berth, s *oldSession, id string) {
	w.old.answered(fmt.Appendf(nil, `{"id":%s,"result":{}}`, id))
	if task, err := b.Sessions.AskedIn(context.Background(), s.behind(), []byte(id)); err == nil && task != "" {
		b.Sessions.Settle(context.Background(), task, []byte(id))
	}
}

// end ends a session, as a berth does that gets a client's DELETE.
func (w *world) end(b *berth, n int) {
	s := w.session(n)
	w.mu.Lock()
	s.ended = true
	flushes, tasks := w.lost, slices.Clone(w.tasks)
	w.mu.Unlock()
	asks, held, err := b.Sessions.End(context.Background(), s.key(), s.behind(), nil)
	switch {
	case held:
		w.mu.Lock()
		if !s.told {
			s.told, s.lost = true, flushes
		}
		w.mu.Unlock()
		for _, ask := range asks {
			if b.line.stand() {
				w.respond(b, s, string(ask.ID))
			}
		}
	case err == nil && b.line.stand():
		w.noneLives(s, tasks, "nothing is held")
		w.old.over(s.at())
	case err != nil:
		return // the client does not know, and comes again
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, open := range w.sessions {
		if open == s {
			w.openSession(i)
		}
	}
}

// sessionEnds is told when a berth ends a session at its upstream.
func (w *world) sessionEnds(at string) {
	w.mu.Lock()
	all, tasks := slices.Clone(w.all), slices.Clone(w.tasks)
	w.mu.Unlock()
	for _, s := range all {
		if s.at() == at {
			w.noneLives(s, tasks, "the upstream is told")
		}
	}
	w.old.over(at)
}

// noneLives checks that no call of a session is held any more that was made before the
// session was ended.
func (w *world) noneLives(s *oldSession, tasks []*known, why string) {
	for _, k := range tasks {
		if seen := k.snapshot(); k.session != s || seen.late || w.flushes() != seen.lost {
			continue
		}
		if e, err := w.record(k.id); err == nil && !e.State.Terminal() {
			w.wrong.add("%s that %s is over, while %s is %s", why, s.name, k.call, e.State)
		}
	}
}

// follow has clients answer whatever is asked, at some berth.
func (w *world) follow() {
	if w.old == nil {
		return
	}
	w.followAt(w.living()...)
}

// followAt is follow at some of the berths.
func (w *world) followAt(berths ...*berth) {
	for i, k := range w.made() {
		w.reply(berths[i%len(berths)], k, 0)
	}
}

// checkOld returns what must not be when nothing moves any more.
func (w *world) checkOld(left *noted) {
	w.mu.Lock()
	all, tasks, lost := slices.Clone(w.all), slices.Clone(w.tasks), w.lost
	w.mu.Unlock()
	for _, k := range tasks {
		if n := w.old.ran(k.call); n > 1 && !k.rerun {
			left.add("%s ran %d times", k.call, n)
		}
		seen := k.snapshot()
		if strings.Contains(seen.ended, mcp.ReasonTimeout) && !seen.late {
			left.add("%s waited for ever", k.call)
		}
		if k.safe && seen.lost == lost && !k.session.ended && strings.HasPrefix(seen.ended, string(Failed)) {
			left.add("%s was lost though its stream could be resumed: %s", k.call, seen.ended)
		}
	}
	for _, s := range all {
		if s.told && s.lost == lost && !slices.Contains(w.old.sessionsEnded(), s.at()) {
			left.add("nobody ended %s", s.name)
		}
		w.checkSession(left, s)
	}
}

// checkSession checks that nothing is listed of a session but what was settled, or is no
// task.
func (w *world) checkSession(left *noted, s *oldSession) {
	l := ledger.Lists{}
	for _, name := range slices.Concat(w.members(l.HeldIn(s.key())), w.members(l.AsksIn(s.behind()))) {
		id, _, _ := strings.Cut(name, " ")
		_, err := w.record(id)
		if id != "-" && // settled
			!errors.Is(err, ErrUnknown) {
			left.add("%s still has %s", s.name, name)
		}
	}
}

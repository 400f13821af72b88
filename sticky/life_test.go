package sticky

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage/redistest"
)

// inMemory is a running berth on memory:, for tests in fake time.
func inMemory(t *testing.T, options Options) *berth {
	t.Helper()
	b := newBerth(t, "memory:", options, 0)
	b.run(t)
	return b
}

// version is how often what stands under key was written.
func (b *berth) version(t *testing.T, key Key) uint64 {
	t.Helper()
	record, err := b.store.Get(t.Context(), key.Digest())
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	return record.Version
}

// pass lets time go by, and everybody catch up.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// The binding outlives the task, so that its owner tells a late client that the
// task is gone; and it does not live for ever, whatever the server says.
func TestLifeOfATaskBinding(t *testing.T) {
	const cap = 24 * time.Hour
	for name, c := range map[string]struct{ ttl, life time.Duration }{
		"short":     {time.Second, 5*time.Minute + time.Second},
		"hour":      {time.Hour, time.Hour + 5*time.Minute},
		"unlimited": {0, cap},
		"too long":  {cap, cap},
		"for ever":  {math.MaxInt64, cap},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := inMemory(t, Options{MaxTTL: cap})
				b.mustBind(t, task("1"), "a", c.ttl)
				pass(c.life - time.Second)
				b.owns(t, "a", task("1"), SourceBound)
				pass(2 * time.Second)
				b.unknown(t, task("1"))
			})
		})
	}
}

func TestLaterAnswersExtendABinding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inMemory(t, Options{})
		b.mustBind(t, task("1"), "a", time.Hour)
		pass(time.Hour)
		b.Observe(task("1"), new(b.owns(t, "a", task("1"), SourceBound)), Seen{At: time.Now(), Status: "working", TTL: time.Hour})
		pass(time.Hour)
		if got := b.owns(t, "a", task("1"), SourceBound).Status; got != "working" {
			t.Errorf("status: got %q, want working", got)
		}
		pass(10 * time.Minute)
		b.unknown(t, task("1"))
	})
}

// A client that polls ten times a second must not cause ten writes a second.
func TestPollsThatTellNothingNewAreNotWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inMemory(t, Options{})
		b.mustBind(t, task("1"), "a", time.Hour)
		for range 10 * 600 {
			b.Observe(task("1"), new(b.owns(t, "a", task("1"), SourceBound)), Seen{At: time.Now(), Status: "working", TTL: time.Hour})
			pass(100 * time.Millisecond)
		}
		if got := b.version(t, task("1")); got > 12 {
			t.Errorf("writes in ten minutes: got %d, want one a minute", got)
		}
	})
}

func TestSessionsInUseDoNotIdleOut(t *testing.T) {
	for name, c := range map[string]struct{ idle, every time.Duration }{
		"default":  {0, 23 * time.Hour},
		"shortest": {time.Minute, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := inMemory(t, Options{SessionIdle: c.idle})
				b.mustBind(t, session("s"), "a", 0)
				for range 4 {
					pass(c.every)
					b.Touch(session("s"), b.owns(t, "a", session("s"), SourceBound))
				}
				synctest.Wait()
				pass(b.terms.sessionIdle - time.Second)
				b.owns(t, "a", session("s"), SourceBound)
				pass(2 * time.Second)
				b.unknown(t, session("s"))
			})
		})
	}
}

func TestSessionIsRefreshedOnceAMinuteAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inMemory(t, Options{Near: 10})
		b.mustBind(t, session("s"), "a", 0)
		for range 600 {
			binding, _, err := b.Lookup(t.Context(), session("s"))
			if err != nil {
				t.Fatalf("Lookup: %v", err)
			}
			b.Touch(session("s"), binding)
			b.Touch(session("s"), binding) // a call routed at the same time
			pass(time.Second)
		}
		if got := b.version(t, session("s")); got < 9 || got > 11 {
			t.Errorf("writes in ten minutes: got %d, want about 10", got)
		}
	})
}

// A session that a berth has bound or used whose clock is ahead, or was, lives on by its use elsewhere, as do its handshake and its place
// in its owner's list: the store forgets all of them after its own time.
func TestAClockThatIsAheadEndsNoSessionInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const idle, ahead = 10 * time.Minute, time.Hour
		b := inMemory(t, Options{SessionIdle: idle, Near: 10})
		if err := b.BindBeside(t.Context(), session("s"), Binding{Upstream: "a"}, 0, Beside{Handshake: "h"}); err != nil {
			t.Fatal(err)
		}
		err := b.records.exchange(t.Context(), session("s"), idle, func(standing Binding) (Binding, error) {
			standing.Expires, standing.Kept = standing.Expires.Add(ahead), standing.Kept.Add(ahead)
			standing.Until += ahead.Milliseconds()
			return standing, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		b.local.near.Remove(session("s"))
		for range 6 {
			pass(idle / 2)
			b.Touch(session("s"), b.owns(t, "a", session("s"), SourceBound))
			synctest.Wait()
		}
		b.counts(t, "a", 0, 1)
		if _, err := b.Handshake(t.Context(), session("s")); err != nil {
			t.Errorf("its handshake: %v", err)
		}
		writes := b.version(t, session("s"))
		b.Touch(session("s"), b.owns(t, "a", session("s"), SourceBound))
		synctest.Wait()
		if n := b.version(t, session("s")); n != writes {
			t.Error("it is written with each use")
		}
	})
}

// A store that was flushed learns a session again from its use.
func TestTouchBringsALostSessionBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inMemory(t, Options{Near: 10})
		b.mustBind(t, session("s"), "a", 0)
		if err := b.store.Delete(t.Context(), session("s").Digest()); err != nil {
			t.Fatalf("Delete: %v", err)
		}
		pass(time.Minute)
		b.Touch(session("s"), b.owns(t, "a", session("s"), SourceBound))
		synctest.Wait()
		over(b.store, Options{}).owns(t, "a", session("s"), SourceBound)
	})
}

// What the cache thinks has expired another berth may have extended: the store
// decides.
func TestExpiredCacheEntryIsLookedUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := inMemory(t, Options{Near: 10})
		one.mustBind(t, task("1"), "a", time.Second)
		one.owns(t, "a", task("1"), SourceBound)
		two := over(one.store, Options{})
		if err := two.refresher.apply(t.Context(), two.terms.entry(task("1"), Binding{Upstream: "a"}, time.Hour)); err != nil {
			t.Fatalf("apply: %v", err)
		}
		pass(6 * time.Minute)
		one.owns(t, "a", task("1"), SourceBound)
		one.owns(t, "a", task("1"), SourceBound)
	})
}

// The store forgets by itself: no key is without an expiry.
func TestEveryKeyInRedisExpires(t *testing.T) {
	server := redistest.Start(t)
	b := onRedis(t, server)
	b.mustBind(t, task("1"), "a", time.Hour)
	b.mustBind(t, task("2"), "a", 0)
	b.mustBind(t, session("s"), "a", 0)
	b.Prefer(t.Context(), Key{Kind: Hint, ID: "cursor"}, "a")
	b.Observe(task("1"), new(b.owns(t, "a", task("1"), SourceLRU)), Seen{At: time.Now(), Status: "working", TTL: 10 * time.Hour})
	c := client(t, server)
	for key, most := range map[Key]time.Duration{
		task("1"):                  11 * time.Hour,
		task("2"):                  168 * time.Hour,
		session("s"):               24 * time.Hour,
		{Kind: Hint, ID: "cursor"}: 15 * time.Minute,
	} {
		realtest.Eventually(t, "its expiry stands", func() bool {
			left, err := c.PTTL(t.Context(), "berth:"+key.Digest()).Result()
			return err == nil && left > most-most/4 && left <= most
		})
	}
}

// Updates beyond what may wait are dropped and counted, and nobody is held up.
func TestRefreshesNeverBlock(t *testing.T) {
	b := newBerth(t, "memory:", Options{}, 0) // Run does not run
	for range maxUpdates + 10 {
		b.refresher.refresh(b.terms.entry(task("1"), Binding{Upstream: "a"}, 0))
	}
	if len(b.refresher.updates) != maxUpdates {
		t.Errorf("waiting: got %d, want %d", len(b.refresher.updates), maxUpdates)
	}
}

// What expires in the moment in which it is written is kept for a moment, not for good.
func TestWhatHasJustExpiredIsNotKeptForGood(t *testing.T) {
	now := time.Now()
	for _, left := range []time.Duration{time.Second, 0, -time.Second} {
		e := entry{key: task("1"), binding: Binding{Upstream: "a", Expires: now.Add(left)}}
		if w := e.write(now, nil); w.TTL <= 0 || w.TTL > time.Second {
			t.Errorf("%v are left: it is written for %v", left, w.TTL)
		}
	}
}

package upgrade

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/internal/seal"
	"berth/upgrade/runner"
	"berth/upgrade/task"
)

// A stream that breaks is resumed where it was, by its holder; the tool runs once.
func TestBrokenStreamIsResumed(t *testing.T) {
	for name, kind := range map[string]*oldServer{
		"that goes on":                            {},
		"that brings what was there":              {mute: true},
		"that brings what was there and comments": {mute: true, hums: true},
		"that brings what was there and ends":     {mute: true, brief: true},
	} {
		t.Run(name, func(t *testing.T) {
			oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
				old.mute, old.hums, old.brief = kind.mute, kind.hums, kind.brief
				id := berths[0].handCore(t, rule(nil), 0)
				soon()
				call := old.call(t, 0)
				call.progress(1)
				soon()
				call.hangUp()
				call.progress(2)
				time.Sleep(3 * time.Second)
				synctest.Wait()
				if v := berths[1].statusOf(t, id, "working"); v.Message != "2" {
					t.Errorf("says %q", v.Message)
				}
				before := old.resumptions()
				time.Sleep(time.Minute)
				if n := old.resumptions() - before; n > 20 {
					t.Errorf("a call that says nothing was resumed %d times a minute", n)
				}
				call.ask("1")
				time.Sleep(runner.QuietMost + 2*time.Second)
				synctest.Wait()
				berths[1].statusOf(t, id, "input_required")
				call.answer(`{}`)
				time.Sleep(runner.QuietMost + 2*time.Second)
				synctest.Wait()
				berths[1].mustState(t, id, Completed)
				if old.executions() != 1 {
					t.Errorf("the tool ran %d times", old.executions())
				}
			})
		})
	}
}

// go-sdk answers a resumption with its first event, and takes the stream of one that was
// given up for being read a moment longer. A call that says nothing for long outlives
// any number of these refusals.
func TestSilentCallIsResumedForAsLongAsItTakes(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		old.reserved = true
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		call := old.call(t, 0)
		call.hangUp()
		time.Sleep(10 * runner.ResumeFor)
		synctest.Wait()
		berths[1].statusOf(t, id, "working")
		call.answer(`{}`)
		time.Sleep(runner.QuietMost)
		synctest.Wait()
		berths[1].mustState(t, id, Completed)
	})
}

// A server that takes the old connection for standing has the stream still: a holder that is
// frozen may keep it for long.
func TestStreamThatStandsIsWaitedFor(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		stand := func(stands bool) {
			old.mu.Lock()
			defer old.mu.Unlock()
			old.stands = stands
		}
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		stand(true)
		old.call(t, 0).hangUp()
		time.Sleep(3 * runner.ResumeFor)
		synctest.Wait()
		berths[1].statusOf(t, id, "working")
		stand(false)
		old.call(t, 0).answer(`{}`)
		time.Sleep(runner.ResumeMost)
		synctest.Wait()
		berths[1].mustState(t, id, Completed)
	})
}

// A stream that cannot be resumed fails as any other that breaks.
func TestStreamThatCannotBeResumed(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		change func(old *oldServer)
	}{
		"no ids":       {mcp.ReasonUpstreamReset, func(old *oldServer) { old.nameless = true }},
		"no replay":    {mcp.ReasonUpstreamReset, func(old *oldServer) { old.replays = false }},
		"session lost": {mcp.ReasonSessionLost, nil},
	} {
		t.Run(name, func(t *testing.T) {
			oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
				if c.change != nil {
					c.change(old)
				}
				id := berths[0].handCore(t, rule(nil), 0)
				soon()
				old.mu.Lock()
				old.denied = c.change == nil
				old.mu.Unlock()
				old.call(t, 0).hangUp()
				time.Sleep(3 * time.Second)
				synctest.Wait()
				if f := berths[1].see(t, id).failure(t); f.Data.Reason != c.reason {
					t.Errorf("failed as %+v", f)
				}
			})
		})
	}
}

// The death of a holder costs nothing where the stream can be resumed: what was asked
// stays asked, what was not acted on comes again.
func TestCallGoesOnWhenItsHolderDies(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *settings)
		goesOn bool
	}{
		"sealed credentials": {goesOn: true},
		"berth's own":        {func(*settings) {}, true},
		"credentials lost":   {func(*settings) {}, false},
	} {
		t.Run(name, func(t *testing.T) {
			change := func(t *testing.T, s *settings) {
				if c.change != nil {
					s.at = newCell(memory(t))
					s.keys = seal.NewStoredKeyring(s.at.Load())
					s.own = name == "berth's own"
				}
			}
			oldWorld(t, change, func(t *testing.T, berths []*berth, old *oldServer) {
				id := berths[0].handCore(t, rule(nil), 0)
				soon()
				call := old.call(t, 0)
				call.progress(1)
				call.ask("0")
				soon()
				berths[0].kill()
				call.hangUp()
				call.ask("1")
				time.Sleep(graceful)
				synctest.Wait()
				if !c.goesOn {
					if f := berths[1].see(t, id).failure(t); f.Data.Reason != mcp.ReasonHolderLost || !*f.Data.MayHaveExecuted {
						t.Errorf("failed as %+v", f)
					}
					return
				}
				v := berths[1].statusOf(t, id, "input_required")
				if asks := v.OpenAsks(); len(asks) != 2 {
					t.Errorf("asked %+v", asks)
				}
				call.answer(`{"content":[]}`)
				soon()
				if v = berths[1].mustState(t, id, Completed); string(v.Outcome) != `{"content":[]}` || old.executions() != 1 {
					t.Errorf("got %s after %d executions", v.Outcome, old.executions())
				}
			})
		})
	}
}

// What was read of a stream that was resumed does not stay counted once its call is cancelled.
func TestResumedRoundGivesItsRoomBack(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		old.large = true
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		call := old.call(t, 0)
		call.progress(1)
		soon()
		berths[0].kill()
		call.hangUp()
		call.ask("1")
		time.Sleep(graceful)
		synctest.Wait()
		berths[1].statusOf(t, id, "input_required")
		if err := cancelled(berths[1], id, somebody); err != nil {
			t.Fatal(err)
		}
		soon()
		berths[1].mustHaveRoom(t)
	})
}

// Without a replay the call of a dead holder is lost, or sent again where that may be.
func TestCallOfADeadHolderWithoutReplay(t *testing.T) {
	for _, rerun := range []bool{false, true} {
		oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
			old.replays = false
			id := berths[0].handCore(t, rule(func(r *Rule) {
				if rerun {
					r.OnOrphan = task.OrphanRerun
				}
			}), 0)
			soon()
			old.call(t, 0).ask("0")
			soon()
			berths[0].kill()
			time.Sleep(graceful)
			synctest.Wait()
			if !rerun {
				if f := berths[1].see(t, id).failure(t); f.Data.Reason != mcp.ReasonHolderLost || !*f.Data.MayHaveExecuted {
					t.Errorf("failed as %+v", f)
				}
				return
			}
			soon()
			berths[1].statusOf(t, id, "working")
			old.call(t, 1).answer(`{}`)
			soon()
			berths[1].mustState(t, id, Completed)
		})
	}
}

// A holder that was taken for dead cancels nothing, and takes no stream from its adopter.
func TestFrozenHolderLeavesTheCallToItsAdopter(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		berths[0].line.freeze()
		time.Sleep(graceful)
		synctest.Wait()
		if v := berths[1].statusOf(t, id, "working"); v.Holder != berths[1].ledger.Holder {
			t.Fatalf("held by %s", v.Holder)
		}
		resumed := old.resumed
		berths[0].line.thaw()
		old.call(t, 0).hangUp()
		time.Sleep(testLease)
		synctest.Wait()
		if told := old.told(); len(told) != 0 || berths[0].Held() != 0 {
			t.Errorf("told %v, holds %d", told, berths[0].Held())
		}
		if old.resumed > resumed+3 {
			t.Errorf("resumed %d times", old.resumed-resumed)
		}
		old.call(t, 0).answer(`{}`)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		berths[1].mustState(t, id, Completed)
	})
}

// A berth that ends leaves the call to another one, and the upstream undisturbed.
func TestDrainLeavesACallThatCanBeResumed(t *testing.T) {
	oldWorld(t, func(_ *testing.T, s *settings) { s.shared = true }, func(t *testing.T, berths []*berth, old *oldServer) {
		for _, b := range berths {
			b.line.lasts = true
		}
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		berths[0].Drain(ctx)
		time.Sleep(graceful)
		synctest.Wait()
		old.call(t, 0).answer(`{}`)
		soon()
		berths[1].mustState(t, id, Completed)
		if told := old.told(); len(told) != 0 || old.executions() != 1 {
			t.Errorf("told %v, ran %d times", told, old.executions())
		}
	})
}

package timed

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

var errLate = errors.New("time is up")

// A context ends as one that watches throughout does, whenever it is asked for the first time.
func TestAContextEndsAlikeWheneverItIsAsked(t *testing.T) {
	given := errors.New("given up")
	for name, ends := range map[string]func(call context.CancelCauseFunc, b *Context){
		"goes on":       func(context.CancelCauseFunc, *Context) {},
		"is late":       func(context.CancelCauseFunc, *Context) { time.Sleep(2 * time.Minute) },
		"is given up":   func(call context.CancelCauseFunc, _ *Context) { call(given) },
		"is over":       func(_ context.CancelCauseFunc, b *Context) { b.End() },
		"is late after": func(call context.CancelCauseFunc, _ *Context) { call(given); time.Sleep(2 * time.Minute) },
		"is over late":  func(_ context.CancelCauseFunc, b *Context) { time.Sleep(2 * time.Minute); b.End() },
	} {
		for _, asked := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				ctx, end := context.WithCancelCause(t.Context())
				defer end(nil)
				b := To(ctx, time.Now().Add(time.Minute), errLate)
				want, stop := context.WithDeadlineCause(ctx, b.until, errLate)
				defer stop()
				defer b.End()
				if asked {
					_ = b.Done()
				}
				heard := make(chan error, 1)
				if asked {
					context.AfterFunc(b, func() { heard <- context.Cause(b) })
				}
				ends(end, b)
				if name == "is over" {
					stop()
				}
				synctest.Wait()
				if !errors.Is(b.Err(), want.Err()) || !errors.Is(context.Cause(b), context.Cause(want)) {
					t.Errorf("%s, asked before: %v: got %v, %v, want %v, %v", name, asked, b.Err(), context.Cause(b), want.Err(), context.Cause(want))
				}
				select {
				case <-b.Done():
				default:
					if want.Err() != nil {
						t.Errorf("%s, asked before: %v: it is not done", name, asked)
					}
				}
				if asked && want.Err() != nil && !errors.Is(<-heard, context.Cause(want)) {
					t.Errorf("%s: who waited was told another cause", name)
				}
			})
		}
	}
}

// What its parent ends first, by a clock of its own, is the parent's to explain.
func TestAParentWhoseTimeIsShorterSaysWhy(t *testing.T) {
	for _, asked := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			parent, cancel := context.WithDeadlineCause(t.Context(), time.Now().Add(time.Second), errors.New("the parent's"))
			defer cancel()
			b := To(parent, time.Now().Add(time.Minute), errLate)
			defer b.End()
			if asked {
				_ = b.Done()
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			if why := context.Cause(b); why != context.Cause(parent) || b.Err() != context.DeadlineExceeded {
				t.Errorf("asked before: %v: got %v, %v", asked, b.Err(), why)
			}
		})
	}
}

// One that nobody waits for has no timer.
func TestAContextCostsNoTimerUnasked(t *testing.T) {
	b := To(t.Context(), time.Now().Add(time.Hour), nil)
	if b.Err() != nil || context.Cause(b) != nil || b.timed != nil {
		t.Errorf("it has %v", b.timed)
	}
}

package inbound

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestARecordingEndsByTheClock(t *testing.T) {
	for name, ask := range map[string]func(context.Context) error{
		"asked for its error": func(ctx context.Context) error { time.Sleep(recordTime); return ctx.Err() },
		"waited for":          func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"derived from": func(ctx context.Context) error {
			own, end := context.WithCancel(ctx)
			defer end()
			<-own.Done()
			return own.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				ctx, end := new(Call).Recording()
				defer end()
				if err := ctx.Err(); err != nil {
					t.Errorf("at once: %v", err)
				}
				if err := ask(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != recordTime {
					t.Errorf("got %v after %v", err, time.Since(began))
				}
			})
		})
	}
}

func TestARecordingThatEndedIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, asked := range []bool{true, false} {
			ctx, end := new(Call).Recording()
			if asked {
				ctx.Done()
			}
			end()
			if <-ctx.Done(); !errors.Is(ctx.Err(), context.Canceled) {
				t.Errorf("got %v", ctx.Err())
			}
		}
	})
}

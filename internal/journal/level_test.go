package journal

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

func TestALevelForATimeGoesBackByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Level
		is := func(want slog.Level) {
			t.Helper()
			synctest.Wait()
			if got := l.Level(); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		}
		l.Configure(slog.LevelWarn)
		is(slog.LevelWarn)
		l.Set(slog.LevelDebug, time.Minute)
		is(slog.LevelDebug)
		l.Configure(slog.LevelError) // the file was read anew meanwhile
		is(slog.LevelDebug)
		time.Sleep(30 * time.Second)
		l.Set(slog.LevelInfo, time.Minute) // the first one's end is not this one's
		time.Sleep(45 * time.Second)
		is(slog.LevelInfo)
		if now, configured, until := l.Told(); now != slog.LevelInfo || configured != slog.LevelError || time.Until(until) != 15*time.Second {
			t.Errorf("told %v, %v, %v", now, configured, time.Until(until))
		}
		time.Sleep(16 * time.Second)
		is(slog.LevelError)
		if _, _, until := l.Told(); !until.IsZero() {
			t.Errorf("still until %v", until)
		}
	})
}

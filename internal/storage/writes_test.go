package storage

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"
)

// What refuses writes now and then is told of once a minute, by what it said.
func TestRefusedWritesAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log realtest.Journal
		w := &writes{log: slog.New(slog.NewJSONHandler(&log, nil))}
		told := func(refused, taken int) {
			t.Helper()
			if got, again := log.Count("store refuses writes"), log.Count("store takes writes again"); got != refused || again != taken {
				t.Errorf("told %d and %d times, want %d and %d:\n%s", got, again, refused, taken, log.String())
			}
		}
		full := &fault{op: opPut, reason: reasonOOM, detail: "OOM command not allowed"}
		w.note(opPut, "", nil)
		w.note(opPut, "", &fault{op: opPut, reason: reasonTimeout})
		told(0, 0)
		w.note(opPut, "", full)
		w.note(opEach, "", full)
		told(1, 0)
		w.note(opGet, "", nil)
		w.note(opDelete, "", nil)
		w.note(opPutIfAbsent, "", nil)
		w.note(opPut, "another", nil)
		told(1, 0)
		time.Sleep(2500 * time.Millisecond)
		w.note(opSwap, "", nil)
		w.note(opSwap, "", nil)
		w.note(opPut, "", full)
		w.note(opPut, "", nil)
		told(1, 1)
		time.Sleep(refusalEvery)
		w.note(opPut, "", &fault{op: opPut, reason: reasonReadonly})
		told(2, 1)
		for _, want := range []string{`"reason":"oom","error":"OOM command not allowed"`, `"reason":"readonly"`, `"after":"2.5s"`} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("got %s, want %s", log.String(), want)
			}
		}
	})
}

//go:build unix

package auditlog

import (
	"bytes"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/journal"
)

// A file that goes on while the process ends has what waited for it.
func TestAFileThatGoesOnAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, path, log := open(t)
		out := &stuck{output: l.file.out, released: make(chan struct{})}
		l.file.out = out
		for range 2 {
			line := l.Begin(time.Now())
			line.String("id", "1")
			line.End()
			time.Sleep(time.Second) // the first is being written, the other one waits
			synctest.Wait()
		}
		time.AfterFunc(journal.Patience+patience/2, func() { close(out.released) })
		l.Close()
		text, _ := os.ReadFile(path)
		if n := bytes.Count(text, []byte(`"msg":"audit"`)); n != 2 || log.Count("are lost") != 0 {
			t.Errorf("%d lines stand there, want two:\n%s", n, log)
		}
	})
}

//go:build unix

package auditlog

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// stuck is a file at a path that takes nothing before it is released, as on a disk that hangs.
type stuck struct {
	output
	released chan struct{}
}

func (s *stuck) Write(lines []byte) (int, error) {
	<-s.released
	return s.output.Write(lines)
}

// A file that hangs is told of while it does, what is lost is counted then, and the process ends all the same.
func TestAFileThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := metric.NewManualReader()
		l, path, log := openWith(t, Options{Meter: metric.NewMeterProvider(metric.WithReader(reader))})
		out := &stuck{output: l.file.out, released: make(chan struct{})}
		l.file.out = out
		long := string(bytes.Repeat([]byte("x"), 1<<20))
		for range 8 { // more than 4 MiB beside what is being written
			line := l.Begin(time.Now())
			line.String("long", long)
			line.End()
			time.Sleep(time.Second)
			synctest.Wait()
		}
		if n := log.Count("cannot be written"); n != 1 {
			t.Errorf("told %d times that the file hangs:\n%s", n, log)
		}
		lost := lostOf(t, reader)
		if lost < 1 {
			t.Error("no lost line is counted while the file hangs")
		}
		l.Close()
		if log.Count("are lost") != 1 || log.Count("lines=8") != 1 {
			t.Errorf("got %s, want that all eight may be lost", log)
		}
		close(out.released)
		synctest.Wait()
		if text, _ := os.ReadFile(path); bytes.Count(text, []byte(`"msg":"audit"`)) != 8-lost {
			t.Errorf("%d lines were lost, and %d stand there", lost, bytes.Count(text, []byte(`"msg":"audit"`)))
		}
		if log.Count("is written again") != 1 || log.Count("lost="+strconv.Itoa(lost)) != 1 {
			t.Errorf("got %s, want that it is written again, less %d lines", log, lost)
		}
	})
}

// lostOf is how many lines are counted as lost.
func lostOf(t *testing.T, reader *metric.ManualReader) int {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	return int(all.ScopeMetrics[0].Metrics[0].Data.(metricdata.Sum[int64]).DataPoints[0].Value)
}

// A FIFO is a place like any other as long as somebody reads it.
func TestAFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	log := new(realtest.Journal)
	if l, err := Open(Options{Where: File + path, Logger: slog.New(slog.NewTextHandler(log, nil))}); err == nil {
		l.Close()
		t.Error("one that nobody reads is opened")
	}
	if Check(File+path) == nil {
		t.Error("one that nobody reads passes the check")
	}
	reads, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reads.Close()
	l, err := Open(Options{Where: File + path, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	full := append(bytes.Repeat([]byte("x"), 1<<20), '\n')
	_, _ = l.file.Write(full)
	if log.Count("cannot be written") != 1 {
		t.Errorf("got %s, want to be told that nobody reads", log)
	}
	l.Close()
	if log.Count("lines=1") != 1 {
		t.Errorf("got %s, want that the line is lost", log)
	}
}

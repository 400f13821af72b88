package journal

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestALineIsWhatSlogWrites(t *testing.T) {
	for _, value := range []any{
		"", "tasks/get", `a "quoted" \ word`, "<&>", "tab\tnew\nreturn\r", "\x00\x1f\x7f", "größer", "\u2028", "broken \xff", "…",
		0, 200, -32602, int64(math.MaxInt64), 0.0, 0.001, 12.345, 1e-7, 1e21, -1.5, true, uint64(7), time.Second,
	} {
		var want, got bytes.Buffer
		record := slog.NewRecord(time.Now(), slog.LevelInfo, "request", 0)
		record.Add("http", "POST", "value", value, "last", 1)
		record.AddAttrs(slog.Group("", "within", value, slog.Group("", "deeper", 2)))
		j := New(&got)
		_ = j.Patient(slog.LevelInfo).Handler().Handle(t.Context(), record)
		j.Flush()
		_ = slog.NewJSONHandler(&want, nil).Handle(t.Context(), record)
		if got.String() != want.String() {
			t.Errorf("%#v: got %s want %s", value, &got, &want)
		}
	}
}

// output counts writes.
type output struct {
	mu     sync.Mutex
	text   strings.Builder
	writes int
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writes++
	return o.text.Write(p)
}

func (o *output) seen() (lines, writes int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Count(o.text.String(), "\n"), o.writes
}

func TestLinesGoOutTogetherAndInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out output
		log := New(&out).Patient(slog.LevelInfo)
		for range 3 { // each time anew
			before, writes := out.seen()
			for range 10 {
				log.Info("request")
			}
			if lines, _ := out.seen(); lines != before {
				t.Errorf("%d lines did not wait", lines-before)
			}
			time.Sleep(Age)
			synctest.Wait()
			if lines, now := out.seen(); lines != before+10 || now != writes+1 {
				t.Errorf("%d lines in %d writes", lines-before, now-writes)
			}
		}
	})
}

func TestMuchDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out output
		log := New(&out).Patient(slog.LevelInfo)
		for range 1000 {
			log.Info("request", "path", strings.Repeat("x", 200))
		}
		synctest.Wait()
		if lines, writes := out.seen(); lines < 700 || writes > 10 {
			t.Errorf("%d lines in %d writes", lines, writes)
		}
	})
}

func TestOtherLinesGoOutAtOnceAndInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out output
		j := New(&out)
		j.Patient(slog.LevelInfo).Info("first")
		j.Logger(slog.LevelInfo).Info("second")
		text := out.text.String()
		if first, second := strings.Index(text, "first"), strings.Index(text, "second"); first < 0 || second < first {
			t.Errorf("got %q", text)
		}
	})
}

func TestLinesOfManyAreWhole(t *testing.T) {
	var out output
	j := New(&out)
	log := j.Patient(slog.LevelInfo)
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for range 500 {
				log.Info("request", "path", strings.Repeat("x", 100))
			}
		})
	}
	writers.Wait()
	j.Flush()
	lines := strings.SplitAfter(strings.TrimSuffix(out.text.String(), "\n"), "\n")
	if len(lines) != 8*500 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if !strings.HasPrefix(line, `{"time":`) || strings.Count(line, "request") != 1 {
			t.Fatalf("got %q", line)
		}
	}
}

// stuck is an output that takes nothing until it is freed.
type stuck struct {
	output
	free chan struct{}
}

func (s *stuck) Write(p []byte) (int, error) {
	<-s.free
	return s.output.Write(p)
}

// Nobody waits for good for an output that takes nothing. What is lost by that is told once it takes some again, behind what came before.
func TestAnOutputThatTakesNothingHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &stuck{free: make(chan struct{})}
		j := New(out)
		access, log := j.Patient(slog.LevelInfo), j.Logger(slog.LevelInfo)
		began := time.Now()
		log.Info("begin")
		const requests = 3 * most / 1000
		for range requests {
			access.Info("request", "path", strings.Repeat("x", 1000))
		}
		log.Info("stands")
		j.Flush()
		if took := time.Since(began); took != Patience {
			t.Errorf("held up for %v, want %v", took, Patience)
		}
		close(out.free)
		synctest.Wait()
		if took := time.Since(began); took != Patience {
			t.Errorf("held up for %v", took)
		}
		lines := strings.Split(strings.TrimSuffix(out.text.String(), "\n"), "\n")
		passed, last := strings.Count(out.text.String(), `"request"`), lines[len(lines)-1]
		lost := 0
		if _, err := fmt.Sscanf(last[strings.Index(last, `"lines":`):], `"lines":%d}`, &lost); err != nil || !strings.Contains(last, `"level":"WARN"`) {
			t.Fatalf("the last line is %q, %v", last, err)
		}
		if all := requests + 2; !strings.Contains(lines[0], "begin") || passed < most/2000 || len(lines)-1+lost != all {
			t.Errorf("%d of %d lines passed, %d were lost", len(lines)-1, all, lost)
		}

		began = time.Now()
		log.Info("again")
		if text := out.text.String(); !strings.HasSuffix(text, "again\"}\n") || !time.Now().Equal(began) {
			t.Error("a line waits though the output takes them")
		}
	})
}

func TestALevelThatIsOffWritesNothing(t *testing.T) {
	var out output
	j := New(&out)
	log := j.Patient(slog.LevelWarn)
	log.Info("request")
	if log.Enabled(context.Background(), slog.LevelInfo) {
		t.Error("info is on")
	}
	j.Flush()
	if lines, _ := out.seen(); lines != 0 {
		t.Errorf("%d lines", lines)
	}
}

func TestAttributesAndGroupsAreKept(t *testing.T) {
	var out output
	New(&out).Patient(slog.LevelInfo).With("berth", "a").WithGroup("of").Info("request", "n", 1)
	if text := out.text.String(); !strings.Contains(text, `"berth":"a","of":{"n":1}`) {
		t.Errorf("got %q", text)
	}
}

func BenchmarkPatient(b *testing.B) {
	log := New(io.Discard).Patient(slog.LevelInfo).Handler()
	record := slog.NewRecord(time.Now(), slog.LevelInfo, "request", 0)
	record.Add("http", "POST", "path", "/mcp", "method", "tasks/get", "status", 200, "ms", 0.123)
	b.ReportAllocs()
	for b.Loop() {
		_ = log.Handle(b.Context(), record)
	}
}

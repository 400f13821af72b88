package journal

import (
	"bytes"
	"io"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"berth/internal/jsonscan"
)

// Whoever reads the log cannot tell which way a line was written.
func TestATimeIsWrittenAsTheNumberThatSlogWrites(t *testing.T) {
	times := []time.Duration{-time.Millisecond, -1500 * time.Microsecond, 0, 999, time.Microsecond, 10 * time.Microsecond, 100 * time.Microsecond,
		time.Millisecond, 1500 * time.Microsecond, time.Second, time.Hour, 1e18 - 1, 1e18, 1<<63 - 1}
	for range 2000 {
		times = append(times, time.Duration(rand.Int64()>>rand.IntN(63)))
	}
	for us := range time.Duration(2001) {
		times = append(times, us*time.Microsecond, (9.2e15+us)*time.Microsecond)
	}
	for _, d := range times {
		var written, want bytes.Buffer
		l := &Line{text: []byte("{")}
		l.Millis("ms", d)
		written.Write(append(l.text, '}'))
		record := slog.NewRecord(time.Time{}, slog.LevelInfo, "", 0)
		record.AddAttrs(slog.Float64("ms", float64(d.Microseconds())/1000))
		only := func(_ []string, a slog.Attr) slog.Attr {
			if a.Key != "ms" {
				return slog.Attr{}
			}
			return a
		}
		_ = slog.NewJSONHandler(&want, &slog.HandlerOptions{ReplaceAttr: only}).Handle(t.Context(), record)
		if got, want := written.String(), want.String(); got != "{,"+want[1:len(want)-1] {
			t.Fatalf("%d ns: got %s, want %s", d, got, want)
		}
	}
}

func TestALineOfAttributesIsWhatSlogWrites(t *testing.T) {
	at := time.Date(2026, 7, 28, 1, 2, 3, 4_000_000, time.UTC)
	var direct, handled bytes.Buffer
	journal := New(&direct)
	l := journal.Patient(slog.LevelInfo).Handler().(Liner).Begin(at, slog.LevelInfo, "request")
	l.String("first_name", "a \"b\"\n")
	l.Int("bytes", -7)
	l.Millis("first_ms", 1234567*time.Nanosecond)
	l.End()
	journal.Flush()
	record := slog.NewRecord(at, slog.LevelInfo, "request", 0)
	record.AddAttrs(slog.String("first_name", "a \"b\"\n"), slog.Int("bytes", -7), slog.Float64("first_ms", 1.234))
	_ = slog.NewJSONHandler(&handled, nil).Handle(t.Context(), record)
	if got, want := direct.String(), handled.String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What is found plain eight bytes at a time is what each byte by itself is.
func TestPlainIsWhatNeedsNoEscape(t *testing.T) {
	plain := func(s string) bool {
		for i := range len(s) {
			if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
				return false
			}
		}
		return true
	}
	for c := range 256 {
		for at := range 19 {
			s := []byte("0123456789~ [}#!]abc")
			s[at] = byte(c)
			for end := range len(s) + 1 {
				if s := string(s[:end]); jsonscan.IsVerbatim(s) != plain(s) {
					t.Fatalf("%q: got %v", s, jsonscan.IsVerbatim(s))
				}
			}
		}
	}
}

func BenchmarkLine(b *testing.B) {
	liner := New(io.Discard).Patient(slog.LevelInfo).Handler().(Liner)
	at := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		l := liner.Begin(at, slog.LevelInfo, "request")
		l.Word("outcome", "ok")
		l.Plain("task", "786512e2-9e0d-44bd-8f29-789f320fe840")
		l.Int("bytes", 345)
		l.Millis("ms", 1234*time.Microsecond)
		l.End()
	}
}

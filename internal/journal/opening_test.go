package journal

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// What a handler keeps of its first line is no other line's.
func TestALineOpensAsSlogWritesItWhateverCameBefore(t *testing.T) {
	var got, want bytes.Buffer
	ours, theirs := New(&got).Patient(slog.LevelDebug).Handler(), slog.NewJSONHandler(&want, &slog.HandlerOptions{Level: slog.LevelDebug})
	ctx, at := context.Background(), time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for _, message := range []string{"request", "request", "other", "a \"quoted\" one", strings.Repeat("long", mostOpening), ""} {
		for _, level := range []slog.Level{slog.LevelInfo, slog.LevelWarn, slog.LevelInfo + 1} {
			for _, h := range []slog.Handler{ours, theirs} {
				if err := h.Handle(ctx, slog.NewRecord(at, level, message, 0)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	ours.(*handler).journal.Flush()
	if got.String() != want.String() {
		t.Errorf("got\n%s, want\n%s", &got, &want)
	}
}

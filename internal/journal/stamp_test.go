package journal

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A time is written as package time does, whichever was written before it.
func TestATimeIsWrittenAsPackageTimeDoes(t *testing.T) {
	begun := time.Date(2026, 7, 28, 1, 2, 3, 0, time.UTC)
	places := []*time.Location{time.UTC, time.FixedZone("", 5*3600+1800), time.FixedZone("", -3*3600)}
	for i := range 5000 {
		ns := []int64{0, 1, 10, 100_000_000, 999_999_999, 4_000_000, rand.Int64N(1e9)}[i%7]
		at := begun.Add(time.Duration(i/100)*time.Second + time.Duration(ns)).In(places[rand.IntN(len(places))])
		if got, want := string(appendTime(nil, at)), at.Format(time.RFC3339Nano); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}

func BenchmarkTime(b *testing.B) {
	at, text := time.Now(), make([]byte, 0, 64)
	b.Run("stamp", func(b *testing.B) {
		for b.Loop() {
			appendTime(text, at)
		}
	})
	b.Run("time", func(b *testing.B) {
		for b.Loop() {
			at.AppendFormat(text, time.RFC3339Nano)
		}
	})
}

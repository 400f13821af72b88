package alarm

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// sleeper notes when it was woken.
type sleeper struct {
	alarm Alarm
	woken []time.Duration
	began time.Time
	again func() // nil: nothing
}

func (s *sleeper) Wake() {
	s.woken = append(s.woken, time.Since(s.began))
	if s.again != nil {
		s.again()
	}
}

func TestEachIsWokenInItsTimeUnlessItIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Queue
		var all [4]sleeper
		for i := range all {
			all[i].began = time.Now()
			l.Set(&all[i].alarm, &all[i], time.Minute)
			time.Sleep(10 * time.Second)
		}
		l.Stop(&all[0].alarm)
		l.Stop(&all[2].alarm)
		l.Stop(&all[2].alarm)
		time.Sleep(time.Hour)
		synctest.Wait()
		for i, want := range [][]time.Duration{nil, {time.Minute}, nil, {time.Minute}} {
			if !slices.Equal(all[i].woken, want) {
				t.Errorf("number %d: woken after %v, want %v", i, all[i].woken, want)
			}
		}
		if l.first != nil || l.last != nil || l.ticking {
			t.Error("the queue does not rest")
		}
	})
}

func TestOneThatWasWokenMayWaitAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Queue
		var one, other sleeper
		one.began, other.began = time.Now(), time.Now()
		one.again = func() {
			if len(one.woken) < 3 {
				l.Set(&one.alarm, &one, time.Minute)
			}
		}
		l.Set(&one.alarm, &one, time.Minute)
		l.Set(&other.alarm, &other, time.Minute)
		time.Sleep(time.Hour)
		synctest.Wait()
		if want := []time.Duration{time.Minute, 2 * time.Minute, 3 * time.Minute}; !slices.Equal(one.woken, want) || len(other.woken) != 1 {
			t.Errorf("woken after %v, want %v; the other one %v", one.woken, want, other.woken)
		}
	})
}

// Those that are stopped before their time, as nearly all are, leave the timer alone.
func TestAnAlarmCostsNoAllocation(t *testing.T) {
	var l Queue
	var s sleeper
	l.Set(&s.alarm, &s, time.Hour)
	l.Stop(&s.alarm)
	if n := testing.AllocsPerRun(100, func() {
		l.Set(&s.alarm, &s, time.Hour)
		l.Stop(&s.alarm)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestAlarmsThatAreSetAtTheSameTimeGoOffOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Queue
		var all [8]sleeper
		var setters sync.WaitGroup
		for i := range all {
			setters.Go(func() {
				s := &all[i]
				for range 200 {
					l.Set(&s.alarm, s, time.Second)
					time.Sleep(time.Millisecond)
					l.Stop(&s.alarm)
				}
				s.began = time.Now()
				l.Set(&s.alarm, s, time.Second)
			})
		}
		setters.Wait()
		time.Sleep(time.Minute)
		synctest.Wait()
		for i := range all {
			if want := []time.Duration{time.Second}; !slices.Equal(all[i].woken, want) {
				t.Errorf("number %d: woken after %v, want %v", i, all[i].woken, want)
			}
		}
	})
}

func BenchmarkAlarm(b *testing.B) {
	b.Run("a place in the queue", func(b *testing.B) {
		var l Queue
		var s sleeper
		b.ReportAllocs()
		for b.Loop() {
			l.Set(&s.alarm, &s, time.Hour)
			l.Stop(&s.alarm)
		}
	})
	b.Run("a timer", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			time.AfterFunc(time.Hour, func() {}).Stop()
		}
	})
}

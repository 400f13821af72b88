package routing

import (
	"testing"
	"time"

	"berth/internal/realtest"
)

// A slow start takes its time whatever the machine's clock is set to meanwhile.
func TestASlowStartTakesItsTimeThoughTheClockIsSet(t *testing.T) {
	const slow = time.Minute
	for _, set := range []time.Duration{time.Hour, -time.Hour} {
		p := NewPool(PoolOptions{Name: "p", Upstreams: []*Upstream{{Name: "a"}}, Settings: Settings{SlowStart: slow}})
		defer p.Close()
		p.Replace([]*Upstream{{Name: "a"}, {Name: "b"}})
		b := p.Find("b")
		for _, of := range []struct {
			began time.Duration
			least float64
			most  float64
		}{{0, coldest, coldest}, {slow / 2, 0.5, 0.6}, {2 * slow, 1, 1}} {
			then := realtest.SetBack(time.Now(), set).Add(-of.began)
			b.fresh.Store(&then)
			if got := b.warmth(slow); got < of.least || got > of.most {
				t.Errorf("clock set by %v, %v into a slow start: got %v of the share, want %v", set, of.began, got, of.least)
			}
		}
		joined := realtest.SetBack(time.Now(), set)
		p.selection.freshest.Store(nil)
		p.selection.freshen(b.live, joined)
		picks := 0
		p.Configure(Settings{SlowStart: slow, Picker: seeing(func(c Choice) {
			picks++
			if c.Even || c.slow != slow {
				t.Errorf("clock set by %v: all have an even share at the beginning of a slow start", set)
			}
		})})
		if _, err := p.Pick(Work{}, nil); err != nil || picks != 1 {
			t.Errorf("picked %d times: %v", picks, err)
		}
	}
}

// seeing is a picker of the first, which shows what it is given.
type seeing func(c Choice)

func (s seeing) Pick(c Choice) *Upstream {
	s(c)
	return c.Among[0]
}

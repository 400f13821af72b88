package routing

import (
	"errors"
	"net/url"
	"testing"
	"time"

	"berth/internal/mcp"
)

// The last upstream may begin to drain between two looks at it, while it is full.
func TestDrainAmidAPickOfWhatIsFull(t *testing.T) {
	u := &Upstream{Name: "a", URL: &url.URL{Scheme: "http", Host: "a"}, MaxInFlight: 1}
	p := NewPool(PoolOptions{Name: "p", Upstreams: []*Upstream{u}})
	work := Work{Era: mcp.EraModern}
	full, err := p.Pick(work, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Release()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			p.SetDrains(map[string]Drain{"a": {Since: time.Now()}})
			p.SetDrains(nil)
		}
	}()
	for range 200_000 {
		lease, err := p.Pick(work, nil)
		switch {
		case err == nil:
			lease.Release()
		case !errors.Is(err, ErrNoUpstream):
			t.Fatal(err)
		}
	}
	close(stop)
	<-stopped
}

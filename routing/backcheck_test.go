package routing_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"berth/routing"
	"berth/routing/health"
)

// One that has left and comes back is to pass a check like any that joins, though a call waits there for its client: it may be another
// process. What was in flight all the while shows that it is the same.
func TestOneThatComesBackIsChecked(t *testing.T) {
	for name, kept := range map[string]func(p *routing.Pool, u *routing.Upstream){
		health.StateUnchecked: func(_ *routing.Pool, u *routing.Upstream) { u.Wait() },
		health.StateOK:        func(p *routing.Pool, u *routing.Upstream) { p.Own(u) },
	} {
		synctest.Test(t, func(t *testing.T) {
			ill := false
			p := routing.NewPool(routing.PoolOptions{
				Upstreams: upstreams("a", "b"), Settings: routing.Settings{Check: health.Check{Kind: health.CheckHTTP, Interval: time.Minute, Timeout: time.Second, Rise: 1, Fall: 3}},
				Examine: func(context.Context, *routing.Upstream, health.Check) error {
					if ill {
						return errBroken
					}
					return nil
				},
			})
			run(t, p)
			synctest.Wait()
			kept(p, p.Find("b"))
			p.Replace(upstreams("a"))
			ill = true
			p.Replace(upstreams("a", "b"))
			synctest.Wait()
			if got := p.Find("b").State().Name; got != name {
				t.Errorf("it is %s, want %s", got, name)
			}
			if n := p.Find("b").UnderWay().Sum(); n != 1 {
				t.Errorf("%d calls are under way there", n)
			}
		})
	}
}

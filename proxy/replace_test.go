package proxy_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"berth/routing"
)

// Members come, move and go while calls are under way: each ends as if the pool stood still, a
// task stays its owner's, and nothing is left under way.
func TestMembersChangeUnderCalls(t *testing.T) {
	f := newRig(t, rigOptions{tcp: true})
	task := f.newTask(60)
	all := f.pool.Upstreams()
	anew := func(keep string) (next []*routing.Upstream) {
		for _, u := range all {
			if u.Name == keep || u.Name == f.owner(task) {
				next = append(next, &routing.Upstream{Name: u.Name, URL: u.URL})
			}
		}
		return next
	}
	var done atomic.Bool
	var calling, changing sync.WaitGroup
	for range 4 {
		calling.Go(func() {
			for range 50 {
				if r := f.greet("x"); r.status != http.StatusOK {
					t.Errorf("call: got %d %s", r.status, r.body)
				}
				if r := f.poll(task); r.status != http.StatusOK {
					t.Errorf("poll: got %d %s", r.status, r.body)
				}
			}
		})
	}
	changing.Go(func() {
		for !done.Load() {
			for _, u := range all {
				f.pool.Replace(anew(u.Name))
			}
			f.pool.Replace(all)
		}
	})
	calling.Wait()
	done.Store(true)
	changing.Wait()
	for _, u := range f.pool.Upstreams() {
		f.eventually("nothing is under way", func() bool { return u.InFlight() == 0 })
	}
}

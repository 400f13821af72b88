package proxy_test

import (
	"net/url"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"berth/routing"
)

// member is an instance as a list of its pool has it.
func member(name string, at *rigServer) *routing.Upstream {
	return &routing.Upstream{Name: name, URL: &url.URL{Scheme: "http", Host: at.addr, Path: "/mcp"}}
}

// An instance that joins the pool while subscriptions stand is heard from then on, as is one that comes back by its name, at another address.
func TestInstancesThatJoinThePoolAreHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleetwide(t)
		a, b, c := f.servers[0], f.servers[1], f.servers[2]
		anew := f.newServer("d", nil)
		f.pool.Replace([]*routing.Upstream{member("a", a), member("b", b)})
		s := f.subscribe("1", listsFilter)
		told := 0
		hears := func(what string, server *rigServer) {
			t.Helper()
			time.Sleep(30 * time.Second)
			server.Announce("notifications/tools/list_changed", nil)
			synctest.Wait()
			if told++; len(s.told()) != told {
				t.Errorf("%s: told %v", what, s.told())
				told = len(s.told())
			}
		}
		hears("there from the first", b)
		f.pool.Replace([]*routing.Upstream{member("a", a), member("b", b), member("c", c)})
		hears("one that joins", c)
		b.kill()
		f.pool.Replace([]*routing.Upstream{member("a", a), member("b", anew), member("c", c)})
		hears("one that comes back at another address", anew)
		another := f.subscribe("2", listsFilter)
		anew.kill()
		time.Sleep(time.Minute)
		f.pool.Replace([]*routing.Upstream{member("a", a), member("c", c)})
		b.start("b")
		f.pool.Replace([]*routing.Upstream{member("a", a), member("b", b), member("c", c)}) // before anybody has seen that it was forgotten
		hears("one that was forgotten, and comes back", b)
		if got := another.told(); !slices.Equal(got, []string{"tools/list_changed"}) {
			t.Errorf("who came later was told %v", got)
		}
		hears("who was there all the time", a)
	})
}

// So is the owner of a task that a subscription names.
func TestATaskIsToldOfWhereItsOwnerIsByNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := spread(t)
		moves, stays := f.newTask(200), f.newTask(600)
		owner := f.servers[slices.IndexFunc(f.servers, func(s *rigServer) bool { return s.Name == f.owner(moves) })]
		members := func(all bool) (list []*routing.Upstream) {
			for _, s := range f.servers {
				if all || s != owner {
					list = append(list, member(s.Name, s))
				}
			}
			return list
		}
		s := f.subscribe("1", tasksFilter("", moves, stays))
		synctest.Wait()
		owner.kill()
		time.Sleep(time.Second)
		f.pool.Replace(members(false)) // it is not known any more that it is silent
		time.Sleep(time.Minute)
		owner.start("elsewhere")
		f.pool.Replace(members(true))
		time.Sleep(200 * time.Second)
		synctest.Wait()
		if got, want := s.told(), []string{moves + " completed"}; !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
	})
}

package proxy_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy"
	"berth/routing"
)

// Streams that nothing at an instance needs leave it when it drains by the file, or left its source, as by an operator's mark; they are
// back with it.
func TestSubscriptionsLeaveWhatDrainsByItsList(t *testing.T) {
	for name, fleetwide := range map[string]bool{"own streams": false, "shared streams": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{probe: true, size: 2, endpoint: func(ep *proxy.Endpoint) { ep.FleetNotifications = fleetwide }})
				a, b := f.servers[0], f.servers[1]
				list := func(draining bool) {
					first := member("a", a)
					first.Draining = draining
					f.pool.Replace([]*routing.Upstream{first, member("b", b)})
					time.Sleep(10 * time.Second)
					synctest.Wait()
				}
				streams := func(when string, at *rigServer, want int) {
					t.Helper()
					if got := at.Calls("subscriptions/listen") - at.Hangups("subscriptions/listen"); got != want {
						t.Errorf("%s: %d streams at %s, want %d", when, got, at.Name, want)
					}
				}
				s := f.subscribe("1", listsFilter)
				list(false)
				streams("at first", a, 1)
				list(true)
				streams("while it drains", a, 0)
				streams("while it drains", b, 1)
				if u := f.pool.Find("a"); u.InFlight() != 0 {
					t.Errorf("%d are under way at a", u.InFlight())
				}
				b.Announce("notifications/tools/list_changed", nil)
				synctest.Wait()
				late := f.subscribe("2", listsFilter)
				synctest.Wait()
				streams("while it drains, for who came later", a, 0)
				list(false)
				a.Announce("notifications/tools/list_changed", nil)
				synctest.Wait()
				want := []string{"tools/list_changed"}
				if fleetwide {
					want = append(want, want...)
				}
				if got := s.told(); !slices.Equal(got, want) {
					t.Errorf("told %v, want %v", got, want)
				}
				if got := late.told(); !slices.Equal(got, want[1:]) {
					t.Errorf("who came later was told %v, want %v", got, want[1:])
				}
			})
		})
	}
}

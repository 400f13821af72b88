package routing_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/routing"
	"berth/routing/health"
	"berth/sticky"
)

// picking is a pool of these upstreams that goes by a picker of that name.
func picking(t *testing.T, name string, list ...*routing.Upstream) *routing.Pool {
	t.Helper()
	picker, err := routing.NewPicker(name)
	if err != nil {
		t.Fatalf("NewPicker: %v", err)
	}
	return routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: list, Settings: routing.Settings{Picker: picker}})
}

// work is unbound work that prefers nobody.
var work = routing.Work{Era: mcp.EraModern}

// shares picks that often, holding nothing, and counts who was picked.
func shares(t *testing.T, p *routing.Pool, times int, w func(i int) routing.Work) map[string]int {
	t.Helper()
	got := map[string]int{}
	for i := range times {
		lease, err := p.Pick(w(i), nil)
		if err != nil {
			t.Fatalf("Pick: %v", err)
		}
		got[lease.Upstream.Name]++
		lease.Release()
	}
	return got
}

func keyless(int) routing.Work { return work }

func keyed(i int) routing.Work {
	return routing.Work{Era: mcp.EraModern, Key: fmt.Sprint("caller ", i)}
}

// about fails the test unless got is want, give or take a sixth.
func about(t *testing.T, what string, got, want int) {
	t.Helper()
	if got < want-want/6 || got > want+want/6 {
		t.Errorf("%s: got %d, want about %d", what, got, want)
	}
}

var pickers = []string{"p2c", "least-load", "round-robin", "random", "rendezvous"}

// An upstream of weight 3 gets three times the work of one of weight 1, whoever picks.
func TestPickersHeedWeights(t *testing.T) {
	for _, name := range pickers {
		p := picking(t, name, &routing.Upstream{Name: "a", Weight: 3}, &routing.Upstream{Name: "b", Weight: 2}, &routing.Upstream{Name: "c"})
		got := shares(t, p, 6000, keyed)
		for upstream, want := range map[string]int{"a": 3000, "b": 2000, "c": 1000} {
			about(t, name+" "+upstream, got[upstream], want)
		}
	}
}

func TestPickersSpreadEvenly(t *testing.T) {
	for _, name := range pickers {
		got := shares(t, picking(t, name, upstreams("a", "b", "c")...), 6000, keyed)
		for _, upstream := range []string{"a", "b", "c"} {
			about(t, name+" "+upstream, got[upstream], 2000)
		}
	}
}

// With what is under way, the weighted share of the load is what counts.
func TestLoadCountsByWeight(t *testing.T) {
	for _, name := range []string{"p2c", "least-load"} {
		p := picking(t, name, &routing.Upstream{Name: "a", Weight: 3}, &routing.Upstream{Name: "b"})
		for range 400 {
			if _, err := p.Pick(work, nil); err != nil {
				t.Fatalf("Pick: %v", err)
			}
		}
		about(t, name+" a", p.Find("a").InFlight(), 300)
	}
}

// Heavy ones do not get all their turns in a row.
func TestRoundRobinIsSmooth(t *testing.T) {
	p := picking(t, "round-robin", &routing.Upstream{Name: "a", Weight: 5}, &routing.Upstream{Name: "b"}, &routing.Upstream{Name: "c"})
	var order strings.Builder
	for range 14 {
		lease, err := p.Pick(work, nil)
		if err != nil {
			t.Fatalf("Pick: %v", err)
		}
		order.WriteString(lease.Upstream.Name)
	}
	if want := "aabacaaaabacaa"; order.String() != want {
		t.Errorf("got %s, want %s", order.String(), want)
	}
}

func TestLeastLoadTakesTheIdlest(t *testing.T) {
	p := picking(t, "least-load", upstreams("a", "b", "c")...)
	for _, busy := range []string{"a", "b"} {
		defer p.Own(p.Find(busy)).Release()
	}
	if got := shares(t, p, 100, keyless); got["c"] != 100 {
		t.Errorf("got %v, want all at c", got)
	}
}

// Equal keys meet at one upstream, at every berth, and only those of one that leaves move.
func TestRendezvousKeepsKeysTogether(t *testing.T) {
	p, other := picking(t, "rendezvous", upstreams("a", "b", "c")...), picking(t, "rendezvous", upstreams("c", "a", "b")...)
	home := map[int]string{}
	for i := range 300 {
		home[i] = p.Home(keyed(i))
		for range 3 {
			lease, err := other.Pick(keyed(i), nil)
			if err != nil || lease.Upstream.Name != home[i] {
				t.Fatalf("key %d: got %v, %v, want %s", i, lease.Upstream.Name, err, home[i])
			}
		}
	}
	p.Replace(upstreams("a", "c"))
	for i, before := range home {
		if now := p.Home(keyed(i)); now == "b" || before != "b" && now != before {
			t.Errorf("key %d moved from %s to %s", i, before, now)
		}
	}
}

// Work without a key is spread; other pickers have no home for any.
func TestHomeIsOfKeysOnly(t *testing.T) {
	p := picking(t, "rendezvous", upstreams("a", "b", "c")...)
	if got := p.Home(work); got != "" {
		t.Errorf("without a key: got %q", got)
	}
	if got := picking(t, "p2c", upstreams("a", "b")...).Home(keyed(1)); got != "" {
		t.Errorf("p2c: got %q", got)
	}
	if got := shares(t, p, 300, keyless); len(got) != 3 {
		t.Errorf("got %v, want some at each", got)
	}
}

// An instance that has handed out tasks looks idle by requests.
func TestLiveTasksCountAsLoad(t *testing.T) {
	for _, name := range []string{"p2c", "least-load"} {
		picker, _ := routing.NewPicker(name)
		p := routing.NewPool(routing.PoolOptions{
			Upstreams: upstreams("a", "b"), Settings: routing.Settings{Picker: picker},
		})
		own(t, p.Find("a"), func() sticky.Owned { return sticky.Owned{Tasks: 100} })
		if got := shares(t, p, 200, keyless); got["a"] == 0 {
			t.Errorf("%s: not asked for, and tasks count: %v", name, got)
		}
		p.Configure(routing.Settings{Picker: picker, CountTasks: true})
		if got := shares(t, p, 200, keyless); got["a"] > 0 {
			t.Errorf("%s: got %v, want none at the one with a hundred tasks", name, got)
		}
	}
}

// own has an upstream own what tasks counts.
func own(t *testing.T, u *routing.Upstream, tasks func() sticky.Owned) {
	t.Helper()
	if _, err := u.Count(func() (sticky.Owned, error) { return tasks(), nil }); err != nil {
		t.Fatal(err)
	}
}

// What is made between two counts counts as well, and once; a count that fails changes nothing.
func TestTasksMadeSinceTheyWereCounted(t *testing.T) {
	u := routing.NewPool(routing.PoolOptions{Upstreams: upstreams("a")}).Find("a")
	want := func(when string, n int) {
		t.Helper()
		if got := u.Tasks(); got != n {
			t.Errorf("%s: %d tasks, want %d", when, got, n)
		}
	}
	u.Made()
	want("before any count", 1)
	own(t, u, func() sticky.Owned {
		u.Made() // while the store counts
		return sticky.Owned{Tasks: 5}
	})
	want("counted", 6)
	u.Made()
	want("made since", 7)
	if _, err := u.Count(func() (sticky.Owned, error) { return sticky.Owned{}, errBroken }); err == nil {
		t.Error("a count that fails does not say so")
	}
	want("a count that failed", 7)
	own(t, u, func() sticky.Owned { return sticky.Owned{Tasks: 7} })
	want("counted again", 7)
}

// One that joined, or came back, begins with a tenth and has its share after slow_start.
func TestSlowStart(t *testing.T) {
	for what, come := range map[string]func(p *routing.Pool){
		"joined": func(p *routing.Pool) { p.Replace(upstreams("a", "new")) },
		"ready": func(p *routing.Pool) { // as a pod, of which Kubernetes tells before it takes work
			p.Replace([]*routing.Upstream{{Name: "a"}, {Name: "new", Draining: true}})
			time.Sleep(time.Hour)
			p.Replace(upstreams("a", "new"))
		},
		"back": func(p *routing.Pool) { // under the name of one where a call waits for its client
			p.Find("new").Wait()
			p.Replace(upstreams("a"))
			time.Sleep(time.Hour)
			p.Replace(upstreams("a", "new"))
		},
		"undrained": func(p *routing.Pool) {
			p.SetDrains(map[string]routing.Drain{"new": {Since: time.Now()}})
			time.Sleep(time.Hour)
			p.SetDrains(nil)
		},
		"ejected": func(p *routing.Pool) { comeBack(p) },
		"silent": func(p *routing.Pool) {
			p.FellSilent(p.Find("new"), errBroken)
			time.Sleep(time.Second)
			p.Answered(p.Find("new"))
		},
	} {
		for _, name := range []string{"p2c", "least-load", "round-robin", "random", "rendezvous"} {
			synctest.Test(t, func(t *testing.T) {
				picker, _ := routing.NewPicker(name)
				list := upstreams("a")
				if what != "joined" && what != "ready" {
					list = upstreams("a", "new")
				}
				p := routing.NewPool(routing.PoolOptions{Upstreams: list, Probe: mute, Settings: routing.Settings{Picker: picker, SlowStart: 100 * time.Second}})
				run(t, p)
				time.Sleep(time.Hour)
				come(p)
				const times = 12000
				about(t, fmt.Sprintf("%s, %s, at once", name, what), shares(t, p, times, keyed)["new"], times/11)
				time.Sleep(50 * time.Second)
				about(t, fmt.Sprintf("%s, %s, at half of it", name, what), shares(t, p, times, keyed)["new"], times/3)
				time.Sleep(50 * time.Second)
				about(t, fmt.Sprintf("%s, %s, after it", name, what), shares(t, p, times, keyed)["new"], times/2)
			})
		}
	}
}

// comeBack has the upstream "new" be ejected, and its ejection end.
func comeBack(p *routing.Pool) {
	u := p.Find("new")
	for range 5 {
		p.Failed(u, health.FailedConnect, errBroken)
	}
	time.Sleep(5 * time.Second)
}

func TestBackupsStandInForPrimariesOnly(t *testing.T) {
	p := routing.NewPool(routing.PoolOptions{Probe: mute, Upstreams: []*routing.Upstream{
		{Name: "a"}, {Name: "b"}, {Name: "spare", Backup: true},
	}})
	if got := shares(t, p, 100, keyless); got["spare"] > 0 {
		t.Errorf("all are fit: %v", got)
	}
	p.FellSilent(p.Find("a"), errBroken)
	if got := shares(t, p, 100, keyless); got["b"] != 100 {
		t.Errorf("one is fit: %v", got)
	}
	if lease, err := p.Pick(work, []*routing.Upstream{p.Find("b")}); err != nil || lease.Upstream.Name != "spare" {
		t.Errorf("b was tried: got %v, %v, want the backup", lease, err)
	}
	p.FellSilent(p.Find("b"), errBroken)
	if got := shares(t, p, 100, keyless); got["spare"] != 100 {
		t.Errorf("none is fit: %v", got)
	}
	p.FellSilent(p.Find("spare"), errBroken)
	if got := shares(t, p, 100, keyless); got["spare"] > 0 {
		t.Errorf("nobody is fit, backups neither: %v", got)
	}
	for _, u := range p.Upstreams() {
		p.Answered(u)
	}
	if lease, err := p.Pick(routing.Work{Prefer: "spare"}, nil); err != nil || lease.Upstream.Name != "spare" {
		t.Errorf("what it has begun: got %v, %v", lease, err)
	}
}

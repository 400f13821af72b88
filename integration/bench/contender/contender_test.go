//go:build linux

package contender

import (
	"strings"
	"testing"
)

func TestNamesTellContendersApart(t *testing.T) {
	for want, c := range map[string]Contender{
		"nginx": {Product: Nginx}, "nginx, no log": {Product: Nginx, Quiet: true}, "berth, redis": {Product: Berth, Store: "redis"},
		"berth, net/http": {Product: Berth, NetHTTP: true}, "berth, upgraded, redis": {Product: Berth, Upgrade: true, Store: "redis"},
		"berth, 1 M tasks": {Product: Berth, Bindings: 1_000_000}, "berth, 10 k tasks": {Product: Berth, Bindings: 10_000},
		"direct, 1 core": {Product: Direct, Cores: 1}, "nginx, TLS": {Product: Nginx, TLS: true},
	} {
		if got := c.Name(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestWhatIsNotInstalledIsLeftOut(t *testing.T) {
	p := Programs{HAProxy: "/usr/sbin/haproxy"}
	for c, want := range map[Contender]bool{
		{Product: Direct}: true, {Product: ReverseProxy}: true, {Product: Berth}: true, {Product: Berth, Store: "file"}: true,
		{Product: HAProxy}: true, {Product: Nginx}: false, {Product: Berth, Store: "redis"}: false,
	} {
		if got := p.Has(c); got != want {
			t.Errorf("%s: got %v, want %v", c.Name(), got, want)
		}
	}
}

func TestAllocationsAreFoundAmongMetrics(t *testing.T) {
	const metrics = "# TYPE go_memstats_mallocs_total counter\ngo_memstats_frees_total 3\ngo_memstats_mallocs_total 1.5e+06\n"
	if got, err := readAllocations(strings.NewReader(metrics)); err != nil || got != 1.5e6 {
		t.Errorf("got %v, %v, want 1.5e6", got, err)
	}
	if got, err := readAllocations(strings.NewReader("go_memstats_frees_total 3\n")); err == nil {
		t.Errorf("without the counter: got %v, want an error", got)
	}
}

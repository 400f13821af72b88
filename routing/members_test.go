package routing

import (
	"strconv"
	"testing"
)

func TestAMemberIsFoundByItsNameAmongFewAndMany(t *testing.T) {
	for n := range 2*few + 1 {
		all := make([]*Upstream, n)
		for i := range all {
			all[i] = &Upstream{Name: strconv.Itoa(i)}
		}
		m := newMembers(all)
		for i := range all {
			if got := m.find(all[i].Name); got != all[i] {
				t.Errorf("%d of %d: got %v", i, n, got)
			}
		}
		if got := m.find("none"); got != nil {
			t.Errorf("of %d: got %v", n, got)
		}
	}
}

package proxy_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"testing"

	"berth/routing"
)

// spread is a rig whose tasks lie on all of its instances in turn.
func spread(t *testing.T) *rig {
	t.Helper()
	return newRig(t, rigOptions{picker: new(routing.RoundRobin), probe: true})
}

// onEach makes one task on each instance; ids[i] is that of instance i.
func (f *rig) onEach(seconds float64) []string {
	f.t.Helper()
	ids := make([]string, len(f.servers))
	for range f.servers {
		id := f.newTask(seconds)
		i := slices.IndexFunc(f.servers, func(s *rigServer) bool { return s.Name == f.owner(id) })
		ids[i] = id
	}
	return ids
}

// asks records the filters of the subscriptions that an instance gets.
type asks struct {
	mu   sync.Mutex
	seen []string
}

func (a *asks) watch(_ http.ResponseWriter, _ *http.Request, body []byte) bool {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct{ Notifications json.RawMessage }
	}
	if json.Unmarshal(body, &m) == nil && m.Method == "subscriptions/listen" {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.seen = append(a.seen, string(m.ID)+" "+string(m.Params.Notifications))
	}
	return false
}

func (a *asks) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.seen)
}

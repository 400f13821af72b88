package bridge

import (
	"net/url"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
)

// retiring is what runs the rig's upstream, and says which sessions are to be given nothing new.
type retiring struct {
	exchange.Sender

	mu       sync.Mutex // guards the field below
	sessions []string
}

// Retires is as resident.Sender has it.
func (r *retiring) Retires(_ *url.URL, session string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.sessions, session)
}

func (r *retiring) retire(session string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sessions = append(r.sessions, session)
}

// A session whose process is to be given nothing new takes no new call, keeps those that it has, and ends with them.
func TestASessionThatRetiresTakesNoNewCall(t *testing.T) {
	for _, declares := range []string{declaresNone, declaresForm} {
		runs := &retiring{}
		change := func(o *Options) {
			runs.Sender, o.Endpoint.Client = o.Endpoint.Client, runs
			o.Endpoint.Router.Pool.Find("a").Hosted = true
		}
		slow := func(k *running) { time.Sleep(time.Minute); where(k) }
		bridged(t, tool(kind{}, slow), change, func(r *rig) {
			one := r.do(asking{name: "asks", declares: declares}).in()
			if again := r.do(asking{name: "asks", declares: declares}).in(); again != one {
				t.Errorf("%s: calls in %s and %s", declares, one, again)
			}
			runs.retire(one)
			two := r.do(asking{name: "asks", declares: declares}).in()
			time.Sleep(time.Second)
			if open := r.open(); two == one || slices.Contains(open, one) {
				t.Errorf("%s: after %s retired a call in %s, and %v are open", declares, one, two, open)
			}

			under := make(chan string, 1)
			go func() { under <- r.do(asking{name: "asks", declares: declares}).in() }()
			synctest.Wait()
			runs.retire(two)
			three := r.do(asking{name: "asks", declares: declares}).in()
			if in := <-under; in != two || three == two {
				t.Errorf("%s: calls in %s and %s", declares, in, three)
			}
			time.Sleep(time.Second)
			if open := r.open(); slices.Contains(open, two) || !slices.Contains(open, three) {
				t.Errorf("%s: %v are open", declares, open)
			}
		})
	}
}

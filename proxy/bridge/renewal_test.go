package bridge

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/wire"
)

// renewal is what a caller bears by now: a token, if there is one.
type renewal struct {
	token   atomic.Value // string
	refused atomic.Int32
}

func (n *renewal) Header() *wire.Header {
	token, _ := n.token.Load().(string)
	if token == "" {
		return nil
	}
	h := new(wire.Header)
	h.Set("Authorization", token)
	return h
}

func (n *renewal) Refused() { n.refused.Add(1) }

// renewable sends a request whose caller may bear something else later.
func (r *rig) renewable(ctx context.Context, a asking, n *renewal) (*wire.Response, error) {
	out := a.request(r.at.URL)
	out.Renewal = n
	return r.b.To(r.at).Send(ctx, out, 0)
}

var byOne = asking{name: "asks", caller: "alice", header: []string{"Authorization", "Bearer one"}}

// What a call is cancelled with is what its caller bears by then.
func TestACancelBearsTheNewestCredentials(t *testing.T) {
	for name, u := range map[string]*upstream{"stream": tool(kind{}, holdsUp), "no headers": tool(kind{whole: true}, holdsUp)} {
		t.Run(name, func(t *testing.T) {
			bridged(t, u, nil, func(r *rig) {
				n := new(renewal)
				ctx, hangUp := context.WithCancel(r.t.Context())
				time.AfterFunc(time.Second, func() {
					n.token.Store("Bearer two")
					hangUp()
				})
				if response, err := r.renewable(ctx, byOne, n); err == nil {
					_, _ = response.Body.Read(make([]byte, 1))
					<-ctx.Done()
					response.Body.Close()
				}
				synctest.Wait()
				told := r.sent("notifications/cancelled")
				if len(told) != 1 || told[0].header.Get("Authorization") != "Bearer two" || !strings.Contains(r.sent("tools/call")[0].header.Get("Authorization"), "one") {
					r.t.Errorf("told %v", told)
				}
			})
		})
	}
}

// expires is an upstream that lets nobody resume a stream but who bears this token.
func expires(u *upstream, token string) *upstream {
	u.faults = func(w http.ResponseWriter, r *http.Request, _ message) bool {
		refused := strings.HasPrefix(r.Header.Get("Last-Event-Id"), "c") && r.Header.Get("Authorization") != token
		if refused {
			respond(w, http.StatusUnauthorized, `{}`)
		}
		return refused
	}
	return u
}

func breaksOff(k *running) {
	k.progress(1)
	time.Sleep(time.Second) // its stream is read by now
	k.breakOff()
	time.Sleep(5 * time.Second)
}

// A stream whose server takes what the call was made with no more is resumed with what its caller bears by then.
func TestAStreamIsResumedWithTheNewestCredentials(t *testing.T) {
	bridged(t, expires(tool(kind{}, breaksOff), "Bearer two"), nil, func(r *rig) {
		n := new(renewal)
		time.AfterFunc(4*time.Second, func() { n.token.Store("Bearer two") })
		response, err := r.renewable(r.t.Context(), byOne, n)
		if err != nil {
			r.t.Fatal(err)
		}
		defer response.Body.Close()
		if g := r.read(response); g.Error != nil || n.refused.Load() == 0 {
			r.t.Errorf("got %q, refused %d times", g.all, n.refused.Load())
		}
	})
}

// One that is not let in any more says so, and that the tool may have run: at once where its caller waits for the answer.
func TestAStreamThatIsNotLetInAnyMoreSaysSo(t *testing.T) {
	bridged(t, expires(tool(kind{}, breaksOff), "Bearer two"), nil, func(r *rig) {
		for renewable, most := range map[bool]time.Duration{true: time.Minute, false: 5 * time.Second} {
			began, response := time.Now(), (*wire.Response)(nil)
			var err error
			if renewable {
				response, err = r.renewable(r.t.Context(), byOne, new(renewal))
			} else {
				response, err = r.send(r.t.Context(), byOne)
			}
			if err != nil {
				r.t.Fatal(err)
			}
			g := r.read(response)
			response.Body.Close()
			if !strings.Contains(g.text, "401 Unauthorized") || !strings.Contains(g.text, `"outcome":"unknown"`) || time.Since(began) > most {
				r.t.Errorf("got %s after %v", g.text, time.Since(began))
			}
		}
	})
}

// What a session is ended with is what its caller bore last: what it was opened with may have expired.
func TestASessionEndsWithTheNewestCredentials(t *testing.T) {
	by := func(token string) asking {
		return asking{name: "asks", caller: "alice", header: []string{"Authorization", token}}
	}
	for name, use := range map[string]func(r *rig){
		"another call": func(r *rig) { r.do(by("Bearer two")) },
		"renewed in a call": func(r *rig) {
			n := new(renewal)
			time.AfterFunc(time.Second, func() { n.token.Store("Bearer two") })
			response, err := r.renewable(r.t.Context(), by("Bearer one"), n)
			if err != nil {
				r.t.Fatal(err)
			}
			defer response.Body.Close()
			r.read(response)
		},
		"a later round": func(r *rig) {
			first := r.do(asking{name: "asks", caller: "alice", params: `"arguments":{"ask":true},`, header: []string{"Authorization", "Bearer one"}})
			again := by("Bearer two")
			again.params = `"arguments":{"ask":true},` + first.answers(accepted)
			r.do(again)
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := tool(kind{}, func(k *running) {
				if strings.Contains(k.body, `"ask":true`) {
					k.ask()
				}
				time.Sleep(2 * time.Second)
			})
			bridged(t, u, func(o *Options) { o.Idle = time.Minute }, func(r *rig) {
				r.do(by("Bearer one"))
				use(r)
				time.Sleep(2 * time.Minute)
				ended := r.sent("DELETE")
				if last := ended[len(ended)-1]; last.session != "s2" || last.header.Get("Authorization") != "Bearer two" {
					r.t.Errorf("ended %+v", last)
				}
			})
		})
	}
}

// So is what a call is given up with whose client does not come back.
func TestACallThatNobodyAnswersIsGivenUpWithTheNewestCredentials(t *testing.T) {
	bridged(t, tool(kind{}, func(k *running) {
		k.ask()
		k.ask()
	}), func(o *Options) { o.Question = time.Minute }, func(r *rig) {
		first := r.do(byOne)
		again := byOne
		again.params, again.header = first.answers(accepted), []string{"Authorization", "Bearer two"}
		r.do(again)
		time.Sleep(2 * time.Minute)
		told := r.sent("notifications/cancelled")
		if len(told) != 1 || told[0].header.Get("Authorization") != "Bearer two" {
			t.Errorf("told %+v", told)
		}
	})
}

package bridge

import (
	"context"
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

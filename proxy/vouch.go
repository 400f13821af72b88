package proxy

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/routing"
	"berth/upgrade"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"
)

const (
	// vouchedFor is how long the word of an upstream counts that takes a caller's
	// credentials. One that is refused logs in and comes back at once.
	vouchedFor, refusedFor = 30 * time.Second, 5 * time.Second

	vouchTime  = 5 * time.Second // that asking for it may take
	maxVouched = 10_000          // callers remembered
)

// vouched is what upstreams say of callers' credentials. Where berth tells nobody apart,
// only they can say who may ask for a task that somebody else has made.
type vouched struct {
	known   *lru.Cache[string, verdict]
	flights singleflight.Group
}

// verdict is the word of an upstream.
type verdict struct {
	refusal *mcp.Error // nil: it takes the credentials
	until   time.Time
}

var errNoWord = unavailable(mcp.ReasonNoUpstream, "no upstream says whether it takes these credentials")

func newVouched() *vouched {
	known, err := lru.New[string, verdict](maxVouched)
	if err != nil {
		panic(err) // for sizes below one only
	}
	return &vouched{known: known}
}

// mayAsk refuses a caller who must not be told anything of an upgraded task: one who has
// neither made it, by the same Authorization, nor has credentials that the pool takes. Of
// a task that was not found, the zero Task, nobody is the creator, so that the answer does
// not tell whether there is one. With principals the task says whose it is, and where
// berth itself authorises calls there is nothing to hold against a caller.
func (x *request) mayAsk(ctx context.Context, task upgrade.Task) error {
	if x.endpoint.Router.Principals || x.endpoint.Authorization != nil {
		return nil
	}
	if task.ID != "" && task.Creator == x.creator() {
		return nil
	}
	if err := x.vouch(ctx); err != nil {
		return err
	}
	if task.Creator != "" && x.creator() == "" {
		return upgrade.ErrUnknown // that upstreams take no credentials at all proves nothing
	}
	return nil
}

// vouch fails if the pool does not take the caller's credentials.
func (x *request) vouch(ctx context.Context) error {
	v := x.p.vouched
	key := x.poolName() + " " + x.credential
	if said, ok := v.known.Get(key); ok && time.Now().Before(said.until) {
		return said.err()
	}
	said, err, _ := v.flights.Do(key, func() (any, error) {
		// It is asked for others, too, whose client is still there.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), vouchTime)
		defer cancel()
		said, err := x.askForWord(ctx)
		if err == nil {
			v.known.Add(key, said)
		}
		return said, err
	})
	if err != nil {
		return err
	}
	return said.(verdict).err()
}

// err keeps a nil *mcp.Error from becoming an error.
func (v verdict) err() error {
	if v.refusal == nil {
		return nil
	}
	return v.refusal
}

// askForWord asks upstreams, one after another until one can say, for what every caller
// may know that it takes.
func (x *request) askForWord(ctx context.Context) (verdict, error) {
	var tried []*routing.Upstream
	var last error
	for {
		lease, err := x.pool().Pick("", tried)
		if err != nil {
			return verdict{}, cmp.Or(last, err)
		}
		said, err := x.wordOf(ctx, lease.Upstream)
		lease.Release()
		if err == nil {
			return said, nil
		}
		tried, last = append(tried, lease.Upstream), err
	}
}

func (x *request) wordOf(ctx context.Context, u *routing.Upstream) (verdict, error) {
	out := x.ownPost(ctx, u, x.ownBody(mcp.MethodDiscover, ""))
	out.Header.Set(mcp.HeaderVersion, x.version())
	out.Header.Set(mcp.HeaderMethod, mcp.MethodDiscover)
	response, err := x.endpoint.Client.Send(out, 0)
	if err != nil {
		if failed, ok := errors.AsType[*exchange.SendError](err); ok && (!failed.Sent || failed.Garbled) && ctx.Err() == nil {
			x.endpoint.noteFailure(u, failed)
		}
		return verdict{}, errNoWord
	}
	defer response.Body.Close()
	return readWord(response)
}

// readWord reads an answer to server/discover. Many a server takes the credentials and
// refuses the question.
func readWord(response *http.Response) (verdict, error) {
	switch status := response.StatusCode; {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		refusal := refused(status, "the server does not take these credentials")
		refusal.Challenge = strings.Join(response.Header.Values("WWW-Authenticate"), ", ")
		return verdict{refusal, time.Now().Add(refusedFor)}, nil
	case status/100 == 3, status == http.StatusTooManyRequests, status >= 500:
		return verdict{}, errNoWord
	}
	return verdict{until: time.Now().Add(vouchedFor)}, nil
}

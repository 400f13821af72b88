package stdio

import (
	"fmt"
	"strings"
	"testing"

	"berth/internal/exchange/exchangetest"
	"berth/internal/mcp"
)

// subscribing is a request to hear of a resource.
func subscribing(uri string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"` + uri + `"}}`
}

// What a session is subscribed to stays in memory: in number and bytes there is no more of it than may be.
func TestSubscriptionsOfASessionAreBounded(t *testing.T) {
	subscribes := func(t *testing.T, c *client, uri string, want int) {
		t.Helper()
		response := c.post(subscribing(uri))
		body := exchangetest.ReadAll(t, response)
		if response.Status != want || response.Unasked != (want == 429) || want == 429 && !strings.Contains(body, ReasonTooManySubscriptions) {
			t.Errorf("got %d %.200s, want %d", response.Status, body, want)
		}
	}
	t.Run("number", func(t *testing.T) {
		c := newRig(t, "server").open("")
		for i := range maxSubscribed {
			subscribes(t, c, fmt.Sprint("x:", i), 200)
		}
		subscribes(t, c, "x:one/more", 429)
		subscribes(t, c, "x:0", 200)
		c.post(strings.Replace(subscribing("x:0"), "subscribe", "unsubscribe", 1))
		subscribes(t, c, "x:one/more", 200)
	})
	t.Run("bytes", func(t *testing.T) {
		c := newRig(t, "server").open("")
		subscribes(t, c, strings.Repeat("x", maxSubscribedBytes+1), 429)
		subscribes(t, c, strings.Repeat("x", maxSubscribedBytes), 200)
		subscribes(t, c, "y", 429)
	})
}

// A request that waits for its answer takes a place already.
func TestASubscriptionThatIsAskedForTakesItsPlace(t *testing.T) {
	s := &session{subscribed: map[string]bool{}, calls: map[*call]struct{}{}}
	for range maxSubscribed {
		s.calls[&call{session: s, method: mcp.MethodSubscribe, wish: "x"}] = struct{}{}
	}
	c := &call{session: s, method: mcp.MethodSubscribe, wish: "y"}
	if refused := c.mayWish(nil); refused != errManySubscriptions {
		t.Errorf("got %v", refused)
	}
}

// A session hears of what its process has granted it, and of nothing else.
func TestWhatIsNotGrantedIsNotHeard(t *testing.T) {
	r := newRig(t, "server", shared)
	a, b := r.open("a"), r.open("b")
	for _, body := range []string{subscribing(""), `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{}}`, subscribing("none:secret")} {
		exchangetest.ReadAll(t, b.post(body))
	}
	ofB := b.listen("")
	for _, uri := range []string{"file:///secret", "none:secret"} {
		a.call("touch", uri)
		if m := ofB.message(); !strings.Contains(m, "list_changed") {
			t.Errorf("%s: b heard %s", uri, m)
		}
	}
}

func TestAPartGoesOnBehindADelimiter(t *testing.T) {
	for whole, parts := range map[string]map[string]bool{
		"file:///x":  {"file:///x/y": true, "file:///x?y": true, "file:///x#y": true, "file:///xy": false, "file:///": false},
		"file:///x/": {"file:///x/y": true, "file:///x": false},
		"f":          {"file:///x": false},
	} {
		for uri, want := range parts {
			if got := isPart(uri, whole); got != want {
				t.Errorf("%s of %s: got %v", uri, whole, got)
			}
		}
	}
}

// A subscription is the process's: while another session asks for it, none may end it.
func TestASubscriptionThatIsAskedForIsWanted(t *testing.T) {
	a, b := &session{}, &session{}
	p := &peer{sessions: map[*session]struct{}{a: {}, b: {}}, calls: byNumber{1: {session: b, method: mcp.MethodSubscribe, wish: "x"}}}
	for c, want := range map[*call]bool{{session: a, wish: "x"}: true, {session: b, wish: "x"}: false, {session: a, wish: "y"}: false} {
		if got := p.wanted(c); got != want {
			t.Errorf("%s: got %v, want %v", c.wish, got, want)
		}
	}
}

// Of a request that sets the level of logs, the level is kept alone, and only one that there is.
func TestTheLevelOfASessionIsKeptAlone(t *testing.T) {
	r := newRig(t, "server")
	c := r.open("")
	for _, level := range []string{"debug", strings.Repeat("x", 1<<20)} {
		exchangetest.ReadAll(t, c.post(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"`+level+`","more":"of it"}}`))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if got := r.sessions[c.session].level; got != "debug" {
		t.Errorf("got %.100s", got)
	}
}

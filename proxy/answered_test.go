package proxy_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
)

const askOne = `"seconds":0,"asks":["elicitation"]`

// An answer that is posted to one berth reaches the tool whose call another one holds, and
// the ask is settled before its client learns that it was taken.
func TestAnswerSettlesItsAsk(t *testing.T) {
	f, g, _ := newSessionPair(t)
	id := f.errand(`"seconds":3600,"steps":1,"asks":["elicitation"]`)
	ask := f.asks(id, 1)[0]
	if got := f.status(id); got != "input_required" {
		t.Errorf("got %s, want input_required", got)
	}
	if r := g.respond(f.session, ask, `"result":{"action":"accept"}`); r.status != http.StatusAccepted || r.body != "" {
		t.Fatalf("got %v, want 202", r)
	}
	if got := f.status(id); got != "working" {
		t.Errorf("got %s once the client was told, want working", got)
	}
}

func TestAnswersReachTheTool(t *testing.T) {
	tests := map[string]struct {
		arguments string
		outcomes  []string // of the asks, the last one first
		want      string
	}{
		"a result":     {askOne, []string{`"result":{"action":"accept"}`}, `[{"action":"accept"}]`},
		"an error":     {askOne, []string{`"error":{"code":-1,"message":"no"}`}, `[{"code":-1,"message":"no"}]`},
		"two at once":  {`"seconds":0,"asks":["elicitation","sampling"],"at_once":true`, []string{`"result":{"n":2}`, `"result":{"n":1}`}, `[{"n":1},{"n":2}]`},
		"one of berth": {`"seconds":0,"asks":["ping"]`, nil, `[{}]`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newSessionRig(t, rigOptions{})
			id := f.errand(test.arguments)
			for n, outcome := range test.outcomes {
				open := f.asks(id, len(test.outcomes)-n)
				if r := f.respond(f.session, open[len(open)-1], outcome); r.status != http.StatusAccepted {
					t.Fatalf("got %v, want 202", r)
				}
			}
			if got := f.answersOf(id); got != test.want {
				t.Errorf("the tool got %s, want %s", got, test.want)
			}
		})
	}
}

// What the server did not take is no answer: its client may try again.
func TestAnswerThatIsRefusedLeavesTheAskOpen(t *testing.T) {
	tests := map[string]struct {
		fault  faultFunc
		status int
	}{
		"refused":        {sayStatus(http.StatusServiceUnavailable, jsonType, `{}`), http.StatusServiceUnavailable},
		"not understood": {sayStatus(http.StatusBadRequest, jsonType, `{}`), http.StatusBadRequest},
		"broken off":     {reset, http.StatusBadGateway},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newSessionRig(t, rigOptions{})
			id := f.errand(askOne)
			ask := f.asks(id, 1)[0]
			f.servers[0].inject(onMethod("", test.fault))
			if r := f.respond(f.session, ask, `"result":{}`); r.status != test.status {
				t.Errorf("got %v, want %d", r, test.status)
			}
			if got := f.status(id); got != "input_required" {
				t.Errorf("got %s, want input_required", got)
			}
			f.servers[0].inject(nil)
			if r := f.respond(f.session, ask, `"result":{}`); r.status != http.StatusAccepted {
				t.Errorf("once more: got %v, want 202", r)
			}
			f.reaches(id, "completed")
		})
	}
}

// A late answer, one to nobody's question and one in a session without tasks go to the
// server as they came: it is the one to say what they are worth.
func TestOtherAnswersPassAsTheyCame(t *testing.T) {
	f := newSessionRig(t, rigOptions{})
	var mu sync.Mutex
	var taken []string
	f.servers[0].inject(func(_ http.ResponseWriter, r *http.Request, body []byte) bool {
		if r.Method == http.MethodPost && methodIn(body) == "" {
			mu.Lock()
			defer mu.Unlock()
			taken = append(taken, string(body))
		}
		return false
	})
	id := f.errand(`"seconds":0,"asks":["elicitation"],"patience":0.01`)
	if got := f.answersOf(id); got != `["timed out"]` {
		t.Fatalf("the tool got %s, want a time-out", got)
	}
	for _, ask := range []string{"0", "77", `"x"`} {
		if r := f.respond(f.session, ask, `"result":{"late": 1.0}`); r.status != http.StatusAccepted {
			t.Errorf("%s: got %v, want 202", ask, r)
		}
	}
	want := `{"jsonrpc":"2.0", "id":0,"result":{"late": 1.0}} {"jsonrpc":"2.0", "id":77,"result":{"late": 1.0}} {"jsonrpc":"2.0", "id":"x","result":{"late": 1.0}}`
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(taken, " "); got != want {
		t.Errorf("the server got %s, want %s", got, want)
	}
}

// Ids of requests are those of one session: the answer to another one's question settles
// nothing here.
func TestAnswerInAnotherSessionSettlesNothing(t *testing.T) {
	f := newSessionRig(t, rigOptions{})
	id := f.errand(askOne)
	ask := f.asks(id, 1)[0]
	if r := f.respond(f.initialize(), ask, `"result":{}`); r.status != http.StatusAccepted {
		t.Fatalf("got %v, want 202", r)
	}
	if got := f.status(id); got != "input_required" {
		t.Errorf("got %s, want input_required", got)
	}
	f.respond(f.session, ask, `"result":{}`)
	f.reaches(id, "completed")
}

// While the store is away an answer finds its way all the same, by the session.
func TestAnswerPassesWithoutTheStore(t *testing.T) {
	f, g, redis := newSessionPair(t)
	g.legacy(f.session, "ping", "") // so that it knows the session
	id := f.errand(askOne)
	ask := f.asks(id, 1)[0]
	redis.Stop()
	r := g.respond(f.session, ask, `"result":{"action":"accept"}`)
	redis.Cont()
	if r.status != http.StatusAccepted {
		t.Errorf("got %v, want 202", r)
	}
	if got := f.answersOf(id); got != `[{"action":"accept"}]` {
		t.Errorf("the tool got %s, want the answer", got)
	}
}

// In a session that has moved the server's numbers bear a tag, also those that tasks/result
// gives. It is off before the answer is compared with what is open.
func TestAnswerInAMovedSessionSettlesItsAsk(t *testing.T) {
	f := newSessionRig(t, reinit(rigOptions{size: 2}))
	f.lose(f.servers[0])
	if r := f.legacy(f.session, "ping", ""); r.status != http.StatusOK {
		t.Fatalf("got %v, want a session that has moved", r)
	}
	id := f.errand(askOne)
	w := f.awaits(f.session, id, "")
	var asked struct {
		ID     json.RawMessage
		Method string
	}
	f.eventually("the question", func() bool {
		for _, m := range w.heard() {
			if _ = json.Unmarshal([]byte(m), &asked); asked.Method == "elicitation/create" {
				return true
			}
		}
		return false
	})
	if r := f.respond(f.session, "0", `"result":{"to":"another"}`); r.status != http.StatusAccepted || f.status(id) != "input_required" {
		t.Errorf("without the tag: got %v, the task is %s", r, f.status(id))
	}
	if r := f.respond(f.session, string(asked.ID), `"result":{"action":"accept"}`); r.status != http.StatusAccepted {
		t.Errorf("with the tag: got %v, want 202", r)
	}
	if got := f.answersOf(id); got != `[{"action":"accept"}]` {
		t.Errorf("the tool got %s, want the answer", got)
	}
}

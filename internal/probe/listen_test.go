package probe_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"berth/internal/mcptest"
	"berth/internal/probe"
)

// subscriptions answer subscriptions/listen in front of a fleet server that has none:
// of the ids that are asked for they acknowledge what agree returns, and after a second
// tell of the end of what tell returns.
type subscriptions struct {
	agree, tell func(ids []string) []string
	silent      bool // holds everything back, as a buffering proxy does
}

func (s subscriptions) intercept(w http.ResponseWriter, r *http.Request, body []byte) bool {
	if r.Header.Get("Mcp-Method") != "subscriptions/listen" {
		return false
	}
	var call struct {
		Params struct {
			Notifications struct {
				TaskIDs []string `json:"taskIds"`
			} `json:"notifications"`
		} `json:"params"`
	}
	_ = json.Unmarshal(body, &call)
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	_ = flush.Flush()
	if !s.silent {
		agreed := s.agree(call.Params.Notifications.TaskIDs)
		ids, _ := json.Marshal(agreed)
		fmt.Fprintf(w, `data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"taskIds":%s}}}`+"\n\n", ids)
		_ = flush.Flush()
		time.Sleep(time.Second)
		for _, id := range s.tell(agreed) {
			io.WriteString(w, `data: {"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"`+id+`","status":"cancelled"}}`+"\n\n")
		}
		_ = flush.Flush()
	}
	<-r.Context().Done()
	return true
}

func all(ids []string) []string { return ids }

func none([]string) []string { return []string{} }

func TestWhatASubscriptionLeavesOutIsLost(t *testing.T) {
	cases := map[string]struct {
		subscriptions
		listened, notified probe.Check // Asked and Lost count
	}{
		"all":        {subscriptions{agree: all, tell: all}, probe.Check{Asked: 15}, probe.Check{Asked: 5}},
		"some":       {subscriptions{agree: func(ids []string) []string { return ids[:2] }, tell: all}, probe.Check{Asked: 15, Lost: 9}, probe.Check{Asked: 2}},
		"not told":   {subscriptions{agree: all, tell: func(ids []string) []string { return ids[1:] }}, probe.Check{Asked: 15}, probe.Check{Asked: 5, Lost: 1}},
		"held back":  {subscriptions{silent: true}, probe.Check{Asked: 5, Lost: 5}, probe.Check{}},
		"no task":    {subscriptions{agree: none, tell: none}, probe.Check{}, probe.Check{}},
		"told twice": {subscriptions{agree: all, tell: func(ids []string) []string { return slices.Concat(ids, ids) }}, probe.Check{Asked: 15}, probe.Check{Asked: 5}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				s := &mcptest.Server{Name: "a", Intercept: c.intercept}
				report := probed(t, s)
				for name, want := range map[string]probe.Check{"listened": c.listened, "notified": c.notified} {
					var got probe.Check
					for _, made := range report.Checks {
						if made.Name == name {
							got = made
						}
					}
					if got.Asked != want.Asked || got.Lost != want.Lost {
						t.Errorf("%s: got %+v, want %d asked, %d lost", name, got, want.Asked, want.Lost)
					}
				}
				if lost := c.listened.Lost+c.notified.Lost > 0; lost != (report.Verdict == probe.Lost) {
					t.Errorf("got %v, want lost: %v", report.Verdict, lost)
				}
			})
		})
	}
}

// Tasks that ended before anybody listened are not told of, and nobody missed anything.
func TestTasksThatEndedBeforeAreNotMissed(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		s := subscriptions{agree: all, tell: none}
		report := probed(t, &mcptest.Server{Name: "a", Intercept: s.intercept}, quick)
		if got := check(t, report, modern, "listened"); got.Asked != 15 || report.Verdict != probe.Clean {
			t.Errorf("got %v and %+v, want clean", report.Verdict, got)
		}
	})
}

// The fleet's own subscriptions tell of the cancelled tasks.
func TestListeningToAFleetServer(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		report := probed(t, &mcptest.Server{Name: "a"})
		if listened, notified := check(t, report, modern, "listened"), check(t, report, modern, "notified"); listened.Asked != 15 || notified.Asked != 5 || notified.Lost != 0 {
			t.Errorf("got %+v and %+v, want all acknowledged and told", listened, notified)
		}
	})
}

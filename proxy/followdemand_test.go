package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/upgrade"
)

const (
	demand      = `"error":{"code":-32021,"message":"Missing required client capability","data":{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}`
	otherDemand = `"error":{"code":-32021,"message":"Missing required client capability","data":{"requiredCapabilities":{"elicitation":{}}}}`
)

// sayDemand refuses a call with 400.
func sayDemand(object string) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		return sayStatus(http.StatusBadRequest, jsonType, response(body, object))(w, r, body)
	}
}

// sayLate is a fault whose answer comes when nobody waits for a refusal any more.
func sayLate(fault faultFunc) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		time.Sleep(time.Second)
		return fault(w, r, body)
	}
}

// demands refuses what does not declare the extension, and else answers as fault does.
func demands(refuse, fault faultFunc) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		if !strings.Contains(string(body), `"extensions":{"io.modelcontextprotocol/tasks":{}}`) {
			return refuse(w, r, body)
		}
		return fault(w, r, body)
	}
}

// A server that takes no call without the Tasks extension is sent it once more, and its task is followed.
func TestAToolThatDemandsTheExtensionIsFollowed(t *testing.T) {
	for name, tc := range map[string]struct {
		rule   func(*upgrade.Rule)
		refuse faultFunc
	}{
		"400": {nil, sayDemand(demand)},
		"200": {nil, func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			return say(jsonType, response(body, demand))(w, r, body)
		}},
		"once the task is made": {nil, sayLate(sayDemand(demand))},
		"as is waited for it":   {afterTenSeconds, sayDemand(demand)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{}, tc.rule)
				f.serves(map[string]faultFunc{
					"tools/call": demands(tc.refuse, sayResult(theirHandle)),
					"tasks/get":  sayResult(theirs("completed", `,"result":`+done)),
				})
				id := f.made("Authorization", "Bearer one")
				time.Sleep(time.Minute)
				if v := f.look(id, "Authorization", "Bearer one"); v.Status != "completed" || string(v.Result) != done || id == "their/ task" {
					t.Errorf("got %+v", v)
				}
				calls := f.seen.of("tools/call")
				if len(calls) != 2 {
					t.Fatalf("%d calls, want 2", len(calls))
				}
				if got := calls[1].header; got.Get("Authorization") != "Bearer one" || got.Get("Mcp-Name") != "work" {
					t.Errorf("sent again with %v", got)
				}
			})
		})
	}
}

// It is sent again once, and for nothing else.
func TestACallIsSentAgainForTheExtensionAlone(t *testing.T) {
	for name, tc := range map[string]struct {
		refusal string
		calls   int
	}{
		"again":   {demand, 2},
		"another": {otherDemand, 1},
	} {
		for when, late := range map[string]bool{"": false, ", late": true} {
			t.Run(name+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newUpgraded(t, rigOptions{}, nil)
					refuse := sayDemand(tc.refusal)
					if late {
						refuse = sayLate(refuse)
					}
					f.serves(map[string]faultFunc{"tools/call": refuse})
					if r := f.callTool(); late {
						if v := f.reaches(f.taskOf(r), "failed"); `"error":`+string(v.Error) != tc.refusal {
							t.Errorf("got %s", v.Error)
						}
					} else if r.status != http.StatusBadRequest || r.code() != -32021 {
						t.Errorf("got %v", r)
					}
					if n := len(f.seen.of("tools/call")); n != tc.calls {
						t.Errorf("%d calls, want %d", n, tc.calls)
					}
				})
			})
		}
	}
}

// A later round may be the first that is refused so; a large refusal is none of these, and reaches the task whole.
func TestALaterRoundDeclaresTheExtension(t *testing.T) {
	long := `"error":{"code":-32602,"message":"` + strings.Repeat("a", 200<<10) + `"}`
	for name, tc := range map[string]struct{ refusal, status string }{"demand": {demand, "completed"}, "large": {long, "failed"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{}, nil)
				asks := sayResult(`{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"?"}}},"requestState":"s"}`)
				later := demands(sayDemand(tc.refusal), sayResult(theirHandle))
				f.serves(map[string]faultFunc{
					"tools/call": func(w http.ResponseWriter, r *http.Request, body []byte) bool {
						if strings.Contains(string(body), `"inputResponses"`) {
							return later(w, r, body)
						}
						return asks(w, r, body)
					},
					"tasks/get": sayResult(theirs("completed", `,"result":`+done)),
				})
				id := f.made()
				f.reaches(id, "input_required")
				f.answer(id, `{"k":{"action":"accept"}}`)
				v := f.reaches(id, tc.status)
				if tc.refusal == long && `"error":`+string(v.Error) != long {
					t.Errorf("got %d bytes", len(v.Error))
				}
			})
		})
	}
}

package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/upgrade"
)

// sayEvents answers with these messages, an event each; ID stands for the request's own id.
func sayEvents(messages ...string) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		var stream strings.Builder
		for _, m := range messages {
			stream.WriteString("data: " + withID(m, body) + "\n\n")
		}
		return say(eventsType, stream.String())(w, r, body)
	}
}

// withID puts the id of the request where a message says ID.
func withID(message string, request []byte) string {
	id := strings.TrimSuffix(strings.TrimPrefix(response(request, ""), `{"jsonrpc":"2.0","id":`), `,}`)
	return strings.NewReplacer(`"id":ID`, `"id":`+id, `"id":"ID"`, `"id":"`+id+`"`).Replace(message)
}

func resultUnder(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":` + done + `}` }

const (
	crossed    = `{"jsonrpc":"2.0","id":"another","result":{"content":[{"type":"text","text":"another caller's"}]}}`
	theirError = `{"jsonrpc":"2.0","id":99,"error":{"code":-32099,"message":"another caller's"}}`
	nobodys    = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"nobody's"}}`
)

// What answers another request is nobody's outcome: on a stream it is passed over, and what
// is no answer at all is a failure.
func TestAnotherCallsAnswerIsNotTheOutcome(t *testing.T) {
	sayBody := func(message string) faultFunc {
		return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			return say(jsonType, withID(message, body))(w, r, body)
		}
	}
	for name, c := range map[string]struct {
		answer faultFunc
		status string // of the task
		says   string // in its outcome
	}{
		"stream, before the right one":   {sayEvents(crossed, theirError, nobodys, resultUnder("ID")), "completed", `"done"`},
		"stream, without the right one":  {sayEvents(crossed, theirError), "failed", "bad_upstream_response"},
		"stream, nobody's":               {sayEvents(nobodys), "failed", "bad_upstream_response"},
		"stream, no id":                  {sayEvents(`{"jsonrpc":"2.0","result":{}}`), "failed", "bad_upstream_response"},
		"stream, a string for a number":  {sayEvents(resultUnder(`"ID"`)), "failed", "bad_upstream_response"},
		"stream, a float for an integer": {sayEvents(resultUnder("ID.0")), "completed", `"done"`},
		"JSON":                           {sayBody(crossed), "failed", "bad_upstream_response"},
		"JSON, an error":                 {sayBody(theirError), "failed", "bad_upstream_response"},
		"JSON, no id":                    {sayBody(`{"jsonrpc":"2.0","result":{}}`), "failed", "bad_upstream_response"},
		"JSON, a string for a number":    {sayBody(resultUnder(`"ID"`)), "failed", "bad_upstream_response"},
		"JSON, nobody's":                 {sayBody(nobodys), "failed", "nobody's"},
		"JSON, a float for an integer":   {sayBody(resultUnder("ID.0")), "completed", `"done"`},
	} {
		for _, after := range []time.Duration{0, 10 * time.Second} {
			t.Run(name+" "+after.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newUpgraded(t, rigOptions{}, func(r *upgrade.Rule) { r.After, r.RefusalGrace = after, 0 })
					f.answers(c.answer)
					r := f.callTool()
					got := r.body
					if after == 0 {
						v := f.reaches(f.taskOf(r), c.status)
						got = string(v.Result) + string(v.Error)
					}
					if !strings.Contains(got, c.says) || strings.Contains(got, "another caller's") {
						t.Errorf("got %s, want %s", got, c.says)
					}
				})
			})
		}
	}
}

// Rounds after the first have ids of their own: the client's is another's then.
func TestALaterRoundTakesNoAnswerToTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, nil)
		f.answers(sayResult(asksForInput), sayEvents(strings.Replace(crossed, `"another"`, "1", 1), crossed, resultUnder("ID")))
		id := f.made()
		f.reaches(id, "input_required")
		f.answer(id, `{"k":{"action":"accept"}}`)
		if v := f.reaches(id, "completed"); string(v.Result) != done {
			t.Errorf("got %+v", v)
		}
		if n := len(f.seen.of("tools/call")); n != 2 {
			t.Errorf("%d rounds", n)
		}
	})
}

// What is asked about a task of the upstream's own is answered under the request's id only.
func TestAFollowedTaskIsNotToldOfUnderAnotherID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, nil)
		f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			task := func(id, status, more string) string {
				return `{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"task","taskId":"theirs","status":"` + status + `"` + more + `}}`
			}
			switch methodIn(body) {
			case "tools/call":
				return sayEvents(task(`"another"`, "working", ""), task("ID", "working", ""))(w, r, body)
			case "tasks/get":
				return sayEvents(task("7", "completed", `,"result":{"content":["another caller's"]}`), task("ID", "completed", `,"result":`+done))(w, r, body)
			}
			return false
		})
		if v := f.reaches(f.made(), "completed"); string(v.Result) != done {
			t.Errorf("got %+v", v)
		}
	})
}

// So it is in sessions, where an error that names no request was the outcome as well.
func TestAnotherCallsAnswerIsNotTheOutcomeInASession(t *testing.T) {
	f := newCoreRig(t, rigOptions{}, nil)
	session := f.initialize()
	id, call := f.made(session)
	call.say(crossed, theirError, nobodys)
	call.ends(`"result":` + done)
	f.reaches(session, id, "completed")
	id, call = f.made(session)
	call.say(nobodys, crossed)
	close(call.says)
	if v := f.reaches(session, id, "failed"); !strings.Contains(v.StatusMessage, "without a response") {
		t.Errorf("got %+v", v)
	}
}

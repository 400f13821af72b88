package bridge

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// refusesAnswers has an upstream answer the first so many answers of clients with a status; -1: all.
func refusesAnswers(u *upstream, status, times int) *upstream {
	u.faults = func(w http.ResponseWriter, r *http.Request, m message) bool {
		if r.Method != http.MethodPost || m.Method != "" || times == 0 {
			return false
		}
		times--
		w.Header().Set("Www-Authenticate", "Bearer x")
		respond(w, status, `{}`)
		return true
	}
	return u
}

func asksItsClient(k *running) { k.ends(k.ask()) }

// An answer that its server does not take at first is brought again, and the tool runs once.
func TestAnAnswerIsBroughtAgain(t *testing.T) {
	for _, status := range []int{429, 500, 502, 503} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			bridged(t, refusesAnswers(tool(kind{}, asksItsClient), status, 2), nil, func(r *rig) {
				first := r.do(asking{name: "asks"})
				if last := r.do(asking{name: "asks", params: first.answers(accepted)}); last.status != 200 || !strings.Contains(last.text, accepted) || r.ran() != 1 {
					t.Errorf("got %d %s, the tool ran %d times", last.status, last.text, r.ran())
				}
			})
		})
	}
}

// What a server does not take in the end, and whom it does not know, is said as it is; the call waits on.
func TestAnAnswerThatIsNotTakenEndsNoCall(t *testing.T) {
	for status, want := range map[int]struct {
		status int
		text   string
	}{401: {401, "credentials"}, 403: {403, "credentials"}, 503: {503, "takes no answer now"}} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			u := refusesAnswers(tool(kind{}, asksItsClient), status, -1)
			bridged(t, u, nil, func(r *rig) {
				first := r.do(asking{name: "asks"})
				began := time.Now()
				got := r.do(asking{name: "asks", params: first.answers(accepted)})
				if got.status != want.status || !strings.Contains(got.text, want.text) || strings.Contains(got.text, "not_executed") || time.Since(began) > 2*tellFor {
					t.Errorf("got %d %s after %v", got.status, got.text, time.Since(began))
				}
				if status == 401 && got.header.Get("Www-Authenticate") != "Bearer x" {
					t.Errorf("challenged with %q", got.header.Get("Www-Authenticate"))
				}
				u.faults = nil
				if last := r.do(asking{name: "asks", params: first.answers(accepted)}); last.status != 200 || r.ran() != 1 {
					t.Errorf("got %d %s, the tool ran %d times", last.status, last.text, r.ran())
				}
			})
		})
	}
}

// A call whose stream has broken while its client was asked, and cannot be resumed, is lost: its client is told at once, whether the server is gone or
// takes the answer still.
func TestAnAnswerToALostCallEndsIt(t *testing.T) {
	for name, isGone := range map[string]bool{"its server is gone": true, "its server lives": false} {
		t.Run(name, func(t *testing.T) {
			var k0 *running
			u := tool(kind{plain: true}, func(k *running) {
				k0 = k
				text, _, answer := k.question("elicitation/create", formAsk)
				k.say(text)
				time.Sleep(time.Second)
				k.progress(1)
				k.ends(k.wait(answer))
			})
			var gone atomic.Bool
			u.faults = func(http.ResponseWriter, *http.Request, message) bool {
				if gone.Load() {
					panic(http.ErrAbortHandler)
				}
				return false
			}
			bridged(t, u, nil, func(r *rig) {
				first := r.do(asking{name: "asks", meta: `,"progressToken":"p"`})
				time.Sleep(time.Minute)
				k0.breakOff()
				gone.Store(isGone)
				r.keeps = isGone // it does not hear that the session is ended
				began := time.Now()
				got := r.do(asking{name: "asks", params: first.answers(accepted), meta: `,"progressToken":"p"`})
				if !strings.Contains(got.text, `"reason":"upstream_reset","retryable":false,"mayHaveExecuted":true`) || time.Since(began) >= tellAgain || r.ran() != 1 {
					t.Errorf("got %d %s after %v, the tool ran %d times", got.status, got.text, time.Since(began), r.ran())
				}
				time.Sleep(time.Minute)
				if told := r.told(); !isGone && (len(told) != 1 || !strings.Contains(told[0], `"accept"`)) {
					t.Errorf("told %v", told)
				}
				gone.Store(false)
			})
		})
	}
}

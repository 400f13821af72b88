package bridge

import (
	"cmp"
	"net/http"
	"strings"
	"testing"
	"time"

	"berth/proxy/bridge/flow"
)

// resumptions are the GETs that went on from an event of a call's stream.
func (r *rig) resumptions() (n int) {
	for _, q := range r.sent("GET") {
		if last := q.header.Get("Last-Event-Id"); last != "" && !strings.HasPrefix(last, "own") {
			n++
		}
	}
	return n
}

// sentAfter is how many streams of calls were asked for behind the event of a number. Behind the last one they are asked for again
// where the server has not yet noticed that nobody reads the one before.
func (r *rig) sentAfter(number string) (n int) {
	for _, q := range r.sent("GET") {
		if last := q.header.Get("Last-Event-Id"); strings.HasSuffix(last, number) && !strings.HasPrefix(last, "own") {
			n++
		}
	}
	return n
}

// A stream that breaks is resumed behind what has come: nothing is told twice, nothing is lost.
func TestAStreamThatBreaksIsResumed(t *testing.T) {
	u := tool(kind{}, func(k *running) {
		for i := range 3 {
			k.progress(i)
			time.Sleep(time.Second)
			k.breakOff()
			time.Sleep(time.Second)
		}
		answer := k.ask()
		k.breakOff()
		time.Sleep(time.Second)
		k.progress(3)
		k.ends(answer)
	})
	bridged(t, u, nil, func(r *rig) {
		first := r.do(asking{name: "asks", meta: `,"progressToken":"p"`})
		if len(first.all) != 4 || first.Result.Type != "input_required" {
			t.Fatalf("got %q", first.all)
		}
		last := r.do(asking{name: "asks", meta: `,"progressToken":"p"`, params: first.answers(accepted)})
		if len(last.all) != 2 || len(last.Result.Got) != 1 || r.ran() != 1 {
			t.Errorf("got %q", last.all)
		}
	})
}

// One that breaks now and then is resumed at once, each time.
func TestAStreamIsResumedAtOnce(t *testing.T) {
	u := tool(kind{}, func(k *running) {
		for i := range 12 {
			k.progress(i)
			time.Sleep(100 * time.Millisecond)
			k.breakOff()
		}
	})
	bridged(t, u, nil, func(r *rig) {
		began := time.Now()
		g := r.do(asking{name: "asks", meta: `,"progressToken":"p"`})
		if took := time.Since(began); len(g.all) != 13 || r.resumptions() != 12 || took > 2*time.Second {
			t.Errorf("got %d messages in %v, resumed %d times", len(g.all), took, r.resumptions())
		}
	})
}

// An answer that has come is not asked for again.
func TestAnAnswerThatHasComeIsNotResumed(t *testing.T) {
	big := `"result":{"content":"` + strings.Repeat("x", 1<<18) + `"}`
	bridged(t, tool(kind{}, func(k *running) { k.result = big }), nil, func(r *rig) {
		for range 10 {
			r.do(asking{name: "asks"})
		}
		if n := r.resumptions(); n != 0 {
			t.Errorf("resumed %d times", n)
		}
	})
}

// A server may end its streams as it likes: it is not asked all the time.
func TestAStreamThatEndsAgainAndAgainIsResumedWithPauses(t *testing.T) {
	u := tool(kind{}, func(k *running) {
		time.Sleep(time.Second)
		k.breakOff()
		time.Sleep(20 * time.Second)
	})
	u.faults = func(w http.ResponseWriter, q *http.Request, m message) bool {
		if last := q.Header.Get("Last-Event-Id"); !strings.HasPrefix(last, "c") || len(u.sent("GET")) > 12 {
			return false
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("id: c1/0\ndata:\n\n"))
		return true
	}
	bridged(t, u, nil, func(r *rig) {
		began := time.Now()
		if g := r.do(asking{name: "asks"}); g.Result.Type != "complete" || time.Since(began) < 10*time.Second {
			t.Errorf("got %s after %v", g.text, time.Since(began))
		}
	})
}

// A server that says for how long it wants to be left alone is.
func TestAStreamIsLeftAloneForAsLongAsItsServerWants(t *testing.T) {
	for _, of := range []string{"c", "own"} {
		t.Run(of, func(t *testing.T) {
			var asked []time.Time
			u := tool(kind{}, func(k *running) {
				time.Sleep(time.Second)
				k.breakOff()
				time.Sleep(20 * time.Second)
			})
			u.faults = func(w http.ResponseWriter, q *http.Request, m message) bool {
				last := q.Header.Get("Last-Event-Id")
				if q.Method != http.MethodGet || !strings.HasPrefix(last, "c") == (of == "c") || len(asked) == 3 {
					return false
				}
				asked = append(asked, time.Now())
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = w.Write([]byte("id: " + cmp.Or(last, "own/0") + "\nretry: 5000\n\n"))
				return true
			}
			bridged(t, u, nil, func(r *rig) {
				if g := r.do(asking{name: "asks"}); g.Result.Type != "complete" {
					t.Fatalf("got %s", g.text)
				}
				if len(asked) != 3 || asked[1].Sub(asked[0]) < 5*time.Second || asked[2].Sub(asked[1]) < 5*time.Second {
					t.Errorf("asked at %v", asked)
				}
			})
		})
	}
}

// Without event ids it is lost, and nothing is sent again.
func TestAStreamWithoutEventIDsIsLost(t *testing.T) {
	u := tool(kind{plain: true}, func(k *running) {
		time.Sleep(time.Second)
		k.breakOff()
		holdsUp(k)
	})
	bridged(t, u, nil, func(r *rig) {
		g := r.do(asking{name: "asks"})
		if g.Error == nil || g.status != http.StatusBadGateway || r.ran() != 1 || r.resumptions() != 0 {
			t.Errorf("got %d %s", g.status, g.text)
		}
		u.forget()
		r.keeps = true
	})
}

// Resumption waits for who reads the stream, and for a server that is not well, but not for ever;
// some refusals are final.
func TestHowLongAStreamIsResumed(t *testing.T) {
	for name, tc := range map[string]struct {
		status  int
		lasts   time.Duration // of that status
		ends    string        // reason; "": it is resumed
		between [2]time.Duration
	}{
		"somebody reads":   {409, time.Minute, "", [2]time.Duration{time.Minute, time.Minute + 3*time.Second}},
		"not well a while": {503, 20 * time.Second, "", [2]time.Duration{20 * time.Second, 24 * time.Second}},
		"not well":         {503, time.Hour, "stream", [2]time.Duration{flow.ResumeFor, flow.ResumeFor + 4*time.Second}},
		"too many":         {429, 5 * time.Second, "", [2]time.Duration{5 * time.Second, 8 * time.Second}},
		"no session":       {404, time.Hour, "session_lost", [2]time.Duration{time.Second, 2 * time.Second}},
		"no such event":    {400, time.Hour, "stream", [2]time.Duration{time.Second, 2 * time.Second}},
		"no resumption":    {405, time.Hour, "stream", [2]time.Duration{time.Second, 2 * time.Second}},
		"not implemented":  {501, time.Hour, "stream", [2]time.Duration{time.Second, 2 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			u := tool(kind{}, func(k *running) {
				time.Sleep(time.Second)
				k.breakOff()
			})
			var since time.Time
			u.faults = func(w http.ResponseWriter, q *http.Request, m message) bool {
				resumes := strings.HasPrefix(q.Header.Get("Last-Event-Id"), "c") || tc.ends == "session_lost" && m.Method == "ping"
				if resumes && since.IsZero() {
					since = time.Now()
				}
				if !resumes || time.Since(since) >= tc.lasts {
					return false
				}
				w.WriteHeader(tc.status)
				return true
			}
			bridged(t, u, nil, func(r *rig) {
				began := time.Now()
				g := r.do(asking{name: "asks"})
				if took := time.Since(began); took < tc.between[0] || took > tc.between[1] {
					t.Errorf("took %v", took)
				}
				if (tc.ends == "") != (g.Error == nil) || g.Error != nil && !strings.Contains(string(g.Error.Data), tc.ends) {
					t.Errorf("got %s", g.text)
				}
				if r.ran() != 1 {
					t.Errorf("the tool ran %d times", r.ran())
				}
			})
		})
	}
}

// Whatever the answer, it ends, and says what it is.
func TestAnswersThatAreNone(t *testing.T) {
	for name, tc := range map[string]struct {
		of     kind
		status int
		say    string
	}{
		"another's":         {of: kind{whole: true}, say: `{"jsonrpc":"2.0","id":"x","result":{}}`},
		"no JSON":           {of: kind{whole: true}, say: `hello`},
		"neither":           {of: kind{whole: true}, say: `{"jsonrpc":"2.0","id":ID}`},
		"neither, streamed": {say: `{"jsonrpc":"2.0","id":ID}`},
		"no JSON, streamed": {say: `{"jsonrpc":`},
	} {
		t.Run(name, func(t *testing.T) {
			u := tool(tc.of, func(k *running) {
				k.say(strings.ReplaceAll(tc.say, "ID", k.id))
				k.result = ""
			})
			bridged(t, u, nil, func(r *rig) {
				if g := r.do(asking{name: "asks"}); g.Error == nil || g.status < 500 {
					t.Errorf("got %d %s", g.status, g.text)
				}
			})
		})
	}
}

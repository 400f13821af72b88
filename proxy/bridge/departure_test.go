package bridge

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/proxy/bridge/held"
	"berth/proxy/bridge/rounds"
)

// goneAfter sends a request whose client hangs up after a while.
func (r *rig) goneAfter(d time.Duration, a asking) {
	r.t.Helper()
	ctx, hangUp := context.WithCancel(r.t.Context())
	time.AfterFunc(d, hangUp)
	response, err := r.send(ctx, a)
	if err == nil {
		_, _ = response.Body.Read(make([]byte, 1))
		<-ctx.Done()
		response.Body.Close()
	}
	synctest.Wait()
}

// holdsUp is a tool that ends when its call is cancelled, or after an hour.
func holdsUp(k *running) {
	select {
	case <-k.ctx.Done():
	case <-time.After(time.Hour):
	}
}

// A server is told why nobody wants the answer to a call any more, before the answer's beginning and after.
func TestAServerIsToldWhyACallIsCancelled(t *testing.T) {
	for cause, want := range map[error]string{
		nil:                  "the client has hung up",
		mcp.ErrCancelled:     "the client has cancelled it",
		errLate:              "it has timed out",
		errors.New("drains"): "it was given up",
	} {
		for name, u := range map[string]*upstream{"stream": tool(kind{}, holdsUp), "no headers": tool(kind{whole: true}, holdsUp)} {
			bridged(t, u, nil, func(r *rig) {
				for _, d := range []time.Duration{time.Second, time.Minute} {
					ctx, end := context.WithCancelCause(r.t.Context())
					time.AfterFunc(d, func() { end(cause) })
					if response, err := r.send(ctx, asking{name: "asks"}); err == nil {
						_, _ = response.Body.Read(make([]byte, 1))
						response.Body.Close()
					}
					synctest.Wait()
				}
				if told := r.sent("notifications/cancelled"); len(told) != 2 || !strings.Contains(told[0].body, want) || !strings.Contains(told[1].body, want) {
					t.Errorf("%s, %v: told %v", name, cause, told)
				}
			})
		}
	}
}

// In the first round a client that hangs up wants no answer, before the answer's beginning and after.
func TestAHangUpInTheFirstRoundCancelsTheCall(t *testing.T) {
	for name, u := range map[string]*upstream{
		"stream":        tool(kind{}, holdsUp),
		"without ids":   tool(kind{plain: true}, holdsUp),
		"no headers":    tool(kind{whole: true}, holdsUp),
		"with progress": tool(kind{}, func(k *running) { k.progress(1); holdsUp(k) }),
	} {
		t.Run(name, func(t *testing.T) {
			bridged(t, u, nil, func(r *rig) {
				for _, d := range []time.Duration{time.Second, time.Minute} {
					r.goneAfter(d, asking{name: "asks", meta: `,"progressToken":1`})
				}
				calls := r.sent("tools/call")
				for i, told := range r.told() {
					if !strings.Contains(told, `"method":"notifications/cancelled"`) || !strings.Contains(calls[i].body, requestID(told)) {
						t.Errorf("told %s", told)
					}
				}
				if told := r.told(); len(told) != 2 {
					t.Errorf("told %v", told)
				}
				if n, open := r.b.has().sessions, r.open(); n != 0 || len(open) != 0 {
					t.Errorf("%d sessions, %v at the server: the calls may go on there", n, open)
				}
			})
		})
	}
}

// requestID is the raw id that a cancellation names.
func requestID(cancelled string) string {
	_, id, _ := strings.Cut(cancelled, `"requestId":`)
	id, _, _ = strings.Cut(id, ",")
	return strings.Trim(id, "}")
}

// In a later round its connection may have broken: it has five seconds to come back.
func TestAHangUpInALaterRoundWaits(t *testing.T) {
	for name, of := range bothKinds {
		t.Run(name, func(t *testing.T) {
			u := tool(of, func(k *running) {
				answer := k.ask()
				select {
				case <-k.ctx.Done():
				case <-time.After(10 * time.Second):
				}
				k.ends(answer)
			})
			bridged(t, u, nil, func(r *rig) {
				first := r.do(asking{name: "asks"})
				began := time.Now()
				for range 2 { // four seconds each time
					r.goneAfter(time.Second, asking{name: "asks", params: first.answers(accepted)})
					time.Sleep(3 * time.Second)
				}
				last := r.do(asking{name: "asks", params: first.answers(accepted)})
				if len(last.Result.Got) != 1 || len(r.sent("notifications/cancelled")) != 0 || time.Since(began) >= 11*time.Second {
					t.Errorf("got %s after %v, told %v", last.text, time.Since(began), r.told())
				}

				gone := r.do(asking{name: "asks"})
				r.goneAfter(time.Second, asking{name: "asks", params: gone.answers(accepted)})
				time.Sleep(held.ComeBack + time.Second)
				if told := r.sent("notifications/cancelled"); len(told) != 1 {
					t.Errorf("told %v", told)
				}
				if late := r.do(asking{name: "asks", params: gone.answers(accepted)}); late.Error == nil || !strings.Contains(string(late.Error.Data), `"given_up","retryable":false,"mayHaveExecuted":true`) {
					t.Errorf("got %d %s", late.status, late.text)
				}
				if r.ran() != 2 {
					t.Errorf("the tool ran %d times", r.ran())
				}
			})
		})
	}
}

// A client that never comes back has its questions cancelled, and its call.
func TestAClientDoesNotComeBack(t *testing.T) {
	for name, of := range bothKinds {
		t.Run(name, func(t *testing.T) {
			u := tool(of, func(k *running) {
				form, _, a := k.question("elicitation/create", formAsk)
				sample, _, _ := k.question("sampling/createMessage", sampleAsk)
				k.say(form)
				k.say(sample)
				k.wait(a)
				holdsUp(k)
			})
			bridged(t, u, func(o *Options) { o.Question = time.Minute }, func(r *rig) {
				if first := r.do(asking{name: "asks"}); len(first.Result.Requests) != 2 {
					r.t.Fatalf("got %s", first.text)
				}
				time.Sleep(time.Minute - time.Second)
				if told := r.told(); len(told) != 0 {
					t.Errorf("too early: %v", told)
				}
				time.Sleep(2 * time.Second)
				told := r.told()
				if len(told) != 3 || !strings.Contains(told[0], `"id":0,"result":{"action":"cancel"}`) || !strings.Contains(told[1], `"id":1,"error":{"code":-32603`) ||
					!strings.Contains(told[2], "notifications/cancelled") || !strings.Contains(r.sent("tools/call")[0].body, requestID(told[2])) {
					t.Errorf("told %v", told)
				}
				time.Sleep(r.b.options().Idle + 2*sweepInterval)
				if open := r.open(); len(open) != 0 {
					t.Errorf("sessions %v are open", open)
				}
			})
		})
	}
}

// One that asks once more for a round that is over does not stop the clock of the one that is not.
func TestAnOldRoundAskedForAgainLeavesTheClockRunning(t *testing.T) {
	u := tool(kind{}, func(k *running) { k.ends(k.ask(), k.ask()) })
	bridged(t, u, func(o *Options) { o.Question = time.Minute }, func(r *rig) {
		first := r.do(asking{name: "asks"})
		r.do(asking{name: "asks", params: first.answers(accepted)})
		again := r.do(asking{name: "asks", params: first.answers(accepted)})
		if again.Result.Type != "input_required" {
			r.t.Fatalf("got %s", again.text)
		}
		time.Sleep(2 * time.Minute)
		if told := r.told(); len(told) != 3 || !slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, `"action":"cancel"`) }) {
			t.Errorf("told %v", told)
		}
	})
}

// A client that is gone while more questions are waited for loses none of them.
func TestAHangUpWhileARoundIsCollected(t *testing.T) {
	for name, of := range bothKinds {
		t.Run(name, func(t *testing.T) {
			u := tool(of, func(k *running) { k.ends(k.ask(), k.ask()) })
			bridged(t, u, nil, func(r *rig) {
				r.goneAfter(rounds.Together/2, asking{name: "asks"})
				if told := r.sent("notifications/cancelled"); len(told) != 1 {
					t.Errorf("in the first round: told %v", told)
				}
				g := r.do(asking{name: "asks"})
				r.goneAfter(rounds.Together/2, asking{name: "asks", params: g.answers(accepted)})
				time.Sleep(time.Second)
				for range 2 {
					g = r.do(asking{name: "asks", params: g.answers(accepted)})
				}
				if len(g.Result.Got) != 2 || r.ran() != 2 {
					t.Errorf("got %s", g.text)
				}
			})
		})
	}
}

// What is asked on the session's own stream while the client is gone waits for it to come back.
func TestAQuestionThatIsAskedMeanwhileWaits(t *testing.T) {
	for name, of := range bothKinds {
		t.Run(name, func(t *testing.T) {
			u := tool(of, func(k *running) {
				first := k.ask()
				time.Sleep(2 * time.Second)
				k.ends(first, k.askAside())
			})
			bridged(t, u, nil, func(r *rig) {
				first := r.do(asking{name: "asks"})
				r.goneAfter(time.Second, asking{name: "asks", params: first.answers(accepted)})
				time.Sleep(3 * time.Second)
				second := r.do(asking{name: "asks", params: first.answers(accepted)})
				last := r.do(asking{name: "asks", params: second.answers(accepted)})
				if want := `"got":[` + accepted + `,` + accepted + `]`; !strings.Contains(last.text, want) {
					t.Errorf("got %s, then %s", second.text, last.text)
				}
			})
		})
	}
}

package webhooks

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp/inquiry"
	"berth/internal/webhook"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// What was answered before its message went out is not told, though the task asks something else by then: that has a message of its own.
func TestWhatWasAnsweredIsNotTold(t *testing.T) {
	for name, call := range map[string]string{"between rounds": "", "in mid-call": "berth-call"} {
		t.Run(name, func(t *testing.T) {
			world(t, func(t *testing.T, s ledger.Store, r *receiver) {
				r.answers = refusing(1, webhook.Answer{Outcome: webhook.Unreachable})
				b := start(t, s, r, settings(nil))
				e := b.make(t, "T1", task.NewsAsked)
				e.Call = call
				ask := func(key string) {
					if call == "" {
						e = b.step(t, e, task.Dispatch, func(op *task.Op) { op.Round = e.Round })
						e = b.step(t, e, task.Pause, func(op *task.Op) {
							op.Round, op.Asks = e.Round, []inquiry.Input{{Key: key, Value: json.RawMessage(`{}`)}}
						})
					} else {
						e = b.step(t, e, task.Open, func(op *task.Op) { op.Round, op.Key, op.Request = e.Round, key, json.RawMessage(`{}`) })
					}
					synctest.Wait()
				}
				if call != "" {
					e = b.step(t, e, task.Dispatch, nil)
				}
				ask("1")
				if call == "" {
					e = b.step(t, e, task.Answer, func(op *task.Op) { op.Answers = []inquiry.Input{{Key: "1", Value: json.RawMessage(`1`)}} })
				} else {
					e = b.step(t, e, task.Settle, func(op *task.Op) { op.Key = "1" })
				}
				ask("2")
				time.Sleep(5 * time.Minute)
				got := r.got()
				if len(got) != 2 || got[0].id == got[1].id || b.left(t) != 0 {
					t.Errorf("got %v, %d stand", got, b.left(t))
				}
			})
		})
	}
}

package proxy_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// A server whose question tells how much time is left asks one thing all the while: the client answers it under the key that it was shown first.
func TestAFollowedQuestionStaysItselfInOtherWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, nil)
		begun := time.Now()
		server := theirState{}
		f.serves(map[string]faultFunc{"tools/call": sayResult(theirHandle), "tasks/update": server.take(1), "tasks/get": func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			if server.says.Load() != nil {
				return server.tell(w, r, body)
			}
			return sayResult(asksFor(form("k", fmt.Sprintf("approve within %v", time.Hour-time.Since(begun).Truncate(time.Second)))))(w, r, body)
		}})
		id := f.made()
		shown := f.reaches(id, "input_required").InputRequests
		time.Sleep(time.Minute)
		now := f.look(id).InputRequests
		for key, before := range shown {
			if len(now) != 1 || now[key] == nil || string(now[key]) == string(before) {
				t.Fatalf("shown %s, and a minute later %s, want the same key with the words of now", shown, now)
			}
			f.answer(id, `{"`+key+`":{"action":"accept"}}`)
		}
		time.Sleep(time.Minute)
		if v := f.look(id); v.Status != "completed" {
			t.Errorf("answered: %+v", v)
		}
	})
}

package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// What tools say is asked for once, in the caller's session, page by page.
func TestToolsAreAskedWhatTheySay(t *testing.T) {
	f := newPartial(t, func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		if strings.Contains(string(body), `"cursor":"2"`) {
			return sayResult(`{"tools":[{"name":"work","execution":{"taskSupport":"optional"}}],"nextCursor":"3"}`)(w, r, body)
		}
		return sayResult(`{"tools":[{"name":"else"}],"nextCursor":"2"}`)(w, r, body)
	})
	for range 3 {
		r := f.do(f.request(t.Context(), http.MethodPost, coreCall(`{}`), "Mcp-Session-Id", "s1", "Authorization", "Bearer x"))
		if !strings.Contains(r.body, plainResult) {
			t.Errorf("got %v", r)
		}
	}
	asked := f.seen.of("tools/list")
	if len(asked) != 2 {
		t.Fatalf("asked %d times", len(asked))
	}
	if string(asked[0].msg.ID) == string(asked[1].msg.ID) {
		t.Errorf("both bear the id %s", asked[0].msg.ID)
	}
	for _, r := range asked {
		if r.header.Get("Mcp-Session-Id") != "s1" || r.header.Get("Authorization") != "Bearer x" || r.header.Get("Mcp-Protocol-Version") != "2025-11-25" || !strings.HasPrefix(string(r.msg.ID), `"berth-`) {
			t.Errorf("asked with %v %s", r.header, r.body)
		}
	}
}

// Where the server has no tasks nothing that its tools say matters, and nobody is asked.
func TestToolsOfAServerWithoutTasksAreNotAsked(t *testing.T) {
	f := newPlain(t, rigOptions{}, nil, sayResult(plainResult))
	f.coreHandle(f.callAsTask(`{}`))
	if n := len(f.seen.of("tools/list")); n != 0 {
		t.Errorf("%d lists", n)
	}
}

// A list that passes is as good, and nobody is asked.
func TestToolsThatWereListedAreNotAsked(t *testing.T) {
	f := newPartial(t, sayResult(`{"tools":[{"name":"work"}]}`))
	f.legacy("s1", "tools/list", "")
	f.coreHandle(f.callAsTask(`{}`))
	if n := len(f.seen.of("tools/list")); n != 1 {
		t.Errorf("%d lists", n)
	}
}

// A list that does not come, or does not end, holds a call up for a moment, once.
func TestToolsThatDoNotSayAreNotWaitedFor(t *testing.T) {
	for name, list := range map[string]faultFunc{
		"silent": sayNothing, "no end": sayResult(`{"tools":[],"nextCursor":"n"}`), "401": sayStatus(401, jsonType, `{}`), "no answer": reset,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newPartial(t, list)
				begun := time.Now()
				f.coreHandle(f.callAsTask(`{}`))
				f.coreHandle(f.callAsTask(`{}`))
				if took := time.Since(begun); took > 2*time.Second {
					t.Errorf("took %v", took)
				}
				asked := len(f.seen.of("tools/list"))
				if asked > 16 {
					t.Errorf("asked for %d pages", asked)
				}
				time.Sleep(time.Minute)
				f.coreHandle(f.callAsTask(`{}`))
				if again := len(f.seen.of("tools/list")); again == asked {
					t.Error("never asked again")
				}
			})
		})
	}
}

// What one caller is refused is no word of the tool for others: a server's own task is not made berth's by it.
func TestAToolThatIsRefusedToOneSaysWhatItSaysToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listed := sayResult(`{"tools":[{"name":"work","execution":{"taskSupport":"required"}}]}`)
		f := newPartial(t, func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			if r.Header.Get("Authorization") != "Bearer good" {
				return sayStatus(401, jsonType, `{}`)(w, r, body)
			}
			return listed(w, r, body)
		})
		f.callAsTask(`{}`, "Authorization", "Bearer bad")
		if r := f.callAsTask(`{}`, "Authorization", "Bearer good"); !strings.Contains(r.body, plainResult) {
			t.Errorf("got %v", r)
		}
	})
}

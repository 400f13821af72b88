package proxy_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

// bad is no character in UTF-8, in which all JSON between systems is (RFC 8259, 8.1).
const bad = "\xff\xfe"

// failsIllegibly holds a task against one whose outcome nobody can read: the tool has run, and
// nothing of what it said is told.
func (f *upgraded) failsIllegibly(id string) {
	f.t.Helper()
	v := f.reaches(id, "failed")
	r := f.poll(id)
	if e := string(v.Error); !strings.Contains(e, `"reason":"bad_upstream_response"`) || !strings.Contains(e, `"mayHaveExecuted":true`) ||
		!utf8.ValidString(r.body) || strings.Contains(r.body, "illegible") {
		f.t.Errorf("got %v", r)
	}
}

func inEvent(outcome string) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		return say(eventsType, "data: "+response(body, outcome)+"\n\n")(w, r, body)
	}
}

func TestOutcomeThatIsNotUTF8FailsTheTask(t *testing.T) {
	for name, outcome := range map[string]string{
		"result":         `"result":{"content":[{"type":"text","text":"illegible` + bad + `"}]}`,
		"a member":       `"result":{"content":[],"illegible` + bad + `":1}`,
		"error":          `"error":{"code":-32000,"message":"illegible` + bad + `"}`,
		"error's data":   `"error":{"code":-32000,"message":"no","data":"illegible` + bad + `"}`,
		"question":       `"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"illegible` + bad + `"}}}}`,
		"half a letter":  `"result":{"content":[],"illegible":"` + "\xc3" + `"}`,
		"a surrogate":    `"result":{"content":[],"illegible":"` + "\xed\xa0\x80" + `"}`,
		"an overlong /":  `"result":{"content":[],"illegible":"` + "\xc0\xaf" + `"}`,
		"beyond Unicode": `"result":{"content":[],"illegible":"` + "\xf4\x90\x80\x80" + `"}`,
	} {
		for shape, answer := range map[string]faultFunc{"event": inEvent(outcome), "JSON": func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			return say(jsonType, response(body, outcome))(w, r, body)
		}} {
			t.Run(name+" "+shape, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newUpgraded(t, rigOptions{}, nil)
					f.answers(answer)
					f.failsIllegibly(f.made())
				})
			})
		}
	}
}

// Escapes of half a character are JSON text like any other, and a byte order mark before a
// body is dropped by readers; alone it is no answer.
func TestOutcomeThatOnlyLooksIllegible(t *testing.T) {
	for name, c := range map[string]struct{ body, status string }{
		"escape":        {`{"jsonrpc":"2.0","id":ID,"result":{"content":[],"x":"\ud800"}}`, "completed"},
		"U+FFFD":        {`{"jsonrpc":"2.0","id":ID,"result":{"content":[],"x":"` + "\ufffd" + `"}}`, "completed"},
		"mark":          {"\ufeff" + `{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}`, "completed"},
		"mark alone":    {"\ufeff", "failed"},
		"mark in UTF16": {"\xff\xfe{\x00}\x00", "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{}, nil)
				f.answers(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
					return say(jsonType, withID(c.body, body))(w, r, body)
				})
				id := f.made()
				f.reaches(id, c.status)
				if r := f.poll(id); !utf8.ValidString(r.body) || strings.Contains(r.body, "\ufeff") {
					t.Errorf("got %v", r)
				}
			})
		})
	}
}

// mark is the byte order mark that some servers begin their bodies with.
const mark = "\ufeff"

func TestErrorAfterAByteOrderMarkIsTheTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, nil)
		const failure = `{"code":-32050,"message":"broke","data":{"a": 1}}`
		f.answers(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			return say(jsonType, mark+response(body, `"error":`+failure))(w, r, body)
		})
		if v := f.reaches(f.made(), "failed"); string(v.Error) != failure {
			t.Errorf("got %s", v.Error)
		}
	})
}

// What is said on the way is dropped, and the call goes on.
func TestProgressThatIsNotUTF8IsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, nil)
		end := make(chan struct{})
		f.answers(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			token := string(f.seen.of("tools/call")[0].msg.Params.Meta["progressToken"])
			_ = say(eventsType, `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+token+`,"progress":1,"message":"illegible`+bad+`"}}`+"\n\n")(w, r, body)
			_ = http.NewResponseController(w).Flush()
			return until(end, inEvent(`"result":`+done))(w, r, body)
		})
		id := f.made()
		time.Sleep(3 * time.Second)
		if v := f.look(id); v.Status != "working" || v.StatusMessage != "" {
			t.Errorf("got %+v", v)
		}
		close(end)
		f.reaches(id, "completed")
	})
}

// The same of a task that an upstream made unasked.
func TestFollowedTaskWhoseOutcomeIsNotUTF8(t *testing.T) {
	for name, more := range map[string]string{
		"completed":      `,"result":{"content":[],"illegible":"` + bad + `"}`,
		"failed":         `,"error":{"code":-32000,"message":"illegible` + bad + `"}`,
		"input_required": `,"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"illegible` + bad + `"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{}, nil)
				f.serves(map[string]faultFunc{
					"tools/call": sayResult(theirHandle),
					"tasks/get":  inTurnSay(theirs("working", `,"statusMessage":"illegible`+bad+`"`), theirs(name, more)),
				})
				id := f.made()
				time.Sleep(700 * time.Millisecond)
				if r := f.poll(id); !utf8.ValidString(r.body) || strings.Contains(r.body, "illegible") {
					t.Errorf("on the way: %v", r)
				}
				v := f.reaches(id, "failed")
				if e := string(v.Error); !strings.Contains(e, `"reason":"bad_upstream_response"`) || !utf8.ValidString(e) || strings.Contains(e, "illegible") {
					t.Errorf("got %s", e)
				}
			})
		})
	}
}

// In a session: neither notifications nor questions reach the client, who could not read
// them, and a server that asks so is told.
func TestLegacyCallThatSaysWhatIsNotUTF8(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		session := f.initialize()
		id, call := f.made(session)
		w := f.awaits(session, id, "")
		call.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"illegible` + bad + `"}}`)
		call.progress(`"progress":1,"message":"illegible` + bad + `"`)
		call.say(`{"jsonrpc":"2.0","id":"ask","method":"elicitation/create","params":{"message":"illegible` + bad + `"}}`)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if v := f.look(session, id); v.Status != "working" || v.StatusMessage != "" {
			t.Errorf("got %+v", v)
		}
		if got := f.tool.answers(); len(got) != 1 || !strings.Contains(got[0], `"id":"ask"`) || !strings.Contains(got[0], "-32700") {
			t.Errorf("the server was told %v", got)
		}
		call.ends(`"result":{"content":[],"illegible":"` + bad + `"}`)
		f.reaches(session, id, "failed")
		time.Sleep(time.Second)
		synctest.Wait()
		if heard := w.heard(); slices.ContainsFunc(heard, func(s string) bool { return strings.Contains(s, "illegible") }) ||
			len(heard) == 0 || !strings.Contains(heard[len(heard)-1], "bad_upstream_response") {
			t.Errorf("heard %q", heard)
		}
	})
}

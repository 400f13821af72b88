package proxy_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// breaksOff begins an answer whose body has an end that does not come.
func breaksOff(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Content-Length", "999")
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","taskId":"t`)
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// oneByOne lets one fault happen after the other.
func oneByOne(faults ...faultFunc) faultFunc {
	next := make(chan faultFunc, len(faults))
	for _, fault := range faults {
		next <- fault
	}
	close(next)
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		fault, ok := <-next
		return ok && fault(w, r, body)
	}
}

// Where an answer to a read breaks off makes no difference: within its body it is as good as none.
func TestAReadWhoseAnswerBreaksOffIsRepeatedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const silence = "does not answer" // in the words of a task as it was last seen
		f := newRig(t, rigOptions{})
		id := f.newTask(3600)
		f.servers[0].inject(onlyOnce(breaksOff))
		if r := f.poll(id); r.message(t).Result == nil || strings.Contains(r.body, silence) {
			t.Errorf("got %d %s, want the owner's answer", r.status, r.body)
		}
		f.servers[0].inject(onlyOnce(breaksOff))
		if r := f.modern("tools/list", "", ""); r.message(t).Result == nil || f.servers[0].Calls("tools/list") != 2 || f.calls("tools/list") != 2 {
			t.Errorf("a list: got %d %s after %d requests", r.status, r.body, f.calls("tools/list"))
		}
		for name, faults := range map[string][]faultFunc{
			"both in the body":       {breaksOff, breaksOff},
			"the first in its head":  {reset, breaksOff},
			"the second in its head": {breaksOff, reset},
		} {
			before := f.calls("tasks/get")
			f.servers[0].inject(oneByOne(faults...))
			if r := f.poll(id); r.status != http.StatusOK || !strings.Contains(r.body, silence) {
				t.Errorf("%s: got %d %s, want the task as last seen", name, r.status, r.body)
			}
			if n := f.calls("tasks/get") - before; n != 2 {
				t.Errorf("%s: %d polls, want 2", name, n)
			}
		}
		f.servers[0].inject(breaksOff)
		f.poll(id, otherCaller...).fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
		before := f.calls("tools/list")
		if r := f.modern("tools/list", "", ""); r.message(t).Result == nil || f.servers[1].Calls("tools/list") != 1 || f.calls("tools/list")-before != 3 {
			t.Errorf("a list: got %d %s after %d requests, want the next instance's", r.status, r.body, f.calls("tools/list")-before)
		}
	})
}

// What may have run is not sent again.
func TestACallWhoseAnswerBreaksOffIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		id := f.newTask(3600)
		f.servers[0].inject(breaksOff)
		for _, c := range [][3]string{{"tools/call", "who", `"name":"who"`}, {"tasks/update", id, byID(id)}, {"tasks/cancel", id, byID(id)}} {
			before := f.calls(c[0])
			f.modern(c[0], c[1], c[2]).fails(t, http.StatusBadGateway, -32603, "bad_upstream_response", false)
			if n := f.calls(c[0]) - before; n != 1 {
				t.Errorf("%s was sent %d times", c[0], n)
			}
		}
	})
}

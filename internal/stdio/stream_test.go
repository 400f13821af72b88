package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"berth/internal/exchange/exchangetest"
	"berth/internal/mcp"
)

func TestStreamIsReadByOneAtATime(t *testing.T) {
	c := newRig(t, "server").open("")
	asking := c.begin("1", "ask", "")
	question := asking.message()
	if response := c.get(asking.last); response.Status != 409 {
		t.Errorf("while it is read: got %d", response.Status)
	}
	first := asking.last
	asking.close()
	again := c.listen("r1-0")
	if m := again.message(); m != question || again.last != first {
		t.Errorf("resumed before the question: got %s %s, want %s %s", again.last, m, first, question)
	}
	again.close()
	again = c.listen(first)
	c.tell(`{"jsonrpc":"2.0","id":` + idOf(t, question) + `,"result":{}}`)
	if got := again.text(); got != "1: {}" {
		t.Errorf("got %q", got)
	}
	if got := c.listen(first).text(); got != "1: {}" {
		t.Errorf("resumed after its end: got %q", got)
	}
}

// A stream that has ended is told again to who has not seen its end, and to nobody else: a client that asks on behind the answer is told that
// there is no stream, and not given an empty one, of which it would take its standing stream to be broken.
func TestNothingFollowsTheLastEventOfAStream(t *testing.T) {
	c := newRig(t, "server").open("")
	for name, body := range map[string]string{"a result": tool("1", "echo", ""), "an error": `{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"none"}}`} {
		answer := c.stream(c.post(body))
		want := answer.text()
		answer.close()
		response := c.get(answer.last)
		if body := exchangetest.ReadAll(t, response); response.Status != 405 || response.Header.Get("Allow") == "" || !strings.Contains(body, "-32000") {
			t.Errorf("%s, after its answer: got %d %s", name, response.Status, body)
		}
		before := strings.TrimSuffix(answer.last, "1") + "0"
		if got := c.listen(before).text(); got != want {
			t.Errorf("%s, after %s: got %q, want %q", name, before, got, want)
		}
	}
}

func TestSecondStandingStreamIsRefused(t *testing.T) {
	c := newRig(t, "server").open("")
	standing := c.listen("")
	if response := c.get(""); response.Status != 409 {
		t.Errorf("got %d, want 409", response.Status)
	}
	c.call("touch", "")
	standing.until("list_changed")
	standing.close()
	c.call("touch", "")
	standing = c.listen(standing.last)
	standing.until("list_changed")
	standing.close()
	c.call("touch", "")
	anew := c.listen("")
	c.call("complete", "")
	if m := anew.message(); !strings.Contains(m, "elicitation/complete") {
		t.Errorf("opened anew: got %s, want nothing of what was said before", m)
	}
}

func TestStreamThatNobodyReadsIsBounded(t *testing.T) {
	c := newRig(t, "server").open("")
	body := strings.Replace(tool("1", "many", ""), `"params":{`, `"params":{"_meta":{"progressToken":1},`, 1)
	response := c.post(body)
	first := make([]byte, 1)
	if _, err := io.ReadFull(response.Body, first); err != nil {
		t.Fatalf("Read: %v", err)
	}
	response.Body.Close()
	c.mu.Lock()
	st := c.sessions[c.session].streams["r1"]
	c.mu.Unlock()
	c.eventually("the call is over", func() bool { _, _, _, ended, _ := st.state(); return !ended.IsZero() })
	if bytes, _, _, _, _ := st.state(); bytes > maxEventBytes {
		t.Errorf("got %d bytes held", bytes)
	}
	resumed := c.listen("r1-0")
	if m := resumed.message(); strings.Contains(m, `"progress":0,`) {
		t.Errorf("got %s, want the oldest forgotten", m)
	}
	if got := resumed.text(); got != "done" {
		t.Errorf("got %q, want the response kept", got)
	}
}

func TestQuestionsOutlastWhatIsForgotten(t *testing.T) {
	st := newStream("r1")
	asked := st.add([]byte(`"a question"`), true)
	held := func() bool {
		for range 2 * maxEvents {
			st.add([]byte(`"progress"`), false)
		}
		next, _, _, _ := st.after(-1)
		return next.number == asked
	}
	if !held() {
		t.Error("the open question is forgotten")
	}
	if st.settle(asked); held() {
		t.Error("the question that was answered is held")
	}
	if len(st.events) != maxEvents {
		t.Errorf("got %d events, want %d", len(st.events), maxEvents)
	}
}

func TestEndedStreamsAreForgotten(t *testing.T) {
	r := newRig(t, "server", func(_ *Options, t *timing) { t.kept, t.sweep = time.Millisecond, time.Millisecond })
	c := r.open("")
	answers := c.begin("1", "echo", "")
	answers.text()
	answers.close()
	r.eventually("the stream is forgotten", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.sessions[c.session].streams) == 0
	})
	if response := c.get("r1-0"); response.Status != 400 {
		t.Errorf("got %d, want 400", response.Status)
	}
}

// What was read to its end goes before what a client may still come back for.
func TestOldestStreamsAreForgottenFirstIfTheyWereRead(t *testing.T) {
	s := &session{streams: map[string]*stream{}, peer: &peer{version: mcp.VersionCoreTasks}}
	unread := s.newStream(1)
	unread.answer([]byte("{}"))
	for range maxKept + 10 {
		st := s.newStream(1)
		st.answer([]byte("{}"))
		r, err := st.read(context.Background(), -1)
		if err != nil {
			t.Fatalf("read: %v", err)
		}
		if _, err := io.ReadAll(r); err != nil {
			t.Fatalf("ReadAll: %v", err)
		}
		r.Close()
		s.forgetStreams(time.Time{})
	}
	if s.streams[unread.name] == nil || len(s.streams) != maxKept || len(s.kept) != maxKept {
		t.Errorf("got %d streams, the unread one there: %v", len(s.streams), s.streams[unread.name] != nil)
	}
}

func TestLargeStreamsAreForgottenSooner(t *testing.T) {
	s := &session{streams: map[string]*stream{}, peer: &peer{}}
	large := []byte(`"` + strings.Repeat("x", 3<<20) + `"`)
	for i := range 3 {
		s.newStream(1).answer(large)
		s.forgetStreams(time.Time{})
		if len(s.streams) != 1 || s.streams[fmt.Sprintf("r%d", i+1)] == nil {
			t.Errorf("after %d: got %d streams", i+1, len(s.streams))
		}
	}
}

func TestReaderEndsWithItsClosing(t *testing.T) {
	st := newStream("g")
	r, err := st.read(context.Background(), -1)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	go r.Close()
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, errStreamClosed) {
		t.Errorf("got %v", err)
	}
	if _, err := st.read(context.Background(), 0); !errors.Is(err, errUnknownEvent) {
		t.Errorf("after an event that is to come: got %v", err)
	}
}

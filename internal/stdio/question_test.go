package stdio

import (
	"strings"
	"testing"
	"time"
)

func TestQuestionGoesToTheCallAndItsAnswerBack(t *testing.T) {
	c := newRig(t, "server").open("")
	asking := c.begin("1", "ask", "")
	question := asking.message()
	answer := `{"jsonrpc":"2.0","id":` + idOf(t, question) + `,"result":{"action":"accept","content":{}}}`
	c.tell(answer)
	c.tell(answer) // dropped
	if got := asking.text(); got != `1: {"action":"accept","content":{}}` {
		t.Errorf("got %q, want the answer, and one execution", got)
	}
	c.tell(answer)
	if got := c.call("pings", ""); got != "{}" {
		t.Errorf("the server's ping: got %q", got)
	}
}

// An answer for which the process has no room is not taken, and the question stays open: it may be given again.
func TestAnswerThatTheProcessDoesNotReadIsNotTaken(t *testing.T) {
	c := newRig(t, "server").open("")
	asking := c.begin("1", "ask", "")
	big := strings.Repeat("z", 1<<20)
	answer := `{"jsonrpc":"2.0","id":` + idOf(t, asking.message()) + `,"result":{"action":"accept","content":{"text":"` + big + `"}}}`
	c.call("deaf", "")
	for c.post(tool("1", "echo", big)).Status == 200 { // until there is no more room
	}
	unknown := `{"jsonrpc":"2.0","id":0,"result":{}}`
	for name, body := range map[string]string{"alone": answer, "in a batch": "[" + unknown + "," + answer + "]"} {
		request := c.request("POST", c.session, "", body)
		request.Header.Set("Mcp-Protocol-Version", "2025-03-26")
		if response := c.reach(request); response.Status != 503 {
			t.Errorf("%s: got %d, want 503", name, response.Status)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.sessions[c.session].asks); n != 1 {
		t.Errorf("%d questions are open, want one", n)
	}
}

func TestOpenQuestionsAreBounded(t *testing.T) {
	c := newRig(t, "server").open("")
	asking := c.begin("1", "interrogate", "")
	for range maxAsks {
		asking.message()
	}
	if got := asking.text(); got != "refused" {
		t.Errorf("got %q", got)
	}
}

func TestErrorIsAnAnswer(t *testing.T) {
	c := newRig(t, "server").open("")
	asking := c.begin("1", "ask", "")
	c.tell(`{"jsonrpc":"2.0","id":` + idOf(t, asking.message()) + `,"error":{"code":-1,"message":"no"}}`)
	if got := asking.text(); got != `1: {"code":-1,"message":"no"}` {
		t.Errorf("got %q", got)
	}
}

func TestQuestionGoesToTheLastCallOfOneSession(t *testing.T) {
	c := newRig(t, "server").open("")
	hanging := c.begin("1", "hang", "")
	hanging.message()
	asking := c.begin("2", "ask", "")
	c.tell(`{"jsonrpc":"2.0","id":` + idOf(t, asking.message()) + `,"result":{}}`)
	if got := asking.text(); got != "1: {}" {
		t.Errorf("got %q", got)
	}
}

func TestQuestionAmongCallsOfSeveralSessionsIsRefused(t *testing.T) {
	r := newRig(t, "server", shared)
	a, b := r.open("a"), r.open("b")
	a.begin("1", "hang", "").message()
	for range 2 {
		if got := b.call("ask", ""); !strings.Contains(got, "cannot tell which of several clients' calls asks") {
			t.Errorf("got %q, want a refusal", got)
		}
	}
	if got := strings.Count(r.log.String(), "calls of several sessions"); got != 1 {
		t.Errorf("the refusal was logged %d times", got)
	}
}

func TestQuestionAboutATaskGoesToWhoWaitsForIt(t *testing.T) {
	r := newRig(t, "server", shared)
	a, b := r.open("a"), r.open("b")
	b.begin("1", "hang", "").message()
	waiting := a.stream(a.post(`{"jsonrpc":"2.0","id":5,"method":"tasks/result","params":{"taskId":"t-1"}}`))
	question := waiting.message()
	if !strings.Contains(question, "of a task") {
		t.Fatalf("got %s", question)
	}
	a.tell(`{"jsonrpc":"2.0","id":` + idOf(t, question) + `,"result":{}}`)
	waiting.text()
}

func TestWithdrawnQuestionBearsTheClientsNumber(t *testing.T) {
	c := newRig(t, "server", func(_ *Options, t *timing) {}).open("")
	c.begin("1", "ask", "").message() // so that the numbers differ
	asking := c.begin("2", "withdraw", "")
	id := idOf(t, asking.message())
	if m := asking.message(); !strings.Contains(m, `"requestId":`+id+"}") {
		t.Errorf("got %s, want it about %s", m, id)
	}
	if got := asking.text(); got != "never mind" {
		t.Errorf("got %q", got)
	}
}

func TestQuestionOutsideACallGoesToTheStandingStream(t *testing.T) {
	c := newRig(t, "roots").open("")
	standing := c.listen("") // which is opened after the question was asked
	question := standing.until("roots/list")
	c.tell(`{"jsonrpc":"2.0","id":` + idOf(t, question) + `,"result":{"roots":[]}}`)
	standing.close()
	c.eventually("the question is settled", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.sessions[c.session].asks) == 0
	})
}

func TestQuestionThatNobodyHearsIsRefused(t *testing.T) {
	c := newRig(t, "roots", func(_ *Options, t *timing) { t.standing = 10 * time.Millisecond }).open("")
	c.eventually("the question is refused", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		session := c.sessions[c.session]
		return c.asked == 1 && len(session.asks) == 0
	})
}

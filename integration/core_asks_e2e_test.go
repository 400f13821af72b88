//go:build e2e

package integration

import (
	"net/http"
	"strings"
	"testing"
)

// askingBerths are three berths before the interactive server, and a session through any
// of them.
func askingBerths(t testing.TB) (*coreBerths, *coreSession) {
	t.Helper()
	c := startCoreBerths(t, 3, legacyServers[0])
	return c, openCore(t, c.any)
}

// Whatever the client says to a question reaches the tool.
func TestAnswersReachTheTool(t *testing.T) {
	t.Parallel()
	c, s := askingBerths(t)
	for action, want := range map[string]string{
		"accept":  "Deleted",
		"decline": "Deletion cancelled",
		"cancel":  "Deletion cancelled",
	} {
		s.reply = map[string]any{"action": action}
		if action == "accept" {
			s.reply = nil
		}
		c.begin(t, s, "confirm_delete", map[string]any{"filename": action}, want).wantDone(t)
	}
	legacyServers[0].wantOnce(t, c.fleet, 3, 0)
}

// A client that refuses to answer is an error to the tool, and what becomes of the call is
// the tool's affair.
func TestRefusalReachesTheTool(t *testing.T) {
	t.Parallel()
	c, s := askingBerths(t)
	call := c.begin(t, s, "confirm_delete", map[string]any{"filename": "refused"}, "")
	end, err := s.ask(c.any(), "tasks/result", map[string]any{"taskId": call.taskID}, func(m coreMessage) {
		refusal := map[string]any{"code": -1, "message": "the user has gone home"}
		s.deliver(t, map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": refusal})
	})
	if err != nil || end.Error == nil || end.Error.Code != -1 || !strings.Contains(end.Error.Message, "gone home") {
		t.Errorf("got %s, %v, %v, want the tool's error", end.Result, end.Error, err)
	}
}

// A question that the tool does not wait for any more is not asked any more; an answer
// that comes too late does no harm.
func TestQuestionThatIsWithdrawnIsNotAsked(t *testing.T) {
	t.Parallel()
	c, s := askingBerths(t)
	call := c.begin(t, s, "confirm_delete", map[string]any{"filename": "late", "patience": 500}, "")
	var question coreMessage
	end, err := s.ask(c.any(), "tasks/result", map[string]any{"taskId": call.taskID}, func(m coreMessage) { question = m })
	if err != nil || end.Error == nil || !strings.Contains(end.Error.Message, "timed out") || question.ID == nil {
		t.Fatalf("got %s, %v, %v, want the question and then the tool's time-out", end.Result, end.Error, err)
	}
	s.answer(t, question)
	again, err := s.ask(c.any(), "tasks/result", map[string]any{"taskId": call.taskID}, func(m coreMessage) {
		t.Errorf("asked again: %s", m.Method)
	})
	if err != nil || again.Error == nil || again.Error.Message != end.Error.Message {
		t.Errorf("got %s, %v, %v, want the same error", again.Result, again.Error, err)
	}
}

// A session that its client ends is refused at once, by all berths; its calls go on to
// their end, whose results another session gets. The server is told when the last is over.
func TestSessionEndsWhenItsCallsAreOver(t *testing.T) {
	t.Parallel()
	c, s := askingBerths(t)
	tool, args, want := computes("outlives", 3)
	slow := c.begin(t, s, tool, args, want)
	asks := c.begin(t, s, "confirm_delete", map[string]any{"filename": "unanswered"}, "")
	c.awaitSeen(t, []coreCall{asks}, "waiting", func(task coreTask) bool { return task.Status == "input_required" })

	if status := s.end(t, c.live[1]); status != http.StatusOK {
		t.Errorf("DELETE: got %d, want 200", status)
	}
	for i, b := range c.live {
		if _, err := s.ask(b, "tools/list", map[string]any{}, nil); err == nil || !strings.Contains(err.Error(), "404") {
			t.Errorf("berth %d: got %v, want the session refused with 404", i, err)
		}
	}
	if got := c.fleet.sum(t, stats.deletes); got != 0 {
		t.Errorf("sessions ended at the server while it runs their calls: got %d, want none", got)
	}
	other := openCore(t, c.any)
	coreCall{other, slow.taskID, want}.wantDone(t)
	if end := other.settle(t, asks.taskID, func() { t.Error("asked in another session") }); end.Error == nil {
		t.Errorf("got %s, want the error of a tool whose question was refused", end.Result)
	}
	if !await(t, readyWithin, func() bool { return c.fleet.sum(t, stats.deletes) == 1 }) {
		t.Errorf("sessions ended at the server: got %d, want 1", c.fleet.sum(t, stats.deletes))
	}
}

// end ends the session.
func (s *coreSession) end(t testing.TB, b *watched) (status int) {
	t.Helper()
	request, err := http.NewRequest(http.MethodDelete, b.url(), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Mcp-Session-Id", s.id)
	request.Header.Set("Mcp-Protocol-Version", coreVersion)
	response, err := s.http.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// Tasks that the server has of its own stay the server's, beside those that its plain
// tools get.
func TestOwnTasksStayTheServers(t *testing.T) {
	t.Parallel()
	for _, rules := range []string{everythingRules, "[[upgrade]]\ntools = [\"*\"]\n"} {
		server := legacyServers[2]
		server.rules = rules
		fleet := server.fleet(t, 3)
		url, _ := server.front(t, fleet, true)
		drive(t, coreTasks, url, 12).wantAllRight(t)
	}
}

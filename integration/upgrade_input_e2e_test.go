//go:build e2e

package integration

import (
	"fmt"
	"net/http"
	"testing"
)

// asksFirst answers the first round of a call with a question, the second one with its
// result.
func (p *plainTool) asksFirst(w http.ResponseWriter, r *http.Request, c toolCall) {
	result := p.result(c.Params.Arguments.Call)
	if c.Params.Answers == nil {
		result = `{"resultType":"input_required","inputRequests":{"sure":{"method":"elicitation/create","params":{"mode":"form","message":"Sure?","requestedSchema":{"type":"object","properties":{}}}}}}`
	}
	says(http.StatusOK, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, c.ID, result))(w, r, c)
}

// A task that waits for its client has no holder: it outlives the berth that asked, and
// goes on at the one that is told the answer. When that one dies, too, the task has failed.
func TestTaskThatWaitsForItsClientOutlivesTheBerthThatAsked(t *testing.T) {
	t.Parallel()
	h := startHolders(t, 3, sharedStore(t), "", heldRules)
	h.tool.answer = h.tool.asksFirst
	tasks := h.hold(t, h.berths[0], 10)
	h.tool.let(names(tasks)...)
	asked := func(_ heldTask, s seen) bool { return s.Status == "input_required" }
	h.awaitEach(t, h.berths[1:], tasks, "asking its client", asked)
	running := h.hold(t, h.berths[0], 1)
	h.berths[0].kill()
	others := h.berths[1:]
	h.awaitLost(t, others, running, true) // so somebody has seen to all that the berth had
	h.awaitEach(t, others, tasks, "asking its client still", asked)

	for _, task := range tasks[:5] {
		h.tell(t, others[0], task)
	}
	h.awaitDone(t, others, tasks[:5])
	h.tool.hold(names(tasks[5:])...)
	for _, task := range tasks[5:] {
		h.tell(t, others[0], task)
	}
	h.tool.awaitRuns(t, 2*len(tasks)+len(running))
	others[0].kill()
	h.awaitLost(t, others[1:], tasks[5:], true)
	h.awaitDone(t, others[1:], tasks[:5])
	for _, task := range tasks {
		if n := h.tool.ran(task.call); n != 2 {
			t.Errorf("rounds of %s: got %d, want two", task.call, n)
		}
	}
}

// tell answers a task's question.
func (h *holders) tell(t testing.TB, b *watched, task heldTask) {
	t.Helper()
	got, err := h.client.send(t, b.url(), "tasks/update", task.id, map[string]any{
		"taskId": task.id, "inputResponses": map[string]any{"sure": map[string]any{"action": "accept", "content": map[string]any{}}},
	})
	if err != nil || got.status != http.StatusOK || got.Error.Code != 0 {
		t.Errorf("answering %s: got %v, %v, want an acknowledgement", task.call, got, err)
	}
}

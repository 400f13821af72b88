package bridge

import (
	"strings"
	"testing"
	"time"
)

const declaresTasks = `{"elicitation":{},"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`

// asksThenTasks is an upstream whose tool asks before it makes a task of its call.
func asksThenTasks(support, first string) *upstream {
	u := tool(kind{
		asks:  first,
		does:  `{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}`,
		lists: `{"tools":[{"name":"asks","inputSchema":{"type":"object"},"execution":{"taskSupport":"` + support + `"}}]}`,
	}, func(k *running) {
		k.ask()
		k.result = `"result":{"task":{"taskId":"core-1","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":90000}}`
	})
	return u
}

// isHandle reports whether an answer hands out a task under an id of berth's.
func (g got) isHandle() bool {
	return g.status == 200 && g.Result.Type == "task" && strings.Contains(g.text, `"taskId":"`) && !strings.Contains(g.text, "core-1")
}

// A tool that asks before it makes its task hands that out as one that does not ask: in whichever round, at whichever berth.
func TestAToolThatAsksFirstHandsOutItsTask(t *testing.T) {
	for _, support := range []string{"required", "optional"} {
		for name, first := range map[string]string{"": "", " of a server that asks at its start": "roots/list"} {
			for _, elsewhere := range []bool{false, true} {
				t.Run(support+name, func(t *testing.T) {
					bridged(t, asksThenTasks(support, first), nil, func(r *rig) {
						r.keeps = true
						by, next := r.b, r.b
						if elsewhere {
							_, by, next, _ = r.join(time.Minute)
						}
						round := r.do(asking{name: "asks", declares: declaresTasks, by: by})
						if first != "" {
							if r.ran() != 0 {
								t.Fatalf("got %s before the server has its answer", round.text)
							}
							round = r.do(asking{name: "asks", declares: declaresTasks, by: by, params: round.answers(rooted)})
						}
						if round.Result.Type != "input_required" || r.ran() != 1 || !strings.Contains(r.sent("tools/call")[0].body, `"task":{}`) {
							t.Fatalf("got %s, the tool ran %d times", round.text, r.ran())
						}
						answer := asking{name: "asks", declares: declaresTasks, by: next, params: round.answers(accepted)}
						if last := r.do(answer); !last.isHandle() {
							t.Errorf("got %d %s", last.status, last.text)
						}
						if again := r.do(answer); !again.isHandle() || r.ran() != 1 {
							t.Errorf("asked again got %d %s, the tool ran %d times", again.status, again.text, r.ran())
						}
					})
				})
			}
		}
	}
}

// A client that does not say in a later round that it knows tasks gets none: the server hears nothing of its answers, which it may
// bring again.
func TestARoundOfAClientThatKnowsNoTasksIsRefused(t *testing.T) {
	for _, first := range []string{"", "roots/list"} {
		bridged(t, asksThenTasks("required", first), nil, func(r *rig) {
			r.keeps = true
			round := r.do(asking{name: "asks", declares: declaresTasks})
			for _, value := range []string{rooted, accepted} {
				if first == "" && value == rooted {
					continue
				}
				told := len(r.sent("answer"))
				params := round.answers(value)
				if refused := r.do(asking{name: "asks", params: params}); refused.status != 400 || refused.Error == nil || refused.Error.Code != -32021 || len(r.sent("answer")) != told {
					t.Errorf("got %d %s, the server was told %v", refused.status, refused.text, r.told())
				}
				round = r.do(asking{name: "asks", declares: declaresTasks, params: params})
			}
			if !round.isHandle() || r.ran() != 1 {
				t.Errorf("got %d %s, the tool ran %d times", round.status, round.text, r.ran())
			}
		})
	}
}

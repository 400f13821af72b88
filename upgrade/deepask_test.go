package upgrade

import (
	"strings"
	"testing"
)

// What a record cannot bear, and be read again, is not asked: the server is told, and its call goes on.
func TestAQuestionThatIsNestedTooDeeplyIsRefused(t *testing.T) {
	for _, c := range []struct {
		deep   int
		status string
	}{{9_995, "input_required"}, {9_996, "working"}, {9_998, "working"}} {
		oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
			id := berths[0].handCore(t, rule(nil), 0)
			soon()
			call := old.call(t, 0)
			call.say(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"x":%s}}`, strings.Repeat("[", c.deep)+strings.Repeat("]", c.deep))
			soon()
			berths[1].statusOf(t, id, c.status)
			if refused := strings.Join(old.posted, ""); strings.Contains(refused, "nested too deeply") != (c.status == "working") {
				t.Errorf("nested %d deep, the server was told %q", c.deep, refused)
			}
			call.answer(`{"content":[]}`)
			soon()
			berths[1].mustState(t, id, Completed)
		})
	}
}

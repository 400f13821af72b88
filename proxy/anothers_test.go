package proxy_test

import (
	"net/http"
	"strings"
	"testing"
)

// A response to another request is given to nobody where berth knows whose it is: what a server says behind one
// answer would else be the next caller's.
func TestAnotherRequestsAnswerIsGivenToNobody(t *testing.T) {
	f := newRig(t, rigOptions{tcp: true, size: 1})
	id := f.newTask(60)
	for what, c := range map[string]struct {
		answer string
		passes bool
	}{
		"its own":          {`{"jsonrpc":"2.0","id":ID,"result":{"resultType":"complete","secret":1}}`, true},
		"its own, a float": {`{"jsonrpc":"2.0","id":ID.0,"result":{"resultType":"complete","secret":1}}`, true},
		"another's":        {`{"jsonrpc":"2.0","id":"another","result":{"resultType":"complete","secret":1}}`, false},
		"another's error":  {`{"jsonrpc":"2.0","id":99,"error":{"code":-32099,"message":"secret"}}`, false},
		"another's task":   {`{"jsonrpc":"2.0","id":99,"result":{"resultType":"task","taskId":"secret","status":"working","ttlMs":null}}`, false},
		"no one's error":   {`{"jsonrpc":"2.0","id":null,"error":{"code":-32099,"message":"secret"}}`, true},
		"without an id":    {`{"jsonrpc":"2.0","result":{"resultType":"complete","secret":1}}`, true},
	} {
		for method, send := range map[string]func() reply{
			"tasks/get":  func() reply { return f.modern("tasks/get", id, byID(id)) },
			"tools/call": func() reply { return f.modern("tools/call", "echo", `"name":"echo","arguments":{}`) },
		} {
			f.servers[0].inject(onMethod(method, func(w http.ResponseWriter, r *http.Request, body []byte) bool {
				return say(jsonType, withID(c.answer, body))(w, r, body)
			}))
			r := send()
			if passed := strings.Contains(r.body, "secret"); passed != c.passes {
				t.Errorf("%s, answered by %s: got %d %s", method, what, r.status, r.body)
			}
			if !c.passes {
				r.fails(t, http.StatusBadGateway, -32603, "bad_upstream_response", false)
			}
			f.servers[0].inject(nil)
		}
	}
}

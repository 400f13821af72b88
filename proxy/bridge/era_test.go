package bridge

import (
	"cmp"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/proxy/bridge/tools"
	"berth/routing/profile"
)

// What an upstream says to server/discover, and then to initialize, tells what it speaks, or nothing.
func TestTheEraIsToldByAnswers(t *testing.T) {
	says := func(status int, body string) func(w http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Www-Authenticate", "Bearer x")
			respond(w, status, body)
		}
	}
	fails := func(code string) string {
		return `{"jsonrpc":"2.0","id":"berth","error":{"code":` + code + `,"message":"no"}}`
	}
	supports := func(version string) string {
		return `{"jsonrpc":"2.0","id":"berth","error":{"code":-32022,"message":"no","data":{"supported":["` + version + `"],"requested":"2026-07-28"}}}`
	}
	const modern = `{"jsonrpc":"2.0","id":"berth","result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":0,"cacheScope":"private"}}`
	lists := func(versions string) string {
		return `{"jsonrpc":"2.0","id":"berth","result":{"resultType":"complete",` + versions + `"capabilities":{}}}`
	}
	silent := func(http.ResponseWriter) { time.Sleep(time.Minute) }
	for name, tc := range map[string]struct {
		discover, initialize func(w http.ResponseWriter) // nil: as a legacy server does
		legacy, modern       bool
		within               time.Duration // 0: any time
	}{
		"a legacy server":          {legacy: true},
		"-32601":                   {discover: says(200, fails("-32601")), legacy: true},
		"405":                      {discover: says(405, ""), legacy: true},
		"a modern one":             {discover: says(200, modern), modern: true},
		"405, -32601":              {discover: says(405, fails("-32601")), legacy: true},
		"422 in words":             {discover: says(422, "Unexpected message, expect initialize request"), legacy: true},
		"404, no session":          {discover: says(404, fails("-32001")), legacy: true},
		"400, -32602":              {discover: says(400, fails("-32602")), legacy: true},
		"400, -32603":              {discover: says(400, fails("-32603")), legacy: true},
		"400 in another's JSON":    {discover: says(400, `{"detail":"no session"}`), legacy: true},
		"406":                      {discover: says(406, ""), legacy: true},
		"410":                      {discover: says(410, ""), legacy: true},
		"428":                      {discover: says(428, "<p>no"), legacy: true},
		"-32602":                   {discover: says(200, fails("-32602")), legacy: true},
		"-32600":                   {discover: says(200, fails("-32600")), legacy: true},
		"-32002":                   {discover: says(200, fails("-32002")), legacy: true},
		"an old version's refusal": {discover: says(400, supports("2025-11-25")), legacy: true},
		"a list without the era":   {discover: says(200, lists(`"supportedVersions":["2025-11-25","2024-11-05"],`)), legacy: true},
		"a list of both":           {discover: says(200, lists(`"supportedVersions":["2025-11-25","2026-07-28"],`)), modern: true},
		"a list with a draft":      {discover: says(200, lists(`"supportedVersions":["2025-11-25","DRAFT-2026-v1"],`)), modern: true},
		"an empty list":            {discover: says(200, lists(`"supportedVersions":[],`)), modern: true},
		"a list that is none":      {discover: says(200, lists(`"supportedVersions":"2025-11-25",`)), modern: true},
		"no list":                  {discover: says(200, lists("")), modern: true},
		"a modern version's":       {discover: says(400, supports("2027-01-01"))},
		"a header it dislikes":     {discover: says(400, fails("-32020"))},
		"a capability it lacks":    {discover: says(400, fails("-32021"))},
		"408":                      {discover: says(408, "")},
		"429":                      {discover: says(429, "")},
		"200, a page":              {discover: says(200, "<p>hello")},
		"401":                      {discover: says(401, "")},
		"403":                      {discover: says(403, fails("-32603"))},
		"500":                      {discover: says(500, fails("-32601"))},
		"503":                      {discover: says(503, "")},
		"silence":                  {discover: silent},
		"401 to initialize":        {initialize: says(401, "")},
		"500 to initialize":        {initialize: says(500, "")},
		"an error to initialize":   {initialize: says(200, fails("-32602"))},
		"no era at all":            {initialize: says(400, fails("-32022"))},
		"silence after initialize": {initialize: silent},
		"a version of the modern era": {initialize: func(w http.ResponseWriter) {
			w.Header().Set(mcp.HeaderSession, "odd")
			respond(w, 200, `{"jsonrpc":"2.0","id":"berth","result":{"protocolVersion":"2099-01-01","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}`)
		}, within: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			u := tool(kind{}, where)
			u.faults = func(w http.ResponseWriter, q *http.Request, m message) bool {
				answer := map[string]func(http.ResponseWriter){"server/discover": tc.discover, "initialize": tc.initialize}[m.Method]
				switch {
				case q.Header.Get(mcp.HeaderVersion) == "2026-07-28" && m.Method == "tools/call":
					respond(w, 501, `{}`) // it came as it is
				case answer != nil:
					answer(w)
				default:
					return false
				}
				return true
			}
			bridged(t, u, nil, func(r *rig) {
				began := time.Now()
				g := r.do(asking{name: "asks"})
				if took := time.Since(began); took > cmp.Or(tc.within, probeTime+time.Second) {
					t.Errorf("took %v", took)
				}
				if ended := r.sent("DELETE"); name == "a version of the modern era" && (len(ended) != 1 || ended[0].session != "odd") {
					t.Errorf("ended %v", ended)
				}
				if speaks, known := r.at.SpeaksModern(); known != (tc.legacy || tc.modern) || speaks != tc.modern {
					t.Errorf("modern: %v, known: %v", speaks, known)
				}
				if want := map[bool]int{true: 200, false: 501}[tc.legacy]; g.status != want {
					t.Errorf("got %d %s", g.status, g.text)
				}
				asked := len(r.sent("server/discover"))
				r.do(asking{name: "asks"})
				if again := len(r.sent("server/discover")) - asked; (again == 0) != (tc.legacy || tc.modern) {
					t.Errorf("asked %d times more", again)
				}
			})
		})
	}
}

// Many at once ask once.
func TestTheEraIsAskedOnce(t *testing.T) {
	u := tool(kind{}, where)
	u.faults = func(_ http.ResponseWriter, _ *http.Request, m message) bool {
		if m.Method == "server/discover" {
			time.Sleep(time.Second)
		}
		return false
	}
	bridged(t, u, nil, func(r *rig) {
		done := make(chan got)
		for range 5 {
			go func() { done <- r.do(asking{name: "asks"}) }()
		}
		for range 5 {
			if g := <-done; g.status != 200 {
				t.Errorf("got %s", g.text)
			}
		}
		if n := len(r.sent("server/discover")); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

// While an upstream is silent about its era, requests that come at the same time wait for that once, and not one after the other.
func TestASilentUpstreamHoldsNobodyUpForLong(t *testing.T) {
	u := tool(kind{}, where)
	u.faults = silentTo("server/discover")
	bridged(t, u, nil, func(r *rig) {
		began := time.Now()
		done := make(chan bool, 10)
		for range cap(done) {
			go func() {
				r.do(asking{name: "asks"})
				done <- true
			}()
		}
		for range cap(done) {
			<-done
		}
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("it took %v", took)
		}
		time.Sleep(time.Minute)
		asked := len(r.sent("server/discover"))
		r.do(asking{name: "asks"})
		if n := len(r.sent("server/discover")); n != asked+1 {
			t.Errorf("later it was asked %d times", n-asked)
		}
	})
}

// Where the question of berth's own was not answered, the answer to the client's tells.
func TestTheEraIsToldByTheClientsDiscover(t *testing.T) {
	for name, answer := range map[string]struct {
		status int
		body   string
		bears  string // what the client's answer does
	}{
		"a list without the era": {200, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2025-11-25"],"capabilities":{}}}`, `"supportedVersions":["2026-07-28"]`},
		"a refusal":              {400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session"}}`, `"supportedVersions":["2026-07-28"]`},
		"a modern server":        {200, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"mine":{}}}}`, `"mine"`},
		"no word":                {503, `{}`, `{}`},
	} {
		u := tool(kind{}, where)
		asked := 0
		u.faults = func(w http.ResponseWriter, _ *http.Request, m message) bool {
			if m.Method != "server/discover" {
				return false
			}
			if asked++; asked == 1 {
				respond(w, 503, `{}`)
			} else {
				respond(w, answer.status, answer.body)
			}
			return true
		}
		bridged(t, u, nil, func(r *rig) {
			if g := r.do(asking{method: "server/discover"}); !strings.Contains(g.text, answer.bears) {
				t.Errorf("%s: got %d %s", name, g.status, g.text)
			}
			if _, known := r.at.SpeaksModern(); known != strings.Contains(answer.bears, "2026-07-28") {
				t.Errorf("%s: known: %v", name, known)
			}
			if asked != 2 {
				t.Errorf("%s: asked %d times", name, asked)
			}
		})
	}
}

// A server that was upgraded refuses the sessions of the old era: what was known is forgotten, and
// the next request finds out.
func TestTheEraIsForgottenWithAContradiction(t *testing.T) {
	u := tool(kind{}, where)
	bridged(t, u, nil, func(r *rig) {
		r.do(asking{name: "asks"})
		u.faults = func(w http.ResponseWriter, q *http.Request, m message) bool {
			switch {
			case m.Method == "server/discover":
				respond(w, 200, `{"jsonrpc":"2.0","id":"berth","result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}}`)
			case q.Header.Get(mcp.HeaderVersion) == "2026-07-28":
				respond(w, 200, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","got":["modern"]}}`)
			default:
				respond(w, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}}`)
			}
			return true
		}
		response, err := r.send(r.t.Context(), asking{name: "asks"})
		if err == nil {
			response.Body.Close()
		}
		if g := r.do(asking{name: "asks"}); g.in() != "modern" {
			t.Errorf("got %d %s", g.status, g.text)
		}
		if _, known := r.at.SpeaksModern(); !known {
			t.Error("the new era is not known")
		}
		r.keeps = true
	})
}

// A method that the server does not know, as it says in plain words, is one that a modern server does not have. No other plain refusal is.
func TestAMethodThatIsNotThereInPlainWords(t *testing.T) {
	for words, want := range map[string][2]int{
		"JSON RPC not handled: \"x/unknown\" unsupported\n": {404, -32601},
		"JSON RPC not handled: \"x/other\" unsupported\n":   {400, -32603},
		"bad request\n": {400, -32603},
	} {
		u := tool(kind{}, where)
		u.faults = func(w http.ResponseWriter, _ *http.Request, m message) bool {
			if m.Method == "x/unknown" {
				http.Error(w, strings.TrimSuffix(words, "\n"), http.StatusBadRequest)
			}
			return m.Method == "x/unknown"
		}
		bridged(t, u, nil, func(r *rig) {
			if g := r.do(asking{method: "x/unknown"}); g.Error == nil || [2]int{g.status, g.Error.Code} != want || !strings.Contains(g.text, `"id":1`) {
				t.Errorf("%q: got %d %s, want %v", words, g.status, g.text, want)
			}
		})
	}
}

// What a modern server owes before it looks at a request.
func TestARequestIsJudgedAsAModernServerDoes(t *testing.T) {
	bridged(t, tool(kind{does: `{"tools":{}}`}, where), nil, func(r *rig) {
		for name, tc := range map[string]struct {
			a            asking
			status, code int
		}{
			"initialize":                {asking{method: "initialize"}, 404, -32601},
			"ping":                      {asking{method: "ping"}, 404, -32601},
			"logging/setLevel":          {asking{method: "logging/setLevel"}, 404, -32601},
			"tasks/list":                {asking{method: "tasks/list"}, 404, -32601},
			"unknown":                   {asking{method: "unknown/method"}, 404, -32601},
			"prompts are not declared":  {asking{method: "prompts/list"}, 404, -32601},
			"two versions":              {asking{method: "tools/list", header: []string{mcp.HeaderVersion, "v9"}}, 400, -32020},
			"another version":           {asking{method: "tools/list", version: "2027-01-01"}, 400, -32022},
			"no name":                   {asking{name: "asks", header: []string{mcp.HeaderName, ""}}, 400, -32020},
			"a name that is not":        {asking{name: "asks", header: []string{mcp.HeaderName, "x"}}, 400, -32020},
			"a method that is not":      {asking{name: "asks", header: []string{mcp.HeaderMethod, "x"}}, 400, -32020},
			"capabilities that are not": {asking{method: "tools/list", declares: "5"}, 400, -32602},
		} {
			if g := r.do(tc.a); g.status != tc.status || g.Error == nil || g.Error.Code != tc.code || !strings.Contains(g.text, `"id":1`) {
				t.Errorf("%s: got %d %s", name, g.status, g.text)
			}
		}
		for _, method := range []string{"ping", "logging/setLevel", "prompts/list", "tasks/list"} {
			if n := len(r.sent(method)); n != 0 {
				t.Errorf("%s reached the server", method)
			}
		}
		if g := r.do(asking{method: "server/discover"}); !strings.Contains(g.text, `"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}`) {
			t.Errorf("got %s", g.text)
		}
	})
}

// rolledBack is an upstream that was a modern server until old is set: from then on it refuses what is of no session so.
func rolledBack(status int, body string) (u *upstream, old *bool) {
	u, old = tool(kind{}, where), new(bool)
	u.faults = func(w http.ResponseWriter, q *http.Request, m message) bool {
		switch {
		case *old && m.Method == "server/discover":
			return false
		case *old && q.Header.Get(mcp.HeaderVersion) == "2026-07-28":
			respond(w, status, body)
		case *old:
			return false
		default:
			respond(w, 200, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"got":["modern"]}}`)
		}
		return true
	}
	return u, old
}

// A modern server that was replaced by one of the legacy era is bridged from its first refusal on. The call that was refused is answered
// over the bridge, unless the refusal leaves open whether its tool has run.
func TestAServerThatIsRolledBackIsBridged(t *testing.T) {
	for name, refusal := range map[string]struct {
		status int
		body   string
		open   bool // whether the tool has run
	}{
		"no session":       {status: 400, body: `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}`},
		"another id":       {status: 400, body: `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Bad Request: Missing session ID"}}`},
		"in words":         {status: 400, body: "Bad Request: Unsupported protocol version (supported versions: 2025-11-25)\n"},
		"a version":        {status: 400, body: `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no","data":{"supported":["2025-11-25"]}}}`},
		"422":              {status: 422, body: "Unexpected message, expect initialize request", open: true},
		"404":              {status: 404, body: `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`, open: true},
		"the call's error": {status: 400, body: `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no session"}}`, open: true},
	} {
		u, old := rolledBack(refusal.status, refusal.body)
		bridged(t, u, nil, func(r *rig) {
			if g := r.do(asking{name: "asks"}); g.in() != "modern" {
				t.Errorf("%s: got %d %s of the modern server", name, g.status, g.text)
			}
			if r.b.Bridges(r.at) || r.b.To(r.at) != r.b.options().Endpoint.Client {
				t.Errorf("%s: what goes to a modern server passes the bridge", name)
			}
			*old = true
			response, err := r.send(r.t.Context(), asking{name: "asks"})
			if err != nil {
				r.t.Fatal(err)
			}
			text, _ := io.ReadAll(response.Body)
			if told := response.Status == refusal.status && string(text) == refusal.body; told != refusal.open || !told && response.Status != 200 {
				t.Errorf("%s: got %d %s to the call that found out", name, response.Status, text)
			}
			response.Body.Close()
			synctest.Wait() // who passes an answer on asks behind it
			if speaks, known := r.at.SpeaksModern(); !known || speaks {
				t.Errorf("%s: modern: %v, known: %v", name, speaks, known)
			}
			asked := len(r.sent("server/discover"))
			if g := r.do(asking{name: "asks"}); g.status != 200 || g.in() == "modern" {
				t.Errorf("%s: got %d %s", name, g.status, g.text)
			}
			if again := len(r.sent("server/discover")) - asked; again != 0 {
				t.Errorf("%s: asked %d times more", name, again)
			}
		})
	}
}

// A modern server's refusals have it asked what it speaks at most once in a while, and pass as they came.
func TestAModernServersRefusalsPass(t *testing.T) {
	const refusal = `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session at the bank"}}`
	for name, tc := range map[string]struct {
		status int
		body   string
		asks   int // whether the server is asked
	}{
		"as of the legacy era": {400, refusal, 1},
		"in words":             {400, "no", 1},
		"a name":               {400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}`, 0},
		"a method":             {404, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`, 0},
		"a header":             {400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"no"}}`, 0},
		"credentials":          {401, "", 0},
		"a failure":            {500, refusal, 0},
		"a tool's error":       {200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no session"}}`, 0},
	} {
		u, refuses := tool(kind{}, where), false
		u.faults = func(w http.ResponseWriter, _ *http.Request, m message) bool {
			if refuses && m.Method == "tools/call" {
				respond(w, tc.status, tc.body)
			} else {
				respond(w, 200, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}}`)
			}
			return true
		}
		bridged(t, u, nil, func(r *rig) {
			r.do(asking{name: "asks"})
			refuses = true
			for round := range 2 {
				asked := len(r.sent("server/discover"))
				for range 5 {
					response, err := r.send(r.t.Context(), asking{name: "asks"})
					if err != nil {
						r.t.Fatal(err)
					}
					text, _ := io.ReadAll(response.Body)
					if response.Status != tc.status || string(text) != tc.body {
						t.Errorf("%s: got %d %s", name, response.Status, text)
					}
					response.Body.Close()
				}
				synctest.Wait()
				if n := len(r.sent("server/discover")) - asked; n != tc.asks {
					t.Errorf("%s, round %d: asked %d times, want %d", name, round, n, tc.asks)
				}
				time.Sleep(doubtsApart)
			}
			if n := len(r.sent("initialize")); n != 0 {
				t.Errorf("%s: %d sessions", name, n)
			}
		})
	}
}

// What its operator says of a server counts, whatever it answers.
func TestAServerThatIsSaidToBeModernIsNotBridged(t *testing.T) {
	u, old := rolledBack(400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session"}}`)
	*old = true
	bridged(t, u, nil, func(r *rig) {
		r.at.Era = profile.SpokenModern
		if g := r.do(asking{name: "asks"}); g.status != 400 || len(r.sent("server/discover")) != 0 {
			t.Errorf("got %d %s, asked %d times", g.status, g.text, len(r.sent("server/discover")))
		}
	})
}

// While a modern server does not say what it speaks, its refusals pass without waiting for that.
func TestRefusalsDoNotWaitForADoubt(t *testing.T) {
	u, refuses := tool(kind{}, where), false
	u.faults = func(w http.ResponseWriter, req *http.Request, m message) bool {
		switch {
		case refuses && m.Method == "tools/call":
			respond(w, 404, "not found")
		case refuses && m.Method == "server/discover":
			<-req.Context().Done()
		default:
			respond(w, 200, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}}`)
		}
		return true
	}
	bridged(t, u, nil, func(r *rig) {
		r.do(asking{name: "asks"})
		refuses = true
		began, asked := time.Now(), len(r.sent("server/discover"))
		for range 6 {
			response, err := r.send(r.t.Context(), asking{name: "asks"})
			if err != nil || response.Status != 404 || time.Since(began) > 0 {
				t.Fatalf("got %+v, %v after %v", response, err, time.Since(began))
			}
			response.Body.Close()
		}
		time.Sleep(2 * probeTime)
		if n := len(r.sent("server/discover")) - asked; n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

// A server whose tools have changed, and whose list fails or hangs from then on, is called as before: one call a minute asks for it.
func TestCallsDoNotWaitForAListThatFails(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		u, lists := tool(kind{lists: `{"tools":[{"name":"asks"}]}`}, where), 0
		bridged(t, u, nil, func(r *rig) {
			r.do(asking{name: "asks"})
			u.faults = func(w http.ResponseWriter, req *http.Request, m message) bool {
				if m.Method != "tools/list" {
					return false
				}
				if lists++; hangs {
					<-req.Context().Done()
				} else {
					w.WriteHeader(http.StatusInternalServerError)
				}
				return true
			}
			time.Sleep(tools.ListAgain)
			r.say(toolsChanged)
			synctest.Wait()
			began := time.Now()
			for range 5 {
				if g := r.do(asking{name: "asks"}); g.status != 200 {
					t.Errorf("hangs %v: got %d %s", hangs, g.status, g.text)
				}
			}
			if d := time.Since(began); lists != 1 || d > 5*time.Second {
				t.Errorf("hangs %v: five calls asked for %d lists and took %v", hangs, lists, d)
			}
		})
	}
}

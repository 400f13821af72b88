package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"berth/internal/identity"
	"berth/internal/realtest"
	"berth/internal/storage/redistest"
	"berth/proxy"
	"berth/routing"
)

// Canaries are secrets that must turn up nowhere.
const (
	canaryToken    = "canary-token-5f1e"
	canaryCookie   = "canary-cookie-77aa"
	canaryArgument = "canary-argument-90cd"
	canaryResult   = "canary-result-31bb"
	canarySession  = "canary-session-c0de"
	canaryUser     = "canary-user-4e4e"
	canaryPassword = "canary-password-b00b"
	canaryQuery    = "canary-query-8d8d"
)

// TestSecretsAppearNowhere: what a caller, an upstream or the configuration holds
// secret is in no access record, log, metric or span, whatever goes wrong.
func TestSecretsAppearNowhere(t *testing.T) {
	hook, audited := new(bomb), newDeeds(t)
	redis := redistest.Start(t, "--requirepass", "another")
	b := start(t, setup{
		store: "redis://user:" + canaryPassword + "@" + redis.Addr + "/0", // refused: the store is away
		handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			switch {
			case strings.Contains(string(body), `"broken"`):
				panic(http.ErrAbortHandler)
			case strings.Contains(string(body), `"nonsense"`):
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, `{"result":{"taskId":"`+canaryResult+`","taskId":"`+canaryResult+`"}}`)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Mcp-Session-Id", canarySession)
			w.Header().Set("Set-Cookie", "s="+canaryCookie)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"content":%q,"resultType":"complete"}}`, canaryResult)
		}),
		pool:    func(o *routing.PoolOptions) { o.Picker = hook },
		options: audited.to,
		endpoint: func(ep *proxy.Endpoint) {
			ep.Identifier = identity.Header(userHeader) // and nobody is trusted to say it
			ep.Router.Principals, ep.Router.Recover = true, true
		},
	})
	misbehave(b, hook)
	realtest.Eventually(t, "all records", func() bool { return strings.Count(b.access.String(), "\n") >= 18 })
	audited.log.Close()
	var spans strings.Builder
	for _, s := range b.spans.Ended() {
		fmt.Fprintf(&spans, "%s %v %v %v\n", s.Name(), s.Attributes(), s.Events(), s.Status())
	}
	for place, text := range map[string]string{
		"access records": b.access.String(), "logs": b.logs.String(), "metrics": dump(t, b.collect()), "spans": spans.String(), "audit log": audited.String(),
	} {
		if len(text) == 0 {
			t.Errorf("%s: nothing was written, so nothing was tested", place)
		}
		for _, canary := range []string{canaryToken, canaryCookie, canaryArgument, canaryResult, canarySession, canaryUser, canaryPassword, canaryQuery} {
			if i := strings.Index(text, canary); i >= 0 {
				t.Errorf("%s: %s in …%s…", place, canary, text[max(0, i-200):min(len(text), i+60)])
			}
		}
	}
	if !strings.Contains(b.logs.String(), "panic while serving") {
		t.Error("no panic was logged, so none was tested")
	}
}

// misbehave sends requests that are full of secrets and go well, wrong, or nowhere.
func misbehave(b *berth, hook *bomb) {
	secrets := []string{
		"Authorization", "Bearer " + canaryToken, "Cookie", "c=" + canaryCookie, "Proxy-Authorization", "Basic " + canaryToken,
		"Mcp-Session-Id", canarySession, userHeader, canaryUser, "Mcp-Param-Key", canaryArgument, "X-Api-Key", canaryToken, "Last-Event-Id", canarySession,
	}
	argument := `"arguments":{"key":"` + canaryArgument + `"}`
	for _, tool := range []string{"fine", "broken", "nonsense", "panic"} {
		hook.armed.Store(tool == "panic")
		b.send(http.MethodPost, "/mcp?key="+canaryQuery, modernMessage("tools/call", `"name":"`+tool+`",`+argument), append(modernHeader("tools/call", tool), secrets...)...)
		b.post(message("tools/call", `"name":"`+tool+`",`+argument), secrets...)
	}
	hook.armed.Store(false)
	b.post(message("initialize", `"protocolVersion":"2025-11-25"`), "Authorization", canaryToken)
	b.modern("tasks/get", "lost", byID("lost"), secrets...)
	b.modern("tools/call", "other", `"name":"mismatch",`+argument, secrets...)
	b.post(message("resources/read", `"uri":"db://u:`+canaryPassword+`@h/?t=`+canaryToken+`"`), "Cookie", canaryCookie)
	b.post(`{"`+canaryArgument+`":1,"`+canaryArgument+`":2}`, secrets...)
	b.post(`[`+canaryArgument, secrets...)
	b.send(http.MethodGet, "/mcp", "", secrets...)
	b.send(http.MethodDelete, "/mcp", "", append(secrets, "Mcp-Session-Id", canarySession)...)
	b.send(http.MethodGet, "/.well-known/x?code="+canaryQuery, "", secrets...)
	b.send(http.MethodPost, "/elsewhere", canaryArgument, secrets...)
	b.raw("POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: " + canaryToken + "\x00\r\n\r\n")
}

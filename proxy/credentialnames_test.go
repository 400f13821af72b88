package proxy_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"berth/proxy"
)

// authenticating are headers that callers authenticate with, or that say who they are.
var authenticating = []string{
	"Authorization", "Proxy-Authorization", "X-Authorization", "X-Serverless-Authorization", "X-Auth", "X-Auth-Key",
	"X-Auth-Token", "Auth-Token", "X-Access-Token", "Access-Token", "X-Session-Token", "X-User-Token", "X-Token",
	"Private-Token", "X-Id-Token", "X-Api-Key", "Api-Key", "X-Apikey", "Apikey", "X-Api-Token", "X-Api-Secret",
	"X-Secret-Key", "X-Client-Secret", "X-Goog-Api-Key", "X-Rapidapi-Key", "X-Functions-Key", "Ocp-Apim-Subscription-Key",
	"X-Amz-Security-Token", "X-Github-Token", "X-Gitlab-Token", "X-Vault-Token", "X-Shopify-Access-Token",
	"Cf-Access-Client-Id", "Cf-Access-Client-Secret", "X-Auth-Request-Access-Token", "Cf-Access-Jwt-Assertion",
	"X-Goog-Iap-Jwt-Assertion", "X-Jwt-Assertion", "X-Amzn-Oidc-Data", "X-Amzn-Oidc-Accesstoken", "X-Ssl-Client-Cert",
	"Openai-Api-Key", "X-Openai-Api-Key", "Dd-Api-Key", "Dd-Application-Key", "X-Mcp-Api-Key", "X-Bearer-Token",
	"X-Oauth-Token", "X-App-Key", "X-Access-Key", "X-Jwt", "X-Zumo-Auth", "X-Arr-Clientcert", "Bearer", "Token", "Secret",
	"X-Auth-Request-Preferred-Username", "X-Authentik-Username", "Tailscale-User-Login",
}

// passing are headers that are of one call, page or hop, though some sound like the others.
var passing = []string{
	"Traceparent", "Tracestate", "Baggage", "X-Request-Id", "X-Correlation-Id", "X-Amzn-Trace-Id", "Dpop", "Signature",
	"X-Csrf-Token", "X-Xsrf-Token", "Csrf-Token", "X-Recaptcha-Token", "X-Page-Token", "X-Ms-Continuation-Token", "Lock-Token",
	"Mcp-Param-Api-Key", "X-Real-Ip", "User-Agent", "Accept-Language", "X-Keytoken", "X-Tokens",
	// These are believed from trusted proxies alone.
	"X-Forwarded-For", "X-Forwarded-Access-Token", "X-Forwarded-Client-Cert", "X-Forwarded-Preferred-Username",
}

// A header counts by what its name says, in whatever spelling.
func TestCredentialsAreKnownByTheirNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, nil)
		f.answers(sayNothing)
		counts := func(name string) bool {
			id := f.made(name, "one")
			if r := f.poll(id, name, "one"); r.code() != 0 {
				t.Errorf("%s: its creator: got %v", name, r)
			}
			another, none := f.poll(id, name, "two").code(), f.poll(id).code()
			if another != none {
				t.Errorf("%s: another's is answered with %d, none with %d", name, another, none)
			}
			return another == unknownTask
		}
		for _, name := range authenticating {
			if !counts(name) {
				t.Errorf("%s does not count", name)
			}
		}
		for _, name := range passing {
			if counts(name) {
				t.Errorf("%s counts", name)
			}
		}
	})
}

// What a trusted proxy says of the caller counts.
func TestTrustedProxysWordOnTheCallerCounts(t *testing.T) {
	f := newUpgraded(t, rigOptions{options: func(o *proxy.Options) { o.TrustedProxies = loopbackPeers }}, nil)
	f.answers(sayNothing)
	for _, name := range []string{"X-Forwarded-Client-Cert", "X-Forwarded-Preferred-Username", "X-Forwarded-Access-Token"} {
		id := f.made(name, "one")
		if mine, anothers := f.poll(id, name, "one").code(), f.poll(id, name, "two").code(); mine != 0 || anothers != unknownTask {
			t.Errorf("%s: the creator is answered with %d, another with %d", name, mine, anothers)
		}
	}
}

// A proxy makes its word on the caller anew for each request: it is the caller's as long as it
// names the same one. An upstream that looks at it is shown to, as at any credential.
func TestAssertionsNameTheCaller(t *testing.T) {
	const name = "X-Goog-Iap-Jwt-Assertion"
	f := newUpgraded(t, rigOptions{}, nil)
	f.servers[0].inject(first(onMethod("tools/call", sayNothing), takesOnly(bears{name + ": " + tokenOf("bob", "2")})))
	id := f.made(name, tokenOf("alice", "1"))
	if r := f.poll(id, name, tokenOf("alice", "2")); r.code() != 0 {
		t.Errorf("alice: got %v", r)
	}
	if r := f.poll(id, name, tokenOf("bob", "2")); r.code() != unknownTask {
		t.Errorf("bob: got %v", r)
	}
	for _, header := range [][]string{nil, {name, "x"}, {name, tokenOf("mallory", "3")}} {
		if r := f.poll(id, header...); r.status != http.StatusUnauthorized {
			t.Errorf("%v: got %v", header, r)
		}
	}
}

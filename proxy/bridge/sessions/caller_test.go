package sessions

import (
	"encoding/base64"
	"net/url"
	"slices"
	"testing"

	"berth/internal/exchange"
	"berth/internal/wire"
)

// token is a JWT that nobody has signed.
func token(claims string) string {
	part := base64.RawURLEncoding.EncodeToString
	return "Bearer " + part([]byte(`{"alg":"RS256"}`)) + "." + part([]byte(claims)) + ".c2ln"
}

// What a caller was given may be brought back with another program, or with a token that was refreshed; not by another caller.
func TestNamesOfACaller(t *testing.T) {
	names := func(principal string, header ...string) []string {
		b := &Borrower{Out: &exchange.Request{URL: &url.URL{}, Caller: principal, Header: wire.NewHeader(header...)}}
		b.Caller = CallerOf(b.Out)
		return b.Names()
	}
	given := names("", "Authorization", token(`{"iss":"i","sub":"s","exp":1}`), "User-Agent", "one", "X-Tenant", "t")[0]
	for name, c := range map[string]struct {
		brings []string
		good   bool
	}{
		"the same":              {[]string{"Authorization", token(`{"iss":"i","sub":"s","exp":1}`), "User-Agent", "one", "X-Tenant", "t"}, true},
		"another program":       {[]string{"Authorization", token(`{"iss":"i","sub":"s","exp":1}`), "User-Agent", "two", "Accept-Language", "lv", "Origin", "https://a", "Sec-Fetch-Mode", "cors", "X-Tenant", "t"}, true},
		"another trace":         {[]string{"Authorization", token(`{"iss":"i","sub":"s","exp":1}`), "X-Tenant", "t", "X-Datadog-Trace-Id", "1", "Sentry-Trace", "2", "X-Amz-Cf-Id", "3", "Dpop", "4"}, true},
		"a balancer's cookie":   {[]string{"Authorization", token(`{"iss":"i","sub":"s","exp":1}`), "X-Tenant", "t", "Cookie", "AWSALB=1; _ga=2"}, true},
		"another cookie":        {[]string{"Authorization", token(`{"iss":"i","sub":"s","exp":1}`), "X-Tenant", "t", "Cookie", "id=1"}, false},
		"a refreshed token":     {[]string{"Authorization", token(`{"iss":"i","sub":"s","exp":2}`), "X-Tenant", "t"}, true},
		"another subject":       {[]string{"Authorization", token(`{"iss":"i","sub":"x","exp":1}`), "X-Tenant", "t"}, false},
		"another issuer":        {[]string{"Authorization", token(`{"iss":"x","sub":"s","exp":1}`), "X-Tenant", "t"}, false},
		"no subject":            {[]string{"Authorization", token(`{"iss":"i","exp":1}`), "X-Tenant", "t"}, false},
		"no token":              {[]string{"X-Tenant", "t"}, false},
		"another tenant":        {[]string{"Authorization", token(`{"iss":"i","sub":"s","exp":1}`), "X-Tenant", "x"}, false},
		"a token's own name":    {[]string{"Authorization", "jwt i s", "X-Tenant", "t"}, false},
		"a token of its own":    {[]string{"Authorization", "Bearer opaque", "X-Tenant", "t"}, false},
		"its token and another": {[]string{"Authorization", token(`{"iss":"i","sub":"s","exp":1}`), "X-Api-Key", "k", "X-Tenant", "t"}, false},
	} {
		if got := slices.Contains(names("", c.brings...), given); got != c.good {
			t.Errorf("%s: good is %v, want %v", name, got, c.good)
		}
	}
	if slices.Contains(names("p", "User-Agent", "one"), names("", "User-Agent", "one")[0]) || !slices.Equal(names("p", "A", "1"), names("p", "A", "2")) {
		t.Error("a principal is not what names its caller")
	}
	// A berth up to 0.10.1 names a caller by all headers.
	if one, two := names("", "User-Agent", "one"), names("", "User-Agent", "two"); len(one) != 2 || one[0] != two[0] || one[1] == two[1] {
		t.Errorf("got %v and %v", one, two)
	}
}

// Sessions are shared by those alone who show the same token: a server may look at it once a session.
func TestSessionsAreNotSharedByARefreshedToken(t *testing.T) {
	caller := func(header ...string) string {
		return CallerOf(&exchange.Request{URL: &url.URL{}, Header: wire.NewHeader(header...)})
	}
	one := caller("Authorization", token(`{"iss":"i","sub":"s","exp":1}`), "User-Agent", "one")
	if caller("Authorization", token(`{"iss":"i","sub":"s","exp":2}`), "User-Agent", "one") == one {
		t.Error("another token shares the session")
	}
	if caller("Authorization", token(`{"iss":"i","sub":"s","exp":1}`), "User-Agent", "two", "X-Datadog-Trace-Id", "1") != one {
		t.Error("another program shares no session")
	}
}

// Callers whose tokens do not reach the upstream are told apart by them all the same, and not by berth's own, which is renewed.
func TestCallersOfTokensThatAreNotSent(t *testing.T) {
	borrower := func(own, digest string) *Borrower {
		b := &Borrower{Out: &exchange.Request{
			URL: &url.URL{}, Header: wire.NewHeader("Authorization", own), Unsent: exchange.Unsent{Authorization: true, Digest: digest},
		}}
		b.Caller = CallerOf(b.Out)
		return b
	}
	alice := borrower("Bearer one", "alice's")
	for name, c := range map[string]struct {
		who  *Borrower
		same bool
	}{
		"another of berth's own": {borrower("Bearer two", "alice's"), true},
		"another's":              {borrower("Bearer one", "bob's"), false},
		"none":                   {borrower("Bearer one", ""), false},
	} {
		if got := c.who.Caller == alice.Caller; got != c.same {
			t.Errorf("%s: sharing sessions is %v", name, got)
		}
		if got := slices.Contains(c.who.Names(), alice.Names()[0]); got != c.same {
			t.Errorf("%s: having what was given is %v", name, got)
		}
	}
}

package proxy_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"berth/internal/storage/redistest"
	"berth/proxy"
)

// token is a JWT of these claims. Its signature is for upstreams to judge, which know those
// that they gave out.
func token(claims, signature string) string {
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"alg":"ES256","typ":"JWT"}`)) + "." + part([]byte(claims)) + "." + part([]byte(signature))
}

func tokenOf(subject, signature string) string {
	return token(`{"iss":"https://issuer.example","sub":"`+subject+`"}`, signature)
}

// bears are headers as a test names them: "Name: value".
type bears []string

func (b bears) header() (header []string) {
	for _, line := range b {
		name, value, _ := strings.Cut(line, ": ")
		header = append(header, name, value)
	}
	return header
}

// takesOnly refuses questions of these methods, none: all but calls, that bear none of the
// credentials.
func takesOnly(credentials bears, methods ...string) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		method := methodIn(body)
		if method == "tools/call" || len(methods) > 0 && !slices.Contains(methods, method) {
			return false
		}
		for _, line := range credentials {
			name, value, _ := strings.Cut(line, ": ")
			for _, have := range r.Header.Values(name) {
				if have == value || name == "Cookie" && strings.Contains(have, value) {
					return false
				}
			}
			if name == "?" && strings.Contains(r.URL.RawQuery, value) {
				return false
			}
		}
		return sayStatus(http.StatusUnauthorized, jsonType, `{}`)(w, r, body)
	}
}

const unknownTask = -32602

// Whose a task is where nobody is told apart: whoever has the credentials that it was made
// with; and who has others that may be the same caller's, as far as can be told from them,
// and that the upstream shows to look at.
func TestWhoIsLetInToATask(t *testing.T) {
	alice, again, bob := "Authorization: Bearer "+tokenOf("alice", "1"), "Authorization: Bearer "+tokenOf("alice", "2"), "Authorization: Bearer "+tokenOf("bob", "3")
	forged := "Authorization: Bearer " + tokenOf("alice", "forged")
	public := func(http.ResponseWriter, *http.Request, []byte) bool { return false }
	for name, c := range map[string]struct {
		made, asks bears
		upstream   faultFunc // what it answers to all but calls
		want       int       // 0: the task is told; else an error's code, or an HTTP status of 400 and more
	}{
		"nobody's, anybody":               {nil, bears{alice}, public, 0},
		"nobody's, garbage":               {nil, bears{"Authorization: Bearer garbage"}, takesOnly(bears{alice}), 0},
		"the same token":                  {bears{alice}, bears{alice}, takesOnly(nil), 0},
		"the same key":                    {bears{"X-Api-Key: one"}, bears{"X-Api-Key: one"}, public, 0},
		"the same key, no discover":       {bears{"X-Api-Key: one"}, bears{"X-Api-Key: one"}, sayStatus(400, jsonType, `{}`), 0},
		"another key, public":             {bears{"X-Api-Key: one"}, bears{"X-Api-Key: two"}, public, unknownTask},
		"another key, taken":              {bears{"X-Api-Key: one"}, bears{"X-Api-Key: two"}, takesOnly(bears{"X-Api-Key: one", "X-Api-Key: two"}), 0},
		"another key, refused":            {bears{"X-Api-Key: one"}, bears{"X-Api-Key: bad"}, takesOnly(bears{"X-Api-Key: one"}), 401},
		"another key, by another name":    {bears{"X-Api-Key: one"}, bears{"Api_key: two"}, public, unknownTask},
		"a key for a token":               {bears{alice}, bears{"X-Api-Key: two"}, takesOnly(bears{alice, "X-Api-Key: two"}), unknownTask},
		"a token for a key":               {bears{"X-Api-Key: one"}, bears{bob}, takesOnly(bears{bob, "X-Api-Key: one"}), unknownTask},
		"no key":                          {bears{"X-Api-Key: one"}, nil, public, unknownTask},
		"no key where one is needed":      {bears{"X-Api-Key: one"}, nil, takesOnly(bears{"X-Api-Key: one"}), 401},
		"no cookie":                       {bears{"Cookie: sid=1"}, nil, public, unknownTask},
		"another cookie, public":          {bears{"Cookie: sid=1"}, bears{"Cookie: sid=2"}, public, unknownTask},
		"another cookie, taken":           {bears{"Cookie: sid=1"}, bears{"Cookie: sid=2"}, takesOnly(bears{"Cookie: sid=1", "Cookie: sid=2"}), 0},
		"cookies in another order":        {bears{"Cookie: a=1; b=2"}, bears{"Cookie: b=2;a=1; a=1"}, public, 0},
		"a balancer's cookie":             {bears{"Cookie: sid=1; AWSALB=x"}, bears{"Cookie: AWSALB=y; AWSALBCORS=y; sid=1"}, public, 0},
		"nothing but a balancer's cookie": {bears{"Cookie: AWSALB=x"}, nil, public, 0},
		"another scheme's case":           {bears{"Authorization: Bearer one"}, bears{"authorization: bearer  one"}, public, 0},
		"the same twice":                  {bears{"X-Api-Key: one"}, bears{"X-Api-Key: one", "x-api-key: one"}, public, 0},
		"one more":                        {bears{"X-Api-Key: one"}, bears{"X-Api-Key: one", "Cookie: sid=1"}, public, unknownTask},
		"a configured header":             {bears{"X-Tenant-Key: one"}, bears{"X-Tenant-Key: two"}, public, unknownTask},
		"a header that is none":           {bears{"X-Custom: one"}, bears{"X-Custom: two"}, public, 0},
		"a refreshed token":               {bears{alice}, bears{again}, takesOnly(bears{alice, again}), 0},
		"a refreshed token, public":       {bears{alice}, bears{again}, public, unknownTask},
		"a refreshed token, no word":      {bears{alice}, bears{again}, sayStatus(503, jsonType, `{}`), 503},
		"a refreshed token, 400 to all":   {bears{alice}, bears{again}, sayStatus(400, jsonType, `{}`), unknownTask},
		"a refreshed token, 404 to all":   {bears{alice}, bears{again}, sayStatus(404, jsonType, `{}`), unknownTask},
		"another's token":                 {bears{alice}, bears{bob}, takesOnly(bears{alice, bob}), unknownTask},
		"another issuer's token":          {bears{alice}, bears{"Authorization: Bearer " + token(`{"iss":"https://other","sub":"alice"}`, "4")}, takesOnly(nil), 401},
		"a forged token":                  {bears{alice}, bears{forged}, takesOnly(bears{alice, bob}), 401},
		"a forged token beside a good key": {
			bears{alice}, bears{forged, "X-Api-Key: bobs"}, takesOnly(bears{alice, "X-Api-Key: bobs"}), unknownTask,
		},
		"a forged token beside a good one": {bears{alice}, bears{forged, bob}, takesOnly(bears{alice, bob}), unknownTask},
		"a forged token beside a good opaque one": {
			bears{alice}, bears{forged, "Authorization: Bearer bobs"}, takesOnly(bears{alice, "Authorization: Bearer bobs"}), unknownTask,
		},
		"a good one in a header of no name": {bears{alice}, bears{forged, "X-Whatever: bobs"}, takesOnly(bears{alice, "X-Whatever: bobs"}), unknownTask},
		"an opaque token for a JWT":         {bears{alice}, bears{"Authorization: Bearer two"}, takesOnly(bears{alice, "Authorization: Bearer two"}), unknownTask},
		"a JWT for an opaque token":         {bears{"Authorization: Bearer one"}, bears{alice}, takesOnly(bears{alice}), unknownTask},
		"opaque for opaque":                 {bears{"Authorization: Bearer one"}, bears{"Authorization: Bearer two"}, takesOnly(bears{"Authorization: Bearer two"}), 0},
		"a JWT without a subject": {
			bears{"Authorization: Bearer " + token(`{"iss":"i"}`, "1")}, bears{"Authorization: Bearer " + token(`{"iss":"i"}`, "2")},
			takesOnly(bears{"Authorization: Bearer " + token(`{"iss":"i"}`, "2")}), unknownTask,
		},
		"a JWT with two subjects": {
			bears{alice}, bears{"Authorization: Bearer " + token(`{"iss":"https://issuer.example","sub":"bob","sub":"alice"}`, "2")},
			takesOnly(bears{"Authorization: Bearer " + token(`{"iss":"https://issuer.example","sub":"bob","sub":"alice"}`, "2")}), unknownTask,
		},
		"the same user's password":     {bears{"Authorization: Basic YWxpY2U6MQ=="}, bears{"Authorization: Basic YWxpY2U6Mg=="}, takesOnly(bears{"Authorization: Basic YWxpY2U6Mg=="}), 0},
		"another user's password":      {bears{"Authorization: Basic YWxpY2U6MQ=="}, bears{"Authorization: Basic Ym9iOjI="}, takesOnly(bears{"Authorization: Basic Ym9iOjI="}), unknownTask},
		"a proxy's user, not believed": {bears{"X-Api-Key: one", "X-Forwarded-User: a"}, bears{"X-Api-Key: one", "X-Forwarded-User: b"}, public, 0},
		"discover is public":           {bears{alice}, bears{again}, takesOnly(bears{alice, again}, "tools/list"), 0},
		"only tasks are looked at":     {bears{alice}, bears{again}, takesOnly(bears{alice, again}, "tasks/get"), 0},
		"discover is public, garbage":  {bears{alice}, bears{forged}, takesOnly(bears{alice}, "tools/list"), 401},
		"refused by an error in a 200": {
			bears{alice}, bears{forged}, first(takesOnly(bears{alice, forged}), sayError(`{"code":-32001,"message":"bad token"}`)), unknownTask,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{options: func(o *proxy.Options) { o.CredentialHeaders = []string{"X-Tenant-Key"} }}, nil)
				f.servers[0].inject(first(onMethod("tools/call", sayNothing), c.upstream))
				id := f.made(c.made.header()...)
				r := f.poll(id, c.asks.header()...)
				got := r.code()
				if r.status >= 400 {
					got = r.status
				}
				if got != c.want || got == 0 && !strings.Contains(r.body, id) {
					t.Errorf("got %v, want %d", r, c.want)
				}
				none := f.poll(neverMade(f), c.asks.header()...)
				if c.want != 0 && none.String() != r.String() {
					t.Errorf("a task that is there is told by %v, one that is not by %v", r, none)
				}
			})
		})
	}
}

// neverMade is an id of berth's own making that names no task.
func neverMade(f *upgraded) string {
	f.t.Helper()
	id := f.made("X-Api-Key", "nobody's")
	f.modern("tasks/cancel", id, byID(id), "X-Api-Key", "nobody's")
	f.eventually("the end of the call", func() bool { return f.tasks.Held() == 1 })
	if err := f.store.Delete(f.t.Context(), "upgrade:{"+id+"}"); err != nil {
		f.t.Fatal(err)
	}
	return id
}

// A key in the query counts as one in a header, wherever it stands.
func TestQueryIsPartOfTheCredentials(t *testing.T) {
	f := newUpgraded(t, rigOptions{}, nil)
	f.answers(sayNothing)
	at := func(query, method, id, params string) reply {
		req := f.modernRequest(t.Context(), method, id, params)
		req.URL.RawQuery = query
		return f.do(req)
	}
	call := at("api_key=one&profile=p", "tools/call", "work", `"name":"work","arguments":{}`)
	id := f.taskOf(call)
	for query, want := range map[string]int{
		"api_key=one&profile=p": 0, "profile=p&api_key=one": 0, "api_key=two&profile=p": unknownTask, "profile=p": unknownTask, "": unknownTask,
	} {
		if r := at(query, "tasks/get", id, byID(id)); r.code() != want {
			t.Errorf("%q: got %v, want %d", query, r, want)
		}
	}
	f.servers[0].inject(first(onMethod("tools/call", sayNothing), takesOnly(bears{"?: api_key=two"})))
	if r := at("api_key=two&profile=q", "tasks/get", id, byID(id)); r.code() != 0 {
		t.Errorf("a key that the upstream takes: %v", r)
	}
}

// An Idempotency-Key is of one set of credentials: nobody is handed a task by knowing the
// key and the arguments.
func TestKeyIsOfOneSetOfCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, nil)
		f.answers(sayNothing)
		made := map[string]string{}
		for _, b := range []bears{nil, {"X-Api-Key: one"}, {"X-Api-Key: two"}, {"Cookie: sid=1"}, {"Cookie: sid=2"}, {"X-Api-Key: one", "Cookie: sid=1"}} {
			id := f.made(append(b.header(), key, "k")...)
			if again := f.made(append(b.header(), key, "k")...); again != id {
				t.Errorf("%v: the repetition made another task", b)
			}
			if other, taken := made[id]; taken {
				t.Errorf("%v was handed the task of %s", b, other)
			}
			made[id] = fmt.Sprint(b)
		}
	})
}

// What a berth of 0.4 has recorded is its creator's, until it expires: it knew callers by
// their Authorization, and by nothing else.
func TestTaskOfAnEarlierBerthIsItsCreators(t *testing.T) {
	f := newUpgraded(t, rigOptions{tcp: true, store: openStore(t, redistest.Start(t).URL())}, nil)
	f.servers[0].inject(first(onMethod("tools/call", sayNothing), takesOnly(bears{"Authorization: Bearer fresh"})))
	id := f.made("Authorization", "Bearer one", "Cookie", "sid=1")
	f.rewrite(id, `"creator":"`, `"creator":"C4TXH9YOLjKLs1nO"`)
	for _, c := range []struct {
		header []string
		want   int
	}{
		{[]string{"Authorization", "Bearer one"}, http.StatusOK},
		{[]string{"Authorization", "Bearer one", "Cookie", "sid=2"}, http.StatusOK},
		{[]string{"Authorization", "Bearer fresh"}, http.StatusOK},
		{[]string{"Authorization", "Bearer two"}, http.StatusUnauthorized},
		{[]string{"Cookie", "sid=1"}, http.StatusUnauthorized},
		{nil, http.StatusUnauthorized},
	} {
		if r := f.poll(id, c.header...); r.status != c.want || r.code() == unknownTask {
			t.Errorf("%v: got %v, want %d", c.header, r, c.want)
		}
	}
}

// rewrite changes the string that begins with from in the record of a task.
func (f *upgraded) rewrite(id, from, to string) {
	f.t.Helper()
	ctx, name := f.t.Context(), "upgrade:{"+id+"}"
	record, err := f.store.Get(ctx, name)
	if err != nil {
		f.t.Fatal(err)
	}
	text := string(record.Value)
	begin := strings.Index(text, from)
	end := begin + len(from) + strings.Index(text[begin+len(from):], `"`) + 1
	if _, err := f.store.Swap(ctx, name, record.Version, []byte(text[:begin]+to+text[end:]), 0); err != nil {
		f.t.Fatal(err)
	}
}

package inbound

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"testing"

	"berth/internal/exchange"
	"berth/internal/wire"
)

// presenting is a request with these headers and the certificate of a key, "" for none, where Authorization goes no further.
func presenting(key string, header ...string) *Call {
	x := &Call{Endpoint: &Endpoint{Authorization: new(Authorization)}, HTTP: &wire.Request{Header: wire.NewHeader(header...)}}
	if key != "" {
		certificate := &x509.Certificate{RawSubjectPublicKeyInfo: []byte(key)}
		x.HTTP.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{certificate}, VerifiedChains: [][]*x509.Certificate{{certificate}}}
	}
	return x
}

func jwtOf(claims string) string {
	part := base64.RawURLEncoding.EncodeToString
	return "Bearer " + part([]byte(`{"alg":"RS256"}`)) + "." + part([]byte(claims)) + ".c2ln"
}

// Callers whom upstreams cannot tell apart are told apart by what they presented.
func TestUnsentTellsCallersApart(t *testing.T) {
	alice := presenting("", "Authorization", jwtOf(`{"iss":"i","sub":"alice","exp":1}`), "X-Other", "1").Unsent()
	for name, c := range map[string]struct {
		x    *Call
		same bool
	}{
		"the same":             {presenting("", "X-Other", "2", "Authorization", jwtOf(`{"iss":"i","sub":"alice","exp":1}`)), true},
		"a token refreshed":    {presenting("", "Authorization", jwtOf(`{"iss":"i","sub":"alice","exp":2}`)), false},
		"another's token":      {presenting("", "Authorization", jwtOf(`{"iss":"i","sub":"bob","exp":1}`)), false},
		"nothing":              {presenting(""), false},
		"a certificate beside": {presenting("key", "Authorization", jwtOf(`{"iss":"i","sub":"alice","exp":1}`)), false},
	} {
		got := c.x.Unsent()
		if (got.Digest == alice.Digest) != c.same || !got.Authorization {
			t.Errorf("%s: got %+v beside %+v", name, got, alice)
		}
	}
	if one, other := presenting("one").Unsent(), presenting("two").Unsent(); one == other {
		t.Errorf("two certificates: got %+v and %+v", one, other)
	}
	user, other := presenting("", "Authorization", "Basic dTpwYXNz").Unsent(), presenting("", "Authorization", "Basic dTpvdGhlcg==").Unsent() // of one name
	if user == other {
		t.Errorf("two passwords: got %+v and %+v", user, other)
	}
	if got := presenting("").Unsent(); got != (exchange.Unsent{Authorization: true}) {
		t.Errorf("nothing: got %+v", got)
	}
}

// Where all that tells who calls goes upstream, or a principal tells it, nothing is looked at.
func TestNothingIsUnsentWhereItIsForwarded(t *testing.T) {
	x := presenting("", "Authorization", "Bearer 1")
	if !x.HasUnsent() {
		t.Error("Authorization is not sent")
	}
	if x.Principal = "p"; x.HasUnsent() {
		t.Error("a principal tells who calls")
	}
	x.Principal, x.Endpoint = "", new(Endpoint)
	if x.HasUnsent() {
		t.Error("Authorization is sent")
	}
	x = presenting("key")
	if x.Endpoint = new(Endpoint); !x.HasUnsent() || x.Unsent().Digest == "" || x.Unsent().Authorization {
		t.Errorf("a certificate is not sent: got %+v", x.Unsent())
	}
}

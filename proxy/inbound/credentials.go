package inbound

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/textproto"
	"slices"
	"strings"

	"berth/internal/identity"
	"berth/internal/seal"
	"berth/internal/wire"
	"berth/upgrade"
)

// credential is one thing that a caller authenticates with.
type credential struct {
	place credentialPlace
	name  string // of the header, cookie or parameter
	value string
	who   string // whom it names; "": nobody who could be compared
	sure  bool   // who is known by berth, and not only by an upstream that looks at it
}

type credentialPlace string

const (
	inHeader      credentialPlace = "header"
	inCookie      credentialPlace = "cookie"
	inQuery       credentialPlace = "query"
	inCertificate credentialPlace = "certificate"
)

// credentialHeaders are the headers, beside Cookie, those whose name says so, and those that
// the configuration names, that callers are known to authenticate with. What changes with each
// request, as a DPoP proof does, is none.
var credentialHeaders = []string{
	"Bearer", "X-Functions-Key", "Fastly-Key", "Cf-Access-Client-Id", "X-Arr-Clientcert", "X-Honeycomb-Team",
}

// credentialWords end the names of headers that callers authenticate with.
var credentialWords = []string{
	"Authorization", "Auth", "Token", "Accesstoken", "Secret", "Password", "Jwt", "Client-Cert",
	"Api-Key", "Apikey", "Access-Key", "App-Key", "Application-Key", "Auth-Key", "Client-Key", "Rapidapi-Key", "Secret-Key",
	"Subscription-Key",
}

// assertionWords end the names of headers in which a proxy in front says who the caller is by a
// JWT, which it makes anew again and again.
var assertionWords = []string{"Jwt-Assertion", "Oidc-Data"}

// passingWords end the names of headers that are of one page, request or step, and so nobody's
// credentials, though some of credentialWords end them as well.
var passingWords = []string{
	"Csrf-Token", "Xsrf-Token", "Captcha-Token", "Recaptcha-Token", "Request-Token", "Verification-Token",
	"Idempotency-Token", "Continuation-Token", "Page-Token", "Progress-Token", "Sync-Token", "Lock-Token", "Trace-Token",
}

// namingHeaders are those by which a proxy in front says who the caller is. Those that
// begin with X-Forwarded- are berth's to believe; the others are its upstreams'.
var namingHeaders = []string{
	"X-Forwarded-User", "X-Forwarded-Email", "X-Forwarded-Preferred-Username",
	"X-Auth-Request-User", "X-Auth-Request-Email", "X-Auth-Request-Preferred-Username", "Remote-User", "X-Remote-User",
	"X-Amzn-Oidc-Identity", "X-Goog-Authenticated-User-Id", "X-Ms-Client-Principal-Id", "X-Authentik-Username",
	"X-Webauth-User", "Tailscale-User-Login", "X-Consumer-Id", "X-Authenticated-Userid",
}

// credentialParameters are the parameters of a query that callers are known to authenticate
// with.
var credentialParameters = []string{
	"access_token", "api_key", "api-key", "apikey", "auth", "auth_token", "authorization", "code", "jwt", "key", "password",
	"secret", "sig", "signature", "subscription-key", "token", "x-api-key",
}

// passingCookies are set by what balances, counts or guards, for whoever comes; some change
// with every answer. They tell nobody apart. A name that ends in "*" stands for all that
// begin with it.
var passingCookies = []string{
	"AWSALB*", "AWSELB", "GCLB", "ARRAffinity*", "BIGipServer*", "SERVERID", "ROUTEID", "INGRESSCOOKIE",
	"__cf_bm", "__cflb", "_cfuvid", "cf_clearance", "_ga*", "_gid", "_gat*",
}

// Credentials are what the caller authenticates with, in no order.
func (x *Call) Credentials() []credential {
	all := credentialsIn(x.HTTP.Header, x.HTTP.URL.RawQuery, x.Settings.CredentialHeaders, x.Trusted)
	if isCertified(x.HTTP) {
		key := certifiedKey(x.HTTP)
		all = append(all, credential{place: inCertificate, value: key, who: key, sure: true})
	}
	return all
}

// isCertified reports whether the caller of a request has a certificate that was verified.
func isCertified(r *wire.Request) bool { return r.TLS != nil && len(r.TLS.VerifiedChains) > 0 }

// certifiedKey is a digest of the key in the caller's certificate, which a renewal may keep.
func certifiedKey(r *wire.Request) string {
	key := sha256.Sum256(r.TLS.PeerCertificates[0].RawSubjectPublicKeyInfo)
	return string(key[:])
}

// credentialsIn are those in the header and query of a request. counted are more headers that are some; trusted says that whoever sent
// it is believed about others.
func credentialsIn(h *wire.Header, query string, counted []string, trusted bool) (all []credential) {
	for _, f := range h.Fields() {
		if !usualOfNobody[f.Usual] || slices.Contains(counted, f.Name) {
			all = append(all, inLine(f.Name, f.Value, counted, trusted)...)
		}
	}
	for pair := range strings.SplitSeq(query, "&") {
		if pair != "" {
			all = append(all, inPair(inQuery, pair))
		}
	}
	return all
}

// DigestOfCredentials is equal for requests on their way upstream that bear the same credentials, in whatever order; "" is for none.
func DigestOfCredentials(h *wire.Header, query string, counted []string) string {
	return digestOfSet(valuesOf(credentialsIn(h, query, counted, true)))
}

func valuesOf(all []credential) (values []string) {
	for _, c := range all {
		values = append(values, Joined(string(c.place), c.name, c.value))
	}
	return values
}

// usualOfNobody are usual headers that callers do not authenticate with, unless the configuration names one.
var usualOfNobody = wire.UsualsThat(func(name string) bool {
	return meantBy(name) == name && name != "Cookie" && !slices.Contains(namingHeaders, name) && !isCredential(name)
})

// inLine are the credentials in one line of the header.
func inLine(name, value string, counted []string, trusted bool) []credential {
	name, value = meantBy(name), textproto.TrimString(value)
	switch {
	case value == "", IsForwarding(name) && !trusted:
		return nil // says nothing, or is not believed
	case name == "Cookie":
		return inCookies(value)
	case slices.Contains(namingHeaders, name):
		return []credential{{place: inHeader, name: name, value: value, who: value, sure: IsForwarding(name)}}
	case slices.Contains(counted, name), isCredential(name):
		c := credential{place: inHeader, name: name}
		c.value, c.who = readHeader(name, value)
		return []credential{c}
	}
	return nil
}

// protocolsOwn begins the names of the protocol's own headers.
const protocolsOwn = "Mcp-"

// isCredential reports whether a header's name says that callers authenticate with it. The
// protocol's own headers mirror the call, whatever its arguments are called.
func isCredential(name string) bool {
	return !strings.HasPrefix(name, protocolsOwn) &&
		(endsIn(name, credentialWords) && !endsIn(name, passingWords) || endsIn(name, assertionWords))
}

// endsIn reports whether one of the words is a name, or ends it.
func endsIn(name string, words []string) bool {
	for _, word := range words {
		if len(name) < len(word) || name[len(name)-1] != word[len(word)-1] {
			continue // as most are: none is compared for that
		}
		begin, found := strings.CutSuffix(name, word)
		if found && (begin == "" || begin[len(begin)-1] == '-') {
			return true
		}
	}
	return false
}

// CountedHeaders are the well-known headers and more.
func CountedHeaders(more []string) []string {
	all := slices.Clone(credentialHeaders)
	for _, name := range more {
		all = append(all, meant(name))
	}
	return all
}

// meant is the name that servers read in a header's: to many of them underscores are dashes.
func meant(name string) string {
	return textproto.CanonicalMIMEHeaderKey(strings.ReplaceAll(name, "_", "-"))
}

// meantBy is meant of a header's name, which is canonical.
func meantBy(header string) string {
	if strings.IndexByte(header, '_') < 0 {
		return header
	}
	return meant(header)
}

func inCookies(line string) (all []credential) {
	for pair := range strings.SplitSeq(line, ";") {
		if pair = textproto.TrimString(pair); pair == "" {
			continue
		}
		if c := inPair(inCookie, pair); !isPassing(c.name) {
			all = append(all, c)
		}
	}
	return all
}

// WithoutPassingCookies is h, or a copy, in which no cookie tells nobody apart.
func WithoutPassingCookies(h *wire.Header) *wire.Header {
	if !h.Has("Cookie") {
		return h
	}
	own := h.Clone()
	own.Del("Cookie")
	for line := range h.Values("Cookie") {
		for _, c := range inCookies(line) {
			own.Add("Cookie", c.name+"="+c.value)
		}
	}
	return own
}

func isPassing(cookie string) bool {
	return slices.ContainsFunc(passingCookies, func(p string) bool {
		begin, more := strings.CutSuffix(p, "*")
		return cookie == begin || more && strings.HasPrefix(cookie, begin)
	})
}

// inPair is the credential in a cookie or a parameter, NAME=VALUE.
func inPair(place credentialPlace, pair string) credential {
	name, value, _ := strings.Cut(pair, "=")
	c := credential{place: place, name: name, value: value}
	_, c.who = read(value)
	return c
}

// readHeader is read of a line of the header. What asserts who the caller is counts as that
// name, as in namingHeaders.
func readHeader(name, value string) (canonical, who string) {
	canonical, who = read(value)
	if who != "" && endsIn(name, assertionWords) {
		canonical = who
	}
	return canonical, who
}

// jwtName begins whom a JWT names.
const jwtName = "jwt"

// read returns a value in one spelling, and whom it names. A scheme is the same in any case
// (RFC 9110, 11.1). A JWT without issuer or subject names itself: only the same one is the
// same caller's.
func read(value string) (canonical, who string) {
	scheme, token, two := strings.Cut(value, " ")
	if !two {
		scheme, token = "", value
	}
	scheme, token = strings.ToLower(scheme), strings.Trim(token, " \t")
	canonical = scheme + " " + token
	if issuer, subject, isJWT, whole := identity.Named(token); isJWT {
		if !whole {
			return canonical, token
		}
		return canonical, Joined(jwtName, issuer, subject)
	}
	if scheme == "basic" {
		return canonical, basicUser(token)
	}
	return canonical, ""
}

// basicUser is the user of a Basic credential (RFC 7617), "" if there is none.
func basicUser(token string) string {
	pair, err := base64.StdEncoding.DecodeString(token)
	user, _, found := strings.Cut(string(pair), ":")
	if err != nil || !found {
		return ""
	}
	return Joined("basic", user)
}

// Joined is equal for equal parts only.
func Joined(parts ...string) string {
	var all []byte
	for _, part := range parts {
		all = append(binary.BigEndian.AppendUint32(all, uint32(len(part))), part...)
	}
	return string(all)
}

// Digests are those of the credentials: order and repetition make no other caller of one.
func (x *Call) Digests() upgrade.Credentials {
	var names []string
	all := x.Credentials()
	for _, c := range all {
		if c.who != "" {
			names = append(names, Joined(string(c.place), c.name, c.who))
		}
	}
	d := upgrade.Credentials{All: digestOfSet(valuesOf(all)), Named: digestOfSet(names)}
	if authorization := x.HTTP.Header.Get("Authorization"); authorization != "" {
		d.Authorization = seal.Digest(authorization)
	}
	return d
}

// digestOfSet is "" for none.
func digestOfSet(members []string) string {
	if len(members) == 0 {
		return ""
	}
	slices.Sort(members)
	sum := sha256.Sum256([]byte(Joined(slices.Compact(members)...)))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// isProof reports whether an upstream may refuse a request for want of the credential.
func (c credential) isProof() bool {
	switch c.place {
	case inCertificate:
		return false // it ends here
	case inQuery:
		return c.who != "" || slices.Contains(credentialParameters, strings.ToLower(c.name))
	}
	return true
}

// claimed: the credential names somebody, as far as an upstream looks at it.
func (c credential) claimed() bool { return c.who != "" && !c.sure }

// Without takes credentials out of the header and query of a request that goes upstream:
// those that name somebody if there are any, or else all. So it shows whether what names
// the caller is looked at where something else would do.
func Without(credentials []credential, h *wire.Header, query string) string {
	gone := credential.isProof
	if slices.ContainsFunc(credentials, credential.claimed) {
		gone = credential.claimed
	}
	var ofHeader []credential
	pairs := map[credential]bool{} // of cookies and the query, of which there may be thousands
	for _, c := range credentials {
		switch {
		case !gone(c):
		case c.place == inHeader:
			ofHeader = append(ofHeader, c)
		default:
			pairs[c] = true
		}
	}
	h.Drop(func(f wire.Field) bool {
		return slices.ContainsFunc(ofHeader, func(c credential) bool { return c.stands(f.Name, f.Value) })
	})
	if h.Has("Cookie") {
		withoutPairs(h, pairs)
	}
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		if !pairs[inPair(inQuery, pair)] {
			kept = append(kept, pair)
		}
	}
	return strings.Join(kept, "&")
}

// stands reports whether the credential is this line of a header.
func (c credential) stands(name, value string) bool {
	if c.place != inHeader || c.name != meantBy(name) {
		return false
	}
	canonical, _ := readHeader(c.name, textproto.TrimString(value))
	return canonical == c.value || textproto.TrimString(value) == c.value
}

// withoutPairs takes cookies out of the header.
func withoutPairs(h *wire.Header, gone map[credential]bool) {
	var kept []string
	for line := range h.Values("Cookie") {
		for pair := range strings.SplitSeq(line, ";") {
			pair = textproto.TrimString(pair)
			if pair != "" && !gone[inPair(inCookie, pair)] {
				kept = append(kept, pair)
			}
		}
	}
	h.Del("Cookie")
	if len(kept) > 0 {
		h.Set("Cookie", strings.Join(kept, "; "))
	}
}

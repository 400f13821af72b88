package inbound

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"berth/internal/mcp"
	"berth/internal/wire"
)

// Credential is CredentialSum as text.
func (x *Call) Credential() string {
	sum := x.CredentialSum()
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// CredentialSum returns a digest of what the caller may authenticate with: the query, and
// all headers but those of one request or one call, for only the upstream knows which of
// the others are credentials. It is compared and never logged; of what many callers say alike it is remembered (sums), of nothing else.
func (x *Call) CredentialSum() [sha256.Size]byte {
	var room, more [UsualFields]*wire.Field
	own, ofMany := telling(room[:0], more[:0], x.HTTP.Header)
	sum := knownSums.of(ofMany)
	if len(own) > 0 {
		sum = ofOwn(own, &sum)
	}
	if query := x.HTTP.URL.RawQuery; query != "" {
		sum = sha256.Sum256([]byte(Joined(string(sum[:]), query)))
	}
	return sum
}

// DigestOf is equal for headers that are equal byte by byte, but for the names that are
// left out.
func DigestOf(h *wire.Header, without func(name string) bool) [sha256.Size]byte {
	var room [UsualFields]*wire.Field
	return digestOf(Sorted(room[:0], h, without))
}

// DigestOfNamed is DigestOf where one token is like the next that names the same issuer and subject: it is not verified here.
func DigestOfNamed(h *wire.Header, without func(name string) bool) [sha256.Size]byte {
	fields := Sorted(nil, h, without)
	for i, f := range fields {
		if !isCredential(meantBy(f.Name)) {
			continue
		}
		if _, who := read(f.Value); strings.HasPrefix(who, Joined(jwtName)) {
			fields[i] = &wire.Field{Name: f.Name, Value: who}
		}
	}
	return digestOf(fields)
}

// digestOf is that of fields in order.
func digestOf(fields []*wire.Field) [sha256.Size]byte {
	if len(fields) == 0 {
		return ofNothing
	}
	all := make([]byte, 0, 512) // as most need; more is zeroed in vain
	return sha256.Sum256(appendFields(all, fields))
}

// ofOwn is the digest of fields that are a caller's own, which it sorts, and of those of which others is.
func ofOwn(fields []*wire.Field, others *[sha256.Size]byte) [sha256.Size]byte {
	inOrder(fields)
	all := make([]byte, 0, 512)
	return sha256.Sum256(append(appendFields(all, fields), others[:]...))
}

func appendFields(all []byte, fields []*wire.Field) []byte {
	for _, f := range fields {
		all = append(append(append(append(all, f.Name...), 0), f.Value...), 0) // neither holds a NUL
	}
	return all
}

var ofNothing = sha256.Sum256(nil)

// UsualFields are as many as most requests have beside those that are left out: room for them costs no allocation.
const UsualFields = 16

// Sorted appends the fields of h, which stay its own, in the order of their names, but for those that are left out.
func Sorted(fields []*wire.Field, h *wire.Header, without func(name string) bool) []*wire.Field {
	all := h.Fields()
	for i := range all {
		if f := &all[i]; !without(f.Name) {
			fields = append(fields, f)
		}
	}
	inOrder(fields)
	return fields
}

// inOrder sorts fields by their names. Those of one name stay as they stand.
func inOrder(fields []*wire.Field) {
	slices.SortStableFunc(fields, func(a, b *wire.Field) int { return strings.Compare(a.Name, b.Name) })
}

// ofEachRequest are headers that programs and proxies make anew for each request, beside those of IsOfOneRequest: they trace or prove it, or
// tell which way it came. Nobody is named by them.
var ofEachRequest = []string{
	"Dpop", "Elastic-Apm-Traceparent", "Newrelic", "Sentry-Trace", "Uber-Trace-Id", "X-Datadog-Parent-Id", "X-Datadog-Sampling-Priority",
	"X-Datadog-Tags", "X-Datadog-Trace-Id", "X-Instana-S", "X-Instana-T", "X-Ot-Span-Context",
	"Fly-Request-Id", "X-Amz-Cf-Id", "X-Azure-Ref", "X-Envoy-Attempt-Count", "X-Envoy-Expected-Rq-Timeout-Ms", "X-Request-Start", "X-Vercel-Id",
	"Cf-Connecting-Ip", "True-Client-Ip", "X-Envoy-External-Address", "X-Forwarded-Server", "X-Original-Forwarded-For",
}

// IsOfEachRequest reports whether a header is one that is made anew for each request, beside those of IsOfOneRequest.
func IsOfEachRequest(name string) bool { return slices.Contains(ofEachRequest, name) }

// IsOfProgram reports whether a header tells what program a caller uses, and how that likes its answers: nobody authenticates with it.
func IsOfProgram(name string) bool {
	switch name {
	case "Accept-Encoding", "Accept-Language", "User-Agent", "Origin", "Referer", "Cache-Control", "Pragma", "Dnt", "Priority":
		return true
	}
	return strings.HasPrefix(name, "Sec-")
}

// IsOfOneCall reports whether a header is one of those that tell what one call is and how its answer is to come.
func IsOfOneCall(name string) bool {
	switch name {
	case "Accept", "Content-Type", HeaderOnce, mcp.HeaderLastEvent,
		mcp.HeaderVersion, mcp.HeaderSession, mcp.HeaderMethod, mcp.HeaderName:
		return true
	}
	return strings.HasPrefix(name, mcp.HeaderParamPrefix)
}

// Origins tell where the request comes from: an upstream may let in some addresses only.
// Believed proxies say it in headers, whose peers say nothing of the client; of anybody
// else the peer is what upstreams are told.
func (x *Call) Origins() []string {
	all := []string{x.From.String()}
	if x.Trusted {
		for _, name := range fromWhere {
			all = slices.AppendSeq(append(all, name), x.HTTP.Header.Values(name))
		}
	}
	return all
}

// fromWhere are the headers that tell an upstream whom a request comes from. Others that begin with
// X-Forwarded-, User for one, may tell who sent it.
var fromWhere = []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip"}

// IsOfOneRequest reports whether a header is one of those that differ between requests that ask the same, because they
// name the request, trace it, or tell which way it came.
func IsOfOneRequest(name string) bool {
	switch name {
	case "Content-Length", "Accept-Encoding", "Date",
		"Traceparent", "Tracestate", "Baggage", "B3", "X-B3-Traceid", "X-B3-Spanid", "X-B3-Parentspanid", "X-B3-Sampled",
		"X-Request-Id", "X-Correlation-Id", "X-Amzn-Trace-Id", "X-Cloud-Trace-Context", "Cf-Ray":
		return true
	}
	return name == "Via" || slices.Contains(fromWhere, name) || IsHopByHop(name)
}

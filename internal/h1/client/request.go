package client

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"berth/internal/exchange"
	"berth/internal/h1/grammar"
	"berth/internal/wire"

	"golang.org/x/net/http/httpguts"
)

// appendHead appends the head of a request to b, in the words that net/http finds for it. keep: it does not ask for the
// connection's end.
func appendHead(b []byte, r *exchange.Request) (head []byte, keep bool, err error) {
	method := cmp.Or(r.Method, wire.MethodGet)
	if !grammar.IsToken(method) || method == "CONNECT" { // nobody tunnels through an exchange
		return nil, false, unfit("method", method)
	}
	b = append(append(b, method...), ' ')
	if b, err = appendTarget(b, r.URL); err != nil {
		return nil, false, err
	}
	b = append(b, " HTTP/1.1\r\nHost: "...)
	if b, err = appendHost(b, cmp.Or(r.Host, r.URL.Host)); err != nil {
		return nil, false, err
	}
	b = append(b, '\r', '\n')
	if _, named := r.Header["User-Agent"]; !named {
		b = append(b, "User-Agent: Go-http-client/1.1\r\n"...)
	}
	if len(r.Body) > 0 || usuallyHasBody(method) {
		b = append(strconv.AppendInt(append(b, "Content-Length: "...), int64(len(r.Body)), 10), '\r', '\n')
	}
	if b, err = appendFields(b, r.Header); err != nil {
		return nil, false, err
	}
	return append(b, '\r', '\n'), !httpguts.HeaderValuesContainsToken(r.Header["Connection"], "close"), nil
}

func usuallyHasBody(method string) bool {
	return method == wire.MethodPost || method == "PUT" || method == "PATCH"
}

// appendTarget appends what u's RequestURI is.
func appendTarget(b []byte, u *url.URL) ([]byte, error) {
	target, query := cmp.Or(u.Opaque, u.EscapedPath(), "/"), u.RawQuery
	if u.Opaque != "" && strings.HasPrefix(target, "//") {
		target = u.Scheme + ":" + target
	}
	if !grammar.IsPlain(target) || !grammar.IsPlain(query) {
		return nil, unfit("URL", u.Redacted())
	}
	b = append(b, target...)
	if u.ForceQuery || query != "" {
		b = append(append(b, '?'), query...)
	}
	return b, nil
}

// appendHost appends a host as Host names it: in ASCII, without an address's zone (RFC 6874, 4), and not at
// all if it is none.
func appendHost(b []byte, host string) ([]byte, error) {
	if strings.IndexByte(host, '%') < 0 && isHost(host) {
		return append(b, host...), nil
	}
	host, err := httpguts.PunycodeHostPort(host)
	if err != nil {
		return nil, err
	}
	if !httpguts.ValidHostHeader(host) {
		return b, nil
	}
	if strings.HasPrefix(host, "[") {
		if address, rest, ok := strings.Cut(host, "]"); ok {
			address, _, _ = strings.Cut(address, "%")
			host = address + "]" + rest
		}
	}
	return append(b, host...), nil
}

// appendFields appends header fields. Those that say where the request ends are not a caller's.
func appendFields(b []byte, h wire.Header) ([]byte, error) {
	for name, values := range h {
		switch name {
		case "Host", "Content-Length", "Transfer-Encoding", "Trailer":
			continue
		case "User-Agent":
			if len(values) == 0 || values[0] == "" {
				continue
			}
			values = values[:1]
		}
		if !grammar.IsToken(name) {
			return nil, unfit("header", name)
		}
		for _, value := range values {
			if !grammar.IsText(value) {
				return nil, unfit("value of header", name)
			}
			b = append(append(b, name...), ':', ' ')
			b = append(append(b, trim(value)...), '\r', '\n')
		}
	}
	return b, nil
}

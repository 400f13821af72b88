package client

import (
	"cmp"
	"net/url"
	"strings"

	"berth/internal/h1/grammar"

	"golang.org/x/net/http/httpguts"
)

// opening is how a head begins: its request line, and whom it is for. Of a connection's requests most begin as the one before, whose
// words are copied then: they are judged once.
type opening struct {
	text               []byte // its own; empty: none is kept
	method, path, host int    // where the first two end, and the last one begins
}

// mostKept is how many bytes an opening has that is kept.
const mostKept = 256

// append appends the opening of a request to b, without the end of its last line.
func (o *opening) append(b []byte, method string, u *url.URL, host string) ([]byte, error) {
	isSimple := u.Opaque == "" && u.RawPath == "" && u.RawQuery == "" && !u.ForceQuery
	if isSimple && o.says(method, u.Path, host) {
		return append(b, o.text...), nil
	}
	begin := len(b)
	b, err := appendOpening(b, method, u, host)
	if err == nil && isSimple {
		o.keep(b[begin:], method, u.Path, host)
	}
	return b, err
}

// says reports whether the opening is that of a method, a path that is all of the target, and a host.
func (o *opening) says(method, path, host string) bool {
	t := o.text
	return len(t) > 0 && string(t[:o.method]) == method && string(t[o.method+1:o.path]) == path && string(t[o.host:]) == host
}

// keep keeps an opening if method, path and host stand in it as they are, so that they need not be kept beside: they may be parts of a
// head that is not to be.
func (o *opening) keep(text []byte, method, path, host string) {
	kept := opening{text: text, method: len(method), path: len(method) + 1 + len(path), host: len(text) - len(host)}
	o.text = o.text[:0]
	if len(text) <= mostKept && len(text) == kept.path+len(afterTarget)+len(host) && kept.says(method, path, host) {
		kept.text = append(o.text, text...)
		*o = kept
	}
}

// afterTarget stands between a target and a host.
const afterTarget = " HTTP/1.1\r\nHost: "

func appendOpening(b []byte, method string, u *url.URL, host string) ([]byte, error) {
	if !grammar.IsToken(method) || method == "CONNECT" { // nobody tunnels through an exchange
		return nil, unfit("method", method)
	}
	b, err := appendTarget(append(append(b, method...), ' '), u)
	if err != nil {
		return nil, err
	}
	return appendHost(append(b, afterTarget...), host)
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

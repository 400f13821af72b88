package head

import (
	"bytes"
	"net/url"
	"strings"

	"berth/internal/h1/grammar"
)

// requestLine is the request line that was read last. Most clients ask for one target alone, in one way.
type requestLine struct {
	text           string // "": it is not kept
	method, target string // parts of it
	http10         bool

	parsed *url.URL // target's; nil: it was not asked for
	lent   url.URL  // parsed, for whoever reads the request
}

// read judges a request line (RFC 9112, 3).
func (r *requestLine) read(line []byte) error {
	if r.text != "" && string(line) == r.text {
		return nil
	}
	method := bytes.IndexByte(line, ' ')
	if method <= 0 || !grammar.IsToken(line[:method]) {
		return errRequestLine
	}
	length := bytes.IndexByte(line[method+1:], ' ')
	if length <= 0 {
		return errRequestLine
	}
	target := method + 1 + length
	if !grammar.IsVisible(line[method+1:target]) || !grammar.IsVisible(line[target+1:]) {
		return errRequestLine
	}
	if bytes.IndexByte(line[method+1:target], '#') >= 0 { // a fragment (RFC 9112, 3.2), which servers cut off or keep
		return errTarget
	}
	http10, err := version(line[target+1:])
	if err != nil {
		return err
	}
	text := string(line)
	*r = requestLine{method: text[:method], target: text[method+1 : target], http10: http10}
	if len(text) <= mostKept && strings.IndexByte(r.target, '?') < 0 { // a query may be a caller's own
		r.text = text
	}
	return nil
}

// IsTarget reports whether text may stand for a target in a request line.
func IsTarget(text string) bool { return grammar.IsVisible(text) && !strings.Contains(text, "#") }

// url parses the target as net/http does. An authority that it names must be one, without a user.
func (r *requestLine) url() (*url.URL, error) {
	if r.parsed == nil {
		parsed, err := parseTarget(r.method == "CONNECT" && !isPath(r.target), r.target)
		if err != nil {
			return nil, err
		}
		r.parsed = parsed
	}
	r.lent = *r.parsed
	return &r.lent, nil
}

func parseTarget(connect bool, text string) (*url.URL, error) {
	whole := text
	if connect {
		whole = "http://" + text
	}
	parsed, err := url.ParseRequestURI(whole)
	if err != nil {
		return nil, errTarget
	}
	if !isPath(text) && (connect || text != "*") && (parsed.Host == "" || parsed.User != nil) {
		return nil, errTarget
	}
	if connect {
		parsed.Scheme = ""
	}
	return parsed, nil
}

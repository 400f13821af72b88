package framing

import (
	"bytes"
	"errors"
	"net/url"

	"berth/internal/h1/grammar"
)

var (
	errRequestLine = errors.New("request line is not method, target and version with one space between")
	errVersion     = errors.New("version is neither HTTP/1.1 nor HTTP/1.0")
	errTarget      = errors.New("request target names no authority, or a user")
	errHost        = errors.New("missing or repeated Host")
	errLength      = errors.New("not one Content-Length that is a number")
	errCoding      = errors.New("not one Transfer-Encoding that is chunked, in HTTP/1.1")
	errTwoFramings = errors.New("both Content-Length and Transfer-Encoding")
	errAlias       = errors.New("framing field spelt with an underscore")
)

const noLength = -1

type head struct {
	http10  bool
	host    bool // seen
	chunked bool
	length  int64 // or noLength
}

// request takes the request line (RFC 9112 section 3).
func (h *head) request(line []byte) error {
	method, rest, _ := bytes.Cut(line, []byte(" "))
	target, version, _ := bytes.Cut(rest, []byte(" "))
	if !grammar.IsToken(method) || !grammar.IsVisible(target) || !grammar.IsVisible(version) {
		return errRequestLine
	}
	switch string(version) {
	case "HTTP/1.1":
	case "HTTP/1.0":
		h.http10 = true
	default:
		return errVersion
	}
	return checkTarget(string(method) == "CONNECT", target)
}

// checkTarget wants the authority that a target names to be readable as one. That it counts more
// than the Host (RFC 9112 section 3.2.2) is net/http's reading, and whether it is welcome is the
// handler's to say.
func checkTarget(connect bool, target []byte) error {
	if target[0] == '/' || string(target) == "*" && !connect {
		return nil
	}
	text := string(target)
	if connect {
		text = "http://" + text
	}
	parsed, err := url.ParseRequestURI(text)
	if err != nil || parsed.Host == "" || parsed.User != nil {
		return errTarget
	}
	return nil
}

func (h *head) field(line []byte) error {
	name, value, err := cutField(line)
	if err != nil {
		return err
	}
	var note func([]byte) error
	switch {
	case grammar.SameName(name, "content-length"):
		note = h.contentLength
	case grammar.SameName(name, "transfer-encoding"):
		note = h.transferEncoding
	case grammar.SameName(name, "host"):
		note = h.hostField
	default:
		return nil
	}
	if bytes.IndexByte(name, '_') >= 0 {
		return errAlias
	}
	return note(value)
}

// contentLength takes one number, once. RFC 9112 section 6.3 would merge equal ones, but no client
// that means well repeats it.
func (h *head) contentLength(value []byte) error {
	n, ok := grammar.Number(value, 10)
	switch {
	case h.chunked:
		return errTwoFramings
	case h.length != noLength || !ok:
		return errLength
	}
	h.length = n
	return nil
}

// transferEncoding takes the one coding that net/http undoes, and not from HTTP/1.0, where net/http
// would overlook it (RFC 9112 section 6.1).
func (h *head) transferEncoding(value []byte) error {
	if h.length != noLength {
		return errTwoFramings
	}
	if h.chunked || h.http10 || !grammar.SameName(value, "chunked") {
		return errCoding
	}
	h.chunked = true
	return nil
}

func (h *head) hostField([]byte) error {
	if h.host {
		return errHost
	}
	h.host = true
	return nil
}

func (h *head) complete() error {
	if !h.host && !h.http10 {
		return errHost
	}
	return nil
}

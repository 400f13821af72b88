package head

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"berth/internal/h1/buffer"
	"berth/internal/wire"

	"golang.org/x/net/http/httpguts"
)

// Parser reads heads, one after the other. The zero value is ready.
type Parser struct {
	header wire.Header
	host   string // what Host says; of a request

	lore
	next int  // of the known lines, the one that is expected
	news bool // some line that may recur is not known

	strange int // heads with news, one after the other

	at     int    // bytes of the head that were judged
	sought int    // bytes of it in which no other line ends
	waits  func() // is called before the connection is read; nil: nobody is

	frame    frame
	asked    requestLine
	answered statusLine
	request  Request
	response Response
}

// Request reads a request's head of at most limit bytes. It calls waits, unless that is nil, each time before it has src read on. The
// error is io.EOF if the connection ended before the head, and io.ErrUnexpectedEOF if it did within.
func (p *Parser) Request(src *buffer.Reader, limit int, waits func()) (*Request, error) {
	p.begin(true)
	p.waits = waits
	p.request = Request{}
	if err := p.first(src, limit, p.asked.text, p.asked.read); err != nil {
		return nil, err
	}
	p.frame.http10 = p.asked.http10
	if err := p.rest(src, limit); err != nil {
		return nil, err
	}
	err := p.frame.completeRequest()
	if err != nil {
		return nil, err
	}
	r := &p.request
	r.Method, r.Target = p.asked.method, p.asked.target
	if r.URL, err = p.asked.url(); err != nil {
		return nil, err
	}
	if err := p.message(&r.Message); err != nil {
		return nil, err
	}
	if r.Length == NoLength {
		r.Length = 0
	}
	if r.Host = r.URL.Host; r.Host == "" {
		r.Host = p.host
	}
	if p.frame.host && !p.hostFits() {
		return nil, errHost
	}
	return r, nil
}

// hostFits reports whether what Host says is one (RFC 9110, 7.2).
func (p *Parser) hostFits() bool {
	isKnown := p.host == p.known.host
	if isKnown && p.known.hostFits {
		return true
	}
	fits := IsHost(p.host)
	if isKnown {
		p.known.hostFits = fits
	}
	return fits
}

// IsHost reports whether text may stand in Host (RFC 9110, 7.2). What follows the colon of a name, or the brackets of an address, is a
// port, or nothing.
func IsHost(text string) bool { return httpguts.ValidHostHeader(text) && hasPort(text) }

// hasPort leaves what has several colons and no brackets to whom it is for.
func hasPort(host string) bool {
	at := strings.IndexByte(host, ':')
	if strings.HasPrefix(host, "[") {
		end := strings.IndexByte(host, ']')
		if end < 0 || end+1 < len(host) && host[end+1] != ':' {
			return false
		}
		at = end + 1
	}
	if at < 0 || at >= len(host)-1 || host[0] != '[' && strings.Count(host, ":") > 1 {
		return true
	}
	_, err := strconv.ParseUint(host[at+1:], 10, 16)
	return err == nil
}

// Response reads the head of an answer, of at most limit bytes, with errors as Request has them.
func (p *Parser) Response(src *buffer.Reader, limit int) (*Response, error) {
	p.begin(false)
	p.response = Response{}
	if err := p.first(src, limit, p.answered.text, p.answered.read); err != nil {
		return nil, err
	}
	p.frame.http10 = p.answered.http10
	if err := p.rest(src, limit); err != nil {
		return nil, err
	}
	r := &p.response
	r.Status, r.Phrase = p.answered.status, p.answered.phrase
	return r, p.message(&r.Message)
}

// Forget lets go of the last head, but for what the next one is compared with.
func (p *Parser) Forget() {
	p.header.Forget()
	p.request, p.response, p.waits, p.host = Request{}, Response{}, nil, ""
	if p.asked.text == "" {
		p.asked = requestLine{}
	}
	if cap(p.parts) > mostLines {
		p.parts = nil
	}
}

// Stand leaves what the next head would be compared with, and its room, to other parsers. The last head stays: it is for who keeps
// that for long.
func (p *Parser) Stand() {
	p.lore.leave()
	p.lore = lore{}
	p.asked.text, p.asked.parsed = "", nil
}

func (p *Parser) begin(request bool) {
	p.header.Forget()
	if p.known == nil {
		p.lore = handedDown()
	}
	if p.known.ofRequest != request {
		p.known.empty(request)
		p.spare.empty(request)
	}
	p.parts, p.next, p.news, p.host = p.parts[:0], 0, false, ""
	p.at, p.sought, p.waits = 0, 0, nil
	p.frame = frame{length: NoLength}
}

// line finds the next line in what has come of a head, its end aside; nil: it has not come whole.
func (p *Parser) line(come []byte) (line []byte, err error) {
	n := bytes.IndexByte(come[p.sought:], '\n')
	if n < 0 {
		p.sought = len(come)
		return nil, nil
	}
	begin, end := p.at, p.sought+n
	p.at, p.sought = end+1, end+1
	if end == begin || come[end-1] != '\r' {
		return nil, errBareLF
	}
	return come[begin : end-1], nil
}

// come is what has come of a head, of which at most limit bytes may.
func come(src *buffer.Reader, limit int) []byte {
	b := src.Bytes()
	return b[:min(len(b), limit)]
}

// passes passes over the first line if that has come, and says what the last one said; "": that is not kept.
func (p *Parser) passes(last string, src *buffer.Reader, limit int) bool {
	b := come(src, limit)
	if last == "" || !begins(b, last) || !ends(b[len(last):]) {
		return false
	}
	p.at = len(last) + len("\r\n")
	p.sought = p.at
	return true
}

// first has read read the first line, unless it says what the last one said, which has been read.
func (p *Parser) first(src *buffer.Reader, limit int, last string, read func(line []byte) error) error {
	if p.passes(last, src, limit) {
		return nil
	}
	for {
		line, err := p.line(come(src, limit))
		switch {
		case err != nil:
			return err
		case line != nil:
			return read(line)
		}
		if err := p.wait(src, limit); err != nil {
			return err
		}
	}
}

// rest reads the fields, and takes the head from src.
func (p *Parser) rest(src *buffer.Reader, limit int) error {
	if p.same(come(src, limit)) {
		_, err := src.Discard(p.at)
		return err
	}
	for {
		whole, err := p.fields(come(src, limit))
		switch {
		case err != nil:
			return err
		case whole:
			_, err = src.Discard(p.at)
			return err
		}
		if err := p.wait(src, limit); err != nil {
			return err
		}
	}
}

// fields judges the fields that have come of a head. It reports whether that is whole.
func (p *Parser) fields(come []byte) (whole bool, err error) {
	for {
		if err := p.repeat(come); err != nil {
			return false, err
		}
		begin := p.at
		if ends(come[begin:]) {
			p.at += len("\r\n")
			p.lay(come[:p.at])
			return true, nil
		}
		line, err := p.line(come)
		if line == nil || err != nil {
			return false, err
		}
		if err := p.field(line, begin); err != nil {
			return false, err
		}
	}
}

// ends reports whether no field comes next.
func ends(come []byte) bool { return len(come) >= 2 && come[0] == '\r' && come[1] == '\n' }

// wait has more of the head come.
func (p *Parser) wait(src *buffer.Reader, limit int) error {
	if src.Buffered() >= limit {
		return ErrTooLong
	}
	if p.waits != nil {
		p.waits()
	}
	begun := src.Buffered() > 0
	err := src.Fill()
	if err == io.EOF && begun {
		return io.ErrUnexpectedEOF
	}
	return err
}

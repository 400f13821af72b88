package head

import (
	"bytes"
	"io"

	"berth/internal/h1/buffer"
	"berth/internal/wire"

	"golang.org/x/net/http/httpguts"
)

// Parser reads heads, one after the other. The zero value is ready.
type Parser struct {
	header wire.Header
	fields []field
	host   string // of a request
	at     int    // bytes of the head that were judged
	waits  func() // is called before the connection is read; nil: nobody is

	frame    frame
	target   target
	request  Request
	response Response
}

// field is where a field lies in its head.
type field struct{ name, nameEnd, value, end uint32 }

// Request reads a request's head of at most limit bytes. It calls waits, unless that is nil, each time before it has src read on. The
// error is io.EOF if the connection ended before the head, and io.ErrUnexpectedEOF if it did within.
func (p *Parser) Request(src *buffer.Reader, limit int, waits func()) (*Request, error) {
	p.begin()
	p.waits = waits
	p.request = Request{}
	begin, end, err := p.line(src, limit)
	if err != nil {
		return nil, err
	}
	method, target, err := p.requestLine(src.Bytes()[begin:end])
	if err != nil {
		return nil, err
	}
	text, err := p.rest(src, limit)
	if err != nil {
		return nil, err
	}
	if err := p.frame.completeRequest(); err != nil {
		return nil, err
	}
	r := &p.request
	r.Method, r.Target = text[:method], text[method+1:target]
	if r.URL, err = p.target.parse(r.Method, r.Target); err != nil {
		return nil, err
	}
	if r.Message, err = p.message(text, true); err != nil {
		return nil, err
	}
	if r.Length == NoLength {
		r.Length = 0
	}
	if r.Host = r.URL.Host; r.Host == "" {
		r.Host = p.host
	}
	if !httpguts.ValidHostHeader(p.host) {
		return nil, errHost
	}
	return r, nil
}

// Response reads the head of an answer, of at most limit bytes, with errors as Request has them.
func (p *Parser) Response(src *buffer.Reader, limit int) (*Response, error) {
	p.begin()
	p.response = Response{}
	begin, end, err := p.line(src, limit)
	if err != nil {
		return nil, err
	}
	status, err := p.statusLine(src.Bytes()[begin:end])
	if err != nil {
		return nil, err
	}
	text, err := p.rest(src, limit)
	if err != nil {
		return nil, err
	}
	r := &p.response
	if r.Status = status; end > phrase {
		r.Phrase = text[phrase:end]
	}
	r.Message, err = p.message(text, false)
	return r, err
}

// Forget lets go of the last head.
func (p *Parser) Forget() {
	p.header.Forget()
	p.request, p.response, p.waits, p.host = Request{}, Response{}, nil, ""
}

func (p *Parser) begin() {
	p.header.Forget()
	p.at, p.fields, p.waits = 0, p.fields[:0], nil
	p.frame, p.host = frame{length: NoLength}, ""
}

// line finds the next line, its end aside, in the bytes of src.
func (p *Parser) line(src *buffer.Reader, limit int) (begin, end int, err error) {
	for begin, end = p.at, p.at; ; {
		b := src.Bytes()
		if i := bytes.IndexByte(b[end:min(len(b), limit)], '\n'); i >= 0 {
			end += i
			p.at = end + 1
			if end == begin || b[end-1] != '\r' {
				return 0, 0, errBareLF
			}
			return begin, end - 1, nil
		}
		if end = len(b); end >= limit {
			return 0, 0, ErrTooLong
		}
		if p.waits != nil {
			p.waits()
		}
		if err := src.Fill(); err != nil {
			if err == io.EOF && end > 0 {
				err = io.ErrUnexpectedEOF
			}
			return 0, 0, err
		}
	}
}

// rest reads the fields and takes the head from src.
func (p *Parser) rest(src *buffer.Reader, limit int) (text string, err error) {
	for {
		begin, end, err := p.line(src, limit)
		if err != nil {
			return "", err
		}
		b := src.Bytes()
		if begin == end {
			text = string(b[:p.at])
			_, err = src.Discard(p.at)
			return text, err
		}
		if err := p.field(b, begin, end); err != nil {
			return "", err
		}
	}
}

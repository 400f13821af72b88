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
	now    lines
	last   lines  // of the head before
	next   int    // of last's fields, the one that is expected
	at     int    // bytes of the head that were judged
	sought int    // bytes of it in which no other line ends
	waits  func() // is called before the connection is read; nil: nobody is

	frame    frame
	asked    requestLine
	request  Request
	response Response
}

// Request reads a request's head of at most limit bytes. It calls waits, unless that is nil, each time before it has src read on. The
// error is io.EOF if the connection ended before the head, and io.ErrUnexpectedEOF if it did within.
func (p *Parser) Request(src *buffer.Reader, limit int, waits func()) (*Request, error) {
	p.begin()
	p.waits = waits
	p.request = Request{}
	line, err := p.first(src, limit)
	if err != nil {
		return nil, err
	}
	if err := p.asked.read(line); err != nil {
		return nil, err
	}
	p.frame.http10 = p.asked.http10
	text, err := p.rest(src, limit)
	if err != nil {
		return nil, err
	}
	if err := p.frame.completeRequest(); err != nil {
		return nil, err
	}
	r := &p.request
	r.Method, r.Target = p.asked.method, p.asked.target
	if r.URL, err = p.asked.url(); err != nil {
		return nil, err
	}
	host, err := p.message(&r.Message, text, true)
	if err != nil {
		return nil, err
	}
	if r.Length == NoLength {
		r.Length = 0
	}
	if r.Host = r.URL.Host; r.Host == "" {
		r.Host = host
	}
	if p.frame.host && !httpguts.ValidHostHeader(host) {
		return nil, errHost
	}
	return r, nil
}

// Response reads the head of an answer, of at most limit bytes, with errors as Request has them.
func (p *Parser) Response(src *buffer.Reader, limit int) (*Response, error) {
	p.begin()
	p.response = Response{}
	line, err := p.first(src, limit)
	if err != nil {
		return nil, err
	}
	end := len(line)
	status, err := p.statusLine(line)
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
	_, err = p.message(&r.Message, text, false)
	return r, err
}

// Forget lets go of the last head, but for what the next one is compared with.
func (p *Parser) Forget() {
	p.header.Forget()
	p.request, p.response, p.waits = Request{}, Response{}, nil
}

// Stand lets go of what the next head would be compared with, and of its room. The last head stays: it is for who keeps
// that for long.
func (p *Parser) Stand() { p.now, p.last = lines{}, lines{} }

func (p *Parser) begin() {
	p.header.Forget()
	p.now, p.last, p.next = lines{fields: p.last.fields[:0]}, p.now, 0
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

// first reads the first line.
func (p *Parser) first(src *buffer.Reader, limit int) (line []byte, err error) {
	for {
		if line, err = p.line(come(src, limit)); line != nil || err != nil {
			return line, err
		}
		if err := p.wait(src, limit); err != nil {
			return nil, err
		}
	}
}

// rest reads the fields and takes the head from src.
func (p *Parser) rest(src *buffer.Reader, limit int) (text string, err error) {
	for {
		b := come(src, limit)
		for {
			if err := p.repeat(b); err != nil {
				return "", err
			}
			begin := p.at
			line, err := p.line(b)
			switch {
			case err != nil:
				return "", err
			case line == nil:
			case len(line) > 0:
				if err := p.field(line, begin); err != nil {
					return "", err
				}
				continue
			default:
				text = string(b[:p.at])
				p.now.keep(text)
				p.last.text = ""
				_, err = src.Discard(p.at)
				return text, err
			}
			break
		}
		if err := p.wait(src, limit); err != nil {
			return "", err
		}
	}
}

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

package relay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"berth/internal/exchange"
	"berth/internal/wire"
)

// A request, and a part of an answer, is a line of JSON and bytes. What comes from the wire is bytes
// in the JSON as well: it need not be UTF-8.

var errFrame = errors.New("relay: no line of JSON")

type header map[string][][]byte

type requestLine struct {
	Method, URL  string
	Host, Caller []byte
	Unsent       exchange.Unsent `json:",omitzero"`
	Header       header
	NoBody       bool
}

func encodeRequest(r *exchange.Request) ([]byte, error) {
	line := requestLine{Method: r.Method, Host: []byte(r.Host), Caller: []byte(r.Caller), Unsent: r.Unsent, Header: toBytes(r.Header), NoBody: r.Body == nil}
	if r.URL != nil {
		line.URL = r.URL.String()
	}
	return encode(line, r.Body)
}

func decodeRequest(frame []byte) (*exchange.Request, error) {
	var line requestLine
	body, err := decode(frame, &line)
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(line.URL)
	if err != nil {
		return nil, fmt.Errorf("relay: the URL of a request: %w", err)
	}
	if line.NoBody {
		body = nil
	}
	return &exchange.Request{
		Method: line.Method, URL: at, Host: string(line.Host), Header: fromBytes(line.Header), Body: body, Caller: string(line.Caller), Unsent: line.Unsent,
	}, nil
}

// part is a piece of an answer; the first one has its head, unless it failed.
type part struct {
	Head    *head    `json:",omitempty"`
	End     bool     `json:",omitempty"` // the last one
	Failure *failure `json:",omitempty"` // how the answer broke off; with End only
	data    []byte
}

type head struct {
	Status       int
	Phrase       string
	Header       header
	Length       int64
	Major, Minor int
	Own          bool `json:",omitempty"`
	Unasked      bool `json:",omitempty"`
}

func headOf(r *wire.Response) *head {
	return &head{r.Status, r.Phrase, toBytes(r.Header), r.ContentLength, r.ProtoMajor, r.ProtoMinor, r.Own, r.Unasked}
}

func (h *head) response() *wire.Response {
	return &wire.Response{
		Status: h.Status, Phrase: h.Phrase, Header: fromBytes(h.Header), ContentLength: h.Length, ProtoMajor: h.Major, ProtoMinor: h.Minor,
		Own: h.Own, Unasked: h.Unasked,
	}
}

func encodePart(p part) ([]byte, error) { return encode(p, p.data) }

func decodePart(frame []byte) (p part, err error) {
	p.data, err = decode(frame, &p)
	return p, err
}

func encode(line any, data []byte) ([]byte, error) {
	frame, err := json.Marshal(line)
	if err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	return append(append(frame, '\n'), data...), nil
}

func decode(frame []byte, line any) (data []byte, err error) {
	text, data, found := bytes.Cut(frame, []byte("\n"))
	if !found {
		return nil, errFrame
	}
	if err := json.Unmarshal(text, line); err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	return data, nil
}

func toBytes(h *wire.Header) header {
	fields := h.Fields()
	out := make(header, len(fields))
	for _, f := range fields {
		out[f.Name] = append(out[f.Name], []byte(f.Value))
	}
	for _, name := range h.Withheld() {
		out[name] = nil
	}
	return out
}

func fromBytes(h header) *wire.Header {
	lists := make(map[string][]string, len(h))
	for name, values := range h {
		var list []string
		for _, value := range values {
			list = append(list, string(value))
		}
		lists[name] = list
	}
	return wire.FromLists(lists)
}

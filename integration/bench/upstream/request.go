package upstream

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
)

var errRequest = errors.New("upstream: the request cannot be read")

// request is what an instance reads of one HTTP request. It is filled anew for each of a connection.
type request struct {
	get     bool
	method  string // Mcp-Method
	name    string // Mcp-Name
	session string // Mcp-Session-Id
	length  int
	body    []byte
}

// read reads the next request.
func (r *request) read(in *bufio.Reader) error {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return err
	}
	*r = request{get: bytes.HasPrefix(line, []byte("GET ")), body: r.body[:0]}
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			break
		}
		if err := r.note(line); err != nil {
			return err
		}
	}
	if cap(r.body) < r.length {
		r.body = make([]byte, r.length)
	}
	r.body = r.body[:r.length]
	_, err = io.ReadFull(in, r.body)
	return err
}

// note takes what matters from one header line.
func (r *request) note(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimSpace(value)
	switch {
	case bytes.EqualFold(name, []byte("Content-Length")):
		var err error
		r.length, err = strconv.Atoi(string(value))
		return err
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		return errRequest
	case bytes.EqualFold(name, []byte("Mcp-Method")):
		r.method = string(value)
	case bytes.EqualFold(name, []byte("Mcp-Name")):
		r.name = string(value)
	case bytes.EqualFold(name, []byte("Mcp-Session-Id")):
		r.session = string(value)
	}
	return nil
}

// id is the id of the JSON-RPC request in the body, as it stands there; nil for a notification.
func (r *request) id() []byte {
	_, rest, found := bytes.Cut(r.body, []byte(`"id":`))
	if !found {
		return nil
	}
	end := bytes.IndexAny(rest, ",}")
	return rest[:max(0, end)]
}

func (r *request) initializes() bool { return bytes.Contains(r.body, []byte(`"initialize"`)) }

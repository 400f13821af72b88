package redis

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// response is what a server says to a command (RESP2), in room that is used again: one part, or those of an array.
type response struct {
	parts []part
	text  []byte // of the parts, one behind another
	array bool
}

// part is a text, a number or nothing.
type part struct {
	kind       byte // as RESP2 has it, or none
	n          int64
	begin, end int // of its text
}

// none is the kind of a part that says that there is nothing.
const none = 0

// errGarbled says that a server does not speak RESP2.
var errGarbled = errors.New("the server's answer cannot be read")

// refusal is an error that a server answers with.
type refusal string

// Error implements error.
func (r refusal) Error() string { return string(r) }

// RedisError implements redis.Error.
func (refusal) RedisError() {}

var _ redis.Error = refusal("")

// of returns the text of part i, which is the answer's.
func (a *response) of(i int) []byte { return a.text[a.parts[i].begin:a.parts[i].end] }

// is reports whether the answer is that number.
func (a *response) is(n int64) bool { return !a.array && a.parts[0].kind == ':' && a.parts[0].n == n }

// refused is the error that the answer is, if it is one.
func (a *response) refused() error {
	if a.array || a.parts[0].kind != '-' {
		return nil
	}
	return refusal(a.of(0))
}

func (a *response) clear() { a.parts, a.text, a.array = a.parts[:0], a.text[:0], false }

// read takes an answer off r.
func (a *response) read(r *bufio.Reader) error {
	a.clear()
	kind, n, err := a.part(r)
	if err != nil || kind != '*' {
		return err
	}
	a.array = true
	for range n {
		if kind, _, err = a.part(r); err != nil {
			return err
		}
		if kind == '*' || kind == '-' {
			return errGarbled
		}
	}
	return nil
}

// part reads what is one, or how many follow of an array.
func (a *response) part(r *bufio.Reader) (kind byte, n int64, err error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return 0, 0, err
	}
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return 0, 0, errGarbled
	}
	kind, line = line[0], line[1:len(line)-2]
	p := part{kind: kind, begin: len(a.text)}
	switch kind {
	case '+', '-':
		a.text = append(a.text, line...)
	case ':', '$', '*':
		if p.n, err = strconv.ParseInt(string(line), 10, 64); err != nil || kind != ':' && (p.n < -1 || p.n > mostAnswer) {
			return 0, 0, errGarbled
		}
		switch {
		case kind == '*' && p.n >= 0:
			return kind, p.n, nil
		case kind != ':' && p.n < 0:
			kind, p.kind = none, none
		case kind == '$':
			err = a.take(r, int(p.n))
		}
	default:
		err = errGarbled
	}
	p.end = len(a.text)
	a.parts = append(a.parts, p)
	return kind, p.n, err
}

// mostAnswer is how long a text may be, as Redis has it.
const mostAnswer = 512 << 20

// take reads n bytes of text, and the end of their line.
func (a *response) take(r *bufio.Reader, n int) error {
	begin := len(a.text)
	if need := begin + n + 2; cap(a.text) < need {
		a.text = append(make([]byte, 0, need+need/4), a.text...)
	}
	a.text = a.text[:begin+n+2]
	_, err := io.ReadFull(r, a.text[begin:])
	a.text = a.text[:begin+n]
	return err
}

// become is what the driver has read.
func (a *response) become(value any) error {
	a.clear()
	values, array := value.([]any)
	if !array {
		values = []any{value}
	}
	a.array = array
	for _, value := range values {
		p := part{begin: len(a.text)}
		switch v := value.(type) {
		case nil:
		case int64:
			p.kind, p.n = ':', v
		case string:
			p.kind, a.text = '$', append(a.text, v...)
		default:
			return fmt.Errorf("an answer of %T: %w", value, errMalformed)
		}
		p.end = len(a.text)
		a.parts = append(a.parts, p)
	}
	return nil
}

package redis

import (
	"bytes"
	"strconv"
)

// request is a command as a server is sent it (RESP), made in room that is used again. The driver's commands are lists of
// any, which cost an allocation or two each, and a look at the type of each argument.
type request []byte

// begin is a command of so many arguments, its name among them.
func (q request) begin(arguments int) request { return q[:0].head('*', arguments) }

// head is how an argument begins, or all of them do. Most lengths have two digits at most.
func (q request) head(kind byte, n int) request {
	if n < 10 {
		return append(q, kind, '0'+byte(n), '\r', '\n')
	}
	if n < 100 {
		return append(q, kind, '0'+byte(n/10), '0'+byte(n%10), '\r', '\n')
	}
	return append(strconv.AppendInt(append(q, kind), int64(n), 10), '\r', '\n')
}

func (q request) text(s string) request {
	return append(append(q.head('$', len(s)), s...), '\r', '\n')
}

func (q request) bytes(b []byte) request {
	return append(append(q.head('$', len(b)), b...), '\r', '\n')
}

// named is the name of a key: behind the prefix that all have.
func named[K string | []byte](q request, prefix string, key K) request {
	return append(append(append(q.head('$', len(prefix)+len(key)), prefix...), key...), '\r', '\n')
}

func (q request) number(n int64) request {
	var room [20]byte
	return q.bytes(strconv.AppendInt(room[:0], n, 10))
}

// arguments are those of the whole command, as the driver takes them.
func (q request) arguments() []any {
	_, rest, _ := bytes.Cut(q, []byte("\r\n"))
	var all []any
	for len(rest) > 0 {
		head, behind, _ := bytes.Cut(rest, []byte("\r\n"))
		n, _ := strconv.Atoi(string(head[1:])) // written above
		all, rest = append(all, behind[:n:n]), behind[n+2:]
	}
	all[0] = string(all[0].([]byte)) // by which the driver knows what it sends
	return all
}

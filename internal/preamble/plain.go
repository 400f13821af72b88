package preamble

import (
	"crypto/tls"
	"errors"
	"io"
	"time"
)

// answerPlain tells a client that speaks HTTP where TLS is spoken, as net/http does. err is of the handshake.
func answerPlain(err error) {
	record, ok := errors.AsType[tls.RecordHeaderError](err)
	if !ok || record.Conn == nil {
		return
	}
	switch string(record.RecordHeader[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO":
		_ = record.Conn.SetWriteDeadline(time.Now().Add(within))
		_, _ = io.WriteString(record.Conn, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")
	}
}

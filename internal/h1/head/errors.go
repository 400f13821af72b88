package head

import "errors"

// ErrTooLong says that a head is longer than it may be.
var ErrTooLong = errors.New("http1: head longer than the limit")

// Malformed is what is wrong with a head.
type Malformed string

// Error implements error.
func (m Malformed) Error() string { return "http1: " + string(m) }

// What can be wrong.
const (
	errBareLF      = Malformed("line feed without carriage return")
	errField       = Malformed("field line is not a name, a colon and a value")
	errControl     = Malformed("control character in a value")
	errRequestLine = Malformed("request line is not method, target and version with one space between")
	errStatusLine  = Malformed("status line is not version, three digits and a phrase")
	errVersion     = Malformed("version is neither HTTP/1.1 nor HTTP/1.0")
	errTarget      = Malformed("request target is none, names a user, or has a fragment")
	errHost        = Malformed("missing, repeated or unfit Host")
	errLength      = Malformed("not one Content-Length that is a number")
	errCoding      = Malformed("not one Transfer-Encoding that is chunked, in HTTP/1.1")
	errTwoFramings = Malformed("both Content-Length and Transfer-Encoding")
	errAlias       = Malformed("framing field spelt with an underscore")
	errTrailer     = Malformed("trailer announced that belongs into the head")
)

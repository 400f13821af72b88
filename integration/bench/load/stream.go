package load

import (
	"bufio"
	"net/http/httputil"
	"time"
)

// eventSize is what a stream's buffer begins with: there are thousands of them, and events are small.
const eventSize = 512

// Follow calls f with each line of a stream that Open has opened, until the stream or the connection ends. The line is
// valid until f returns.
func (c *Conn) Follow(f func(line []byte)) error {
	if err := c.conn.SetDeadline(time.Time{}); err != nil {
		return err
	}
	in := bufio.NewReaderSize(httputil.NewChunkedReader(c.in), eventSize)
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		f(line)
	}
}

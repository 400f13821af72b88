package upstream

import (
	"bufio"
	"fmt"
	"io"
	"net"
)

// streamHead opens an event stream.
const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"

// talk serves one connection until it ends.
func (i *Instance) talk(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	var r request
	for {
		if err := r.read(in); err != nil {
			return
		}
		if err := i.serveOne(conn, in, &r); err != nil {
			return
		}
	}
}

func (i *Instance) serveOne(conn net.Conn, in *bufio.Reader, r *request) error {
	switch {
	case r.get:
		return i.fleet.streams.hold(conn, in)
	case r.name == Talk:
		return sendEvents(conn, r.id())
	case r.name == Hold:
		return i.fleet.hold(conn, in)
	}
	_, err := conn.Write(i.answer(r))
	return err
}

// hold begins the answer to a call, and returns when nobody waits for it any more.
func (f *Fleet) hold(conn net.Conn, in *bufio.Reader) error {
	f.held.Add(1)
	defer f.held.Add(-1)
	if _, err := io.WriteString(conn, streamHead); err != nil {
		return err
	}
	_, err := in.ReadByte() // nothing comes but the end
	return err
}

// sendEvents sends each event by itself, as servers do that flush what they say.
func sendEvents(w io.Writer, id []byte) error {
	if _, err := io.WriteString(w, streamHead); err != nil {
		return err
	}
	for n := range TalkEvents {
		if err := sendEvent(w, fmt.Sprintf(progress, n)); err != nil {
			return err
		}
	}
	if err := sendEvent(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, toolResult)); err != nil {
		return err
	}
	_, err := io.WriteString(w, "0\r\n\r\n")
	return err
}

// sendEvent sends one event in a chunk of its own.
func sendEvent(w io.Writer, data string) error {
	const around = len("event: message\ndata: \n\n")
	_, err := fmt.Fprintf(w, "%x\r\nevent: message\ndata: %s\n\n\r\n", around+len(data), data)
	return err
}

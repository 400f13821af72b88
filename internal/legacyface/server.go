package legacyface

import (
	"context"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// Server is what stands behind a Face. It is used by many goroutines at once.
type Server interface {
	// Dial begins a session for whoever sends request, an initialize, within wait (0: a bound
	// of its own). What the server says is told to hears, one message at a time, also before
	// Dial returns. A response is a refusal to be passed on; an error is an *exchange.SendError
	// that says that nothing was sent. The connection outlives ctx.
	Dial(ctx context.Context, request *exchange.Request, wait time.Duration, hears Listener) (Conn, *wire.Response, error)
	// Ping finds out whether the server is there. A response is passed on, as of Dial; an error
	// is an *exchange.SendError; neither means that it is.
	Ping(ctx context.Context, request *exchange.Request, wait time.Duration) (*wire.Response, error)
	// Close releases what the server holds beside its connections.
	Close()
}

// Conn carries the messages of a session to the server. It is used by many goroutines at once.
type Conn interface {
	// Say sends one JSON-RPC message in the name of request; nil: of whoever opened the connection. A
	// response is passed on in the answer's place; an error is an *exchange.SendError; neither
	// means that the server has the message, and what it answers will be heard.
	Say(ctx context.Context, request *exchange.Request, message []byte, wait time.Duration) (*wire.Response, error)
	// Close ends the connection and what is being said on it, without waiting. It may be called again.
	Close()
}

// Listener is who a connection tells what it hears. Its methods wait neither for clients nor for the
// connection.
type Listener interface {
	// Hear takes a message or a batch, of which it keeps no part.
	Hear(message []byte)
	// HearLong takes the beginning and the end of a message that is too long to be heard, of which it keeps no part. It reports whether that is a
	// response: its call fails alone then, if it has not ended before.
	HearLong(head, end []byte) (isResponse bool)
	// Lost ends the session: all calls fail with why.
	Lost(why *mcp.Error)
}

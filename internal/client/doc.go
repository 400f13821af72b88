// Package client is the client's side of MCP over Streamable HTTP: it words one
// message of either era as an HTTP request, and reads the answer to it, be it JSON
// or an event stream.
//
// It keeps no session, repeats nothing and decides nothing: how a request travels is
// its caller's function, and what an answer means is its caller's judgement. Of an
// answer it reads at most MaxAnswer bytes, whatever the server sends.
package client

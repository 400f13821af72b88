// Package legacyface shows an MCP server that does not speak Streamable HTTP as one of
// revision 2025-11-25 that does: a Face is an exchange.Sender, and behind it stands a Server,
// which carries messages each way. So whoever sends requests to upstreams need not know.
//
// A session is one connection to the server. In it a call that may ask its client is answered by an
// event stream, with ids from which it can be resumed; other requests are answered in JSON.
// Clients may reuse ids: the server sees ids of the face's own. The server's requests keep
// theirs. A message of the server that names no call of the client goes as follows:
//
//   - a response, progress, the withdrawal of a question: where the id or the token says;
//   - a request: to the asking call begun last, else to the standing stream, else it is
//     refused, or answered if it is a ping;
//   - any other notification: to the standing stream, which keeps it for its next reader.
//
// It promises that a request is told to the server once or not at all, that a client which
// hangs up cancels nothing, and that all calls of a session whose connection is lost fail at once.
// From then on the session is unknown, as it is to any other process: nothing is stored. Sessions that nobody uses keep nobody out.
//
// It costs, of a stream, at most 256 messages or 1 MiB, or one larger message; as much of all
// streams of a session together that have ended, for five minutes; and 64 KiB of a standing
// stream that nobody reads. A reader that falls behind is cut off. Modern requests are refused in the words of a legacy server.
package legacyface

// Package stdio shows an MCP server that speaks stdio (2025-11-25, transports, "stdio") as a
// legacy Streamable HTTP server. It implements exchange.Sender, so whatever sends to upstreams
// sends to processes of such a server too.
//
// It promises what a server of sessions with resumable streams promises. Each session has a
// process of its own, or a part in one: Isolation says which. Ids and progress tokens are
// rewritten towards the process, so those of two clients never meet there. What a process says
// stands in a bounded memory of its stream, from which a client that was cut off goes on;
// closing a stream never cancels its call. A process that ends fails its calls at once, with its
// status and, to whoever has it alone, the end of its stderr, and its sessions answer 404 from then on. One that dies again
// and again is not started at each request (breaker); whether it starts again is tried without any
// (Revive). A process that says nothing while calls are in flight is asked for a sign of life, told of
// (Silence) if it gives none, and given nothing new while another may be started.
//
// stdio says of nothing to which call it belongs. A question of the server's goes to the one call
// that is in flight; to the last begun of several that are of one session; and is refused where
// they are of several sessions, as is a log line dropped. A call that its client has left counts among them until the process
// has answered it, or for ten minutes. A question about a task goes to the
// call that waits for that task's result. Notifications that name something of a client's are
// dropped where a process has several sessions, but for progress, updates of resources and the
// status of tasks. The
// log level is the process's, so the last session to set it decides for all on it.
//
// A process is shared by sessions whose clients say the same in initialize, as far as a server heeds
// that: the later ones are told what the server said to the first.
//
// It costs one operating system process for each place that Isolation makes, five goroutines and
// a waiting thread with each, and of memory at most 1 MiB for each stream that goes on, or one
// message if that is longer, and 4 MiB for those of a session that have ended. One lock orders all
// that a Server knows; it is held while nothing is waited for.
//
// A process ends by the end of its stdin, then SIGTERM, then SIGKILL to its group. What leaves the
// group (setsid) is out of reach. On Linux a process dies with berth; elsewhere its stdin ends.
package stdio

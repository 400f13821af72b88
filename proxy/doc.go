// Package proxy is the HTTP face of berth: one client request from accept to the
// last byte of its answer.
//
// The life of a request:
//
//  1. accept: find the endpoint, check Host and Origin, see whether there is room,
//     ask who calls (packages inbound, admission; proxy.go, config.go; package identity knows).
//  2. classify: read the body within its limits, peek at the envelope, hold the
//     routing headers against it (package inbound; request.go). The bytes are kept as they
//     came. Give it the place that is due to it (package admission).
//  3. route: the owner of the task or session, or of a value that keeps calls together
//     (affinity.go), or none for unbound work (route.go; package routing decides, and
//     asks the fleet by package outbound).
//  4. forward: an owned call to its owner only; unbound work to the picker's
//     choice, and to another only while nothing was sent, for a pure read, or after a refusal by era
//     (forward.go, owned.go, eras.go, headers.go; package outbound says in whose
//     name). How the exchange goes feeds the upstream's health. linger.go says what the
//     client's departure means. A task whose id the client made is bound before the
//     request goes out (package draft).
//  5. observe: each message of the answer, JSON whole (relay.go), event streams
//     event by event (events.go, observe.go), within its bounds (answersize.go). A stream
//     that ends before its response ends with an error in its place (owed.go), unless
//     the client can resume it (resumable.go).
//  6. record: what creates a task or a session is bound (package record), and only then
//  7. release: its bytes go to the client and are flushed.
//  8. finish: one access record, metrics and a span are written (finish.go; package audit).
//
// A subscription may need several upstreams at once, and so takes a way of its own
// after the second step (listen.go; package subscribe).
// A list of a pool's tasks takes a way of its own after the third step: package tasklist makes it
// of what all upstreams say, lists.go answers with it.
//
// A call that a rule makes a task of leaves this way before 3, and so does what is asked about
// such a task, once package access has nothing against the caller; a call that asks for the task
// itself, as clients of 2025-11-25 do, leaves it within its session, after 3 (astask.go; package
// tasks). Package outbound sends what is held, whenever package upgrade says so. Package
// announce says what clients learn of all this, and what tools say of it. What the tool asked is answered in the session, whose standing streams tell
// how its tasks fare, and whose end waits for its calls (package sessiontasks; sessionend.go).
//
// A session whose upstream is lost is moved between 4 and 5, where the pool allows it: package
// failover says where to, package session opens it there, moved.go has the request follow
// under the name that the session has there. That a held call has lost its session shows by
// the next one.
//
// A client that waits long for the plain answer to a call whose tool a rule names
// gets an event stream of berth's own meanwhile, if it takes one:
// stopgap.go keeps it alive, stopgapend.go puts the answer there. Where
// there are rules, what a server says of itself and of its tools gains tasks (package announce).
//
// A poll may be given the answer to another one like it: package polls
// says whose, and marks the changes that end it (polls.go). Which pages of a browser may read
// what berth says is berth's to say; an answer that it makes of others' stays under their
// rule (package reply). A preflight that no upstream answers preflight.go does.
//
// Beside it lie what berth answers for an owner that is silent (package polls), what passes
// unread at the endpoint's origin (passthrough.go), what clients without a token are told there (resource.go),
// how upstreams are sent to and looked at (package outbound).
//
// How berth itself ends, and what it tells of what it has to cut, stands in drain.go.
//
// Any other request of a client is one exchange with an upstream at a time: answers
// cannot cross. Every refusal and failure that berth words itself comes from one
// ladder (package fault; answer.go), and is written by package reply. net/http brings requests in and takes answers out
// (nethttp.go): all else knows only package wire.
package proxy

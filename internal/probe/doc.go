// Package probe finds out what a URL that speaks MCP loses: it makes tasks and opens
// sessions there, asks for them again, and counts what comes back denied. In front of
// several instances that keep their state to themselves, an ordinary balancer denies
// most of it.
//
// What it sends, and where it stops:
//
//   - one request at a time, at most Options.Rate a second, at most
//     Options.MaxRequests in all, for at most Options.Limit, and then cleanLimit (and
//     the time of one request each) for cleaning up; besides at most one stream that
//     listens;
//   - one tool and no other: the one that is named, or else one that its server
//     annotates as read-only and that needs no arguments;
//   - at most Options.MaxTasks calls of that tool and Options.MaxSessions sessions;
//   - nothing twice: no request is repeated behind the caller's back, redirects are
//     not followed, and the environment's HTTP proxy is not used. What is sent more
//     than once, on purpose, is the cancelling of a task and the ending of a session;
//   - nothing more after a 401, after a 429 (but for cleaning up, once Retry-After is
//     over), and after maxFailures requests in a row without an answer.
//
// What it leaves behind: it cancels the tasks that it made and ends the sessions that
// it opened, even if it is interrupted. Where the URL loses these requests too, it
// tries cleanAttempts times and then says what is left.
//
// What it cannot see: all of its requests come from one address, so a balancer that
// sorts callers by address looks whole to it.
//
// Requests travel on a connection each, since a balancer of connections shows on new
// ones only. Answers are read as far as client.MaxAnswer; of what they say, a report
// holds short pieces, without control characters and without the caller's credentials.
package probe

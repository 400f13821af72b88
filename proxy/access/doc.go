// Package access says who may be told of tasks of berth's own making. A principal is told of
// its own, which the task says. Without principals a task is told to who made it, by the same
// credentials, and to other credentials that may be its creator's and that the pool takes.
//
// It promises that no answer tells whether there is a task that the caller may not ask for, and
// that nobody is let in by what berth itself puts into a request. What upstreams say is kept for
// 30 s, a refusal for 5. A caller with a principal costs nothing; a task's creator costs the
// digests of its credentials; anybody else a look-up, or up to two requests a question.
package access

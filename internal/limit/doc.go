// Package limit bounds what callers may take: how much of something at once
// (Gauge), how often (Buckets), and how much memory the process may come to hold
// (Memory).
//
// Nothing here waits or queues. Each type answers at once whether there is room,
// so that a refusal costs less than what it refuses, and what is given back can be
// taken in the same moment: there is no state to recover from.
//
// A caller is a string that its user makes up. What is kept of callers is bounded:
// a Gauge remembers those that hold something, Buckets the most recent of a fixed
// number. A caller that was forgotten begins with a full bucket, so a bound on a
// rate holds for each caller, and not for somebody who can be ten thousand of them.
package limit

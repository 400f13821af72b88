// Package announce tells the clients of a pool which calls can be tasks of berth's own making:
// what its servers say of themselves and of their tools gains tasks where rules name tools. It
// remembers what the servers say of tasks themselves, and asks them where no list has told.
//
// It promises that a server with tasks of its own keeps the tools that are part of that, and
// that an answer which would grow beyond what one may have passes as it came. Only answers to
// initialize, server/discover and, in 2025-11-25, tools/list cost anything; a call that asks to
// be a task waits at most 2 s to know what its tool says.
package announce

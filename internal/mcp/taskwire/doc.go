// Package taskwire is how tasks stand on the wire, in the core's dialect (2025-11-25) and in that of the Tasks extension: a [View] is
// shown in either, a [Core] in the one, what servers tell of a task is read of the other's ([ReadCore], [ReadFollowed]); pages of lists
// of them; whose a message is; and what tools say of tasks.
//
// Cost: a view is written into one piece of memory, but for a large outcome, which is no copy.
package taskwire

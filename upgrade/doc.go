// Package upgrade turns plain tool calls into tasks. An operator's rules name the
// tools; the call to one of them is kept by berth, and its client is given a task of the
// Tasks extension (2026-07-28) in place of the answer.
package upgrade

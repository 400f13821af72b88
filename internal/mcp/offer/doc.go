// Package offer is what servers say of themselves in the results of initialize and server/discover: their versions, names and
// capabilities, read; and tasks among these, added.
//
// Cost: a result is walked for each question; where nothing is added, nothing is copied.
package offer

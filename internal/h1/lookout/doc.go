// Package lookout sees what becomes of many connections, by one epoll instance for all who are watched: one that is watched costs no
// goroutine, of which each has a stack, and may be read meanwhile. What is said on it is left where it is.
//
// Only Linux has it. Elsewhere a lookout sees no connection, and who asks has to read it.
//
// Cost: a hundred bytes a connection in view, from the first watch of it to its end; a system call to bring it into view, and one each
// time that it is to be seen again.
package lookout

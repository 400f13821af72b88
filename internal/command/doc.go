// Package command is berth's command line: its verbs, the flags of the simple
// case, and the life of the serving process, from flags over configuration to the
// graph of parts, its running, its draining and its end.
package command

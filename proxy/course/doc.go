// Package course says where a request goes, by questions that send nothing to upstreams and tell nobody: who serves it before it is
// routed, whom it is for once it is, and what its client is told where neither can be. Whoever serves a request asks, and whoever
// explains one asks the same.
//
//	guide.go       which course a request takes
//	goal.go        whom it is for; owners that are lost, or out of reach
//	routed.go      a request and what was decided of it; in whose name others go to upstreams for it
//	decide.go      the router's word
//	inquirer.go    what the fleet is asked, and by whom
//	alias.go       what its session is called at the upstream; answers to upstreams that it has left
//	unroutable.go  what is told of what could not be routed
package course

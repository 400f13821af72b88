// Package verbs is the part of berth's command line by which operators ask a berth that runs, and give it orders:
// a client of its admin API (package api) and nothing else.
//
// It promises that --json is the API's own answer, that a table is one line a thing with nothing in it that steers a
// terminal, that each wait is bounded, and these exit codes: 0 done; 1 berth refused, could not, or what was
// waited for failed; 2 the command line means nothing; 3 the time to wait was over first; 4 no berth answers.
package verbs

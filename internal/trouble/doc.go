// Package trouble keeps the five numbers that say that something is wrong, and the last events behind each:
// what an operator who is woken up looks at first. They are counted since the process began, and as the
// counter berth.troubles.
//
// It promises that what it keeps is bounded, whatever clients do: the last 200 events of a kind, with texts
// cut. An event costs a lock that is held for less than a microsecond, and nothing is noted of what goes
// well.
package trouble

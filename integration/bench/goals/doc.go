// Package goals says what berth is to cost beside others, and whether a run has shown that it does. A goal is judged by
// the median over the rounds; the least and the greatest value stand beside it, so that a goal that is met by luck shows.
package goals

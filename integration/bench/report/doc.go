// Package report turns what rounds have measured into one table. Values are medians over the rounds; a ratio is the
// median of the ratios of each round, whose measurements lay beside each other, so that a machine that is busy for a
// while counts less. A Run is what a file keeps of one, so that tables can be made of it again.
package report

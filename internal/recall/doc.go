// Package recall keeps what was read of texts that come again: a [Memory] of them, each in one place, by two words in which they differ;
// and the [Form] of messages that come again but for some values, the [Gaps].
//
// Nothing but the same bytes is ever taken for what was read before. Who reads decides what is kept, and what may stand in a gap.
//
// Cost: a look at one place, a comparison with what is kept there (of forms four at most, of up to 1 KiB each), and a walk over the gaps. What does not come
// again takes the place of another once in sixteen times, and costs no memory else.
package recall

// Package recent keeps values by a hash of their keys, and knows which of them were used last, so that whoever bounds them forgets the
// others first. The keys are the callers': a hash may be that of several, and it is the caller who looks whether a value is the one that is meant.
//
// Cost: to find a value touches one line of the index and the value itself, to use it nothing more as a rule. Values stand in
// pages, and a place is used again for the next value, so that one that is added costs no allocation. Where values are removed
// their places stay. The index grows by doubling, all at once: 100,000 values take about a millisecond.
package recent

package audit

import "sync/atomic"

// portions are parts of lines that were written, each as its line has it: one that says the same as one before is not written
// anew. The zero value has none. Its methods may be called concurrently.
type portions[P comparable] struct {
	places [64]atomic.Pointer[portion[P]] // by a number of what they say, which differs between those that come in turns
	missed atomic.Uint32
}

type portion[P comparable] struct {
	says P
	text string
}

// keptAfter is how many portions are not found until one is kept in another's place: what comes in turns, or is made up, costs
// no memory then.
const keptAfter = 64

// portioned is what a portion says.
type portioned[P any] interface {
	*P
	fill(l *line) // adds it to a line
	size() int    // of its texts which others have worded
	clone() P     // pins no request
}

// write adds what it says to a line: as it was written before, if it is known. number is its place among portions.
func write[P comparable, S portioned[P]](l *line, k *portions[P], number uint, says *P) {
	place := &k.places[number%uint(len(k.places))]
	known := place.Load()
	if l.text != nil && known != nil && known.says == *says {
		l.text.Again(known.text)
		return
	}
	own, onto := *says, *l // what a type parameter's methods are given escapes: so these do, where that is seldom
	one, from := S(&own), onto.length()
	one.fill(&onto)
	*l = onto
	if l.text != nil && one.size() <= clipped && (known == nil || k.missed.Add(1)%keptAfter == 0) {
		place.Store(&portion[P]{one.clone(), l.text.Since(from)})
	}
}

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

func (k *portions[P]) at(number uint) *atomic.Pointer[portion[P]] {
	return &k.places[number%uint(len(k.places))]
}

// again adds what says the same to a line, if it is known.
func (k *portions[P]) again(l *line, number uint, says *P) bool {
	if l.text == nil {
		return false
	}
	known := k.at(number).Load()
	if known == nil || known.says != *says {
		return false
	}
	l.text.Again(known.text)
	return true
}

// mayKeep reports whether what was just added to a line, of texts of so many bytes, is to be known.
func (k *portions[P]) mayKeep(l *line, number uint, size int) bool {
	return l.text != nil && size <= clipped && (k.at(number).Load() == nil || k.missed.Add(1)%keptAfter == 0)
}

// keep keeps it; says pins no request.
func (k *portions[P]) keep(number uint, says P, text string) {
	k.at(number).Store(&portion[P]{says, text})
}

package jsonobject

import "bytes"

// layout is where the members of an object stand, as far as a patch needs to know.
type layout struct {
	first         int // where the first member begins, its comma and blanks included
	members, stay int // how many there are, and how many stay
	end           int // of the last member
}

// note notes a member that begins at lead. moves: it is what is now the first one, and was not.
func (l *layout) note(lead int, stays bool) (moves bool) {
	if l.members++; l.members == 1 {
		l.first = lead
	}
	if stays {
		l.stay++
	}
	return stays && l.stay == 1 && l.members > 1
}

// begin has no comma stand before the member that begins at lead, which is now the first one.
func (l *layout) begin(data []byte, lead, at int) Edit {
	return Edit{at + lead, at + quoteFrom(data, lead), data[l.first:quoteFrom(data, l.first)]}
}

// quoteFrom is where the name of the member begins that begins at lead.
func quoteFrom(data []byte, lead int) int { return lead + bytes.IndexByte(data[lead:], '"') }

package jsonobject

import "berth/internal/jsonscan"

// Reader walks objects whose names decide something, and refuses what is ambiguous. What it hands out aliases the text, but
// for names with escapes.
type Reader struct {
	jsonscan.Scanner
	lead    int   // where the comma and the blanks before the last name begin, in an object of which no member is known
	names   names // of the members of all objects that are being read
	strange bool  // there were members that are not known
}

// MaxMembers bounds the members of an object: no real message comes near.
const MaxMembers = 512

// Object is one that a Reader is in, or that it has left.
type Object struct {
	Member Set   // the one whose value comes next; 0: none that is known
	Seen   Set   // of those that are known
	Count  int   // of its members
	Fault  error // the first of names, or what was noted

	guarded *Guarded
	first   int // where the names of those that are not known begin among the reader's
}

// Note keeps the first fault. It is returned at the end: what is no JSON at all is called
// that, and an id behind the name is still found.
func (o *Object) Note(fault error) {
	if o.Fault == nil {
		o.Fault = fault
	}
}

// Enter enters the next object.
func (r *Reader) Enter(g *Guarded) Object {
	r.Open('{')
	return Object{guarded: g, first: r.names.count}
}

// Next steps to the next member of o, in order, whose value has then to be read. A name that stands there twice, or
// differs from a guarded one only in case, is passed over.
func (r *Reader) Next(o *Object) bool {
	for {
		number, ok := r.Member(o.guarded.known)
		if !ok {
			break
		}
		if o.Count == MaxMembers {
			o.Note(r.abort())
			break
		}
		if o.Member = Set(number); o.Member&o.guarded.set&^o.Seen != 0 { // as most are
			o.Seen |= o.Member
			o.Count++
			return true
		}
		if fault := r.judge(o); fault != nil {
			o.Note(fault)
			r.Value()
			continue
		}
		return true
	}
	r.strange = r.strange || r.HasOthers(o)
	r.names.count = o.first
	return false
}

// nextOfAny is Next for an object of which no member is known.
func (r *Reader) nextOfAny(o *Object) bool {
	for {
		r.lead = r.At()
		if _, ok := r.Name(); !ok {
			break
		}
		if o.Count == MaxMembers {
			o.Note(r.abort())
			break
		}
		fault := r.judge(o)
		if fault == nil {
			return true
		}
		o.Note(fault)
		r.Value()
	}
	r.names.count = o.first
	return false
}

// HasOthers reports whether o, which is open, has shown members that are not known.
func (r *Reader) HasOthers(o *Object) bool { return r.names.count > o.first }

// IsStrange reports whether any object that was left had members that are not known.
func (r *Reader) IsStrange() bool { return r.strange }

// abort says that there are too many members. Of the outermost object nothing more is read, any
// other is passed over: what follows may be no JSON at all.
func (r *Reader) abort() error {
	if r.Depth() == 1 {
		r.Fail(ErrTooManyMembers)
	}
	for ok := true; ok; _, ok = r.Name() {
		r.Value()
	}
	return ErrTooManyMembers
}

// judge returns why o's next name is ambiguous, nil if it is not, and remembers it for those that follow.
func (r *Reader) judge(o *Object) error {
	name, plain := NameOf(&r.Scanner)
	if o.Member == 0 && o.guarded.known != nil {
		o.Member = Set(o.guarded.known.Of(name))
	}
	switch {
	case o.Seen&o.Member != 0, o.Member == 0 && r.names.haveSince(o.first, name):
		return AmbiguousError{ReasonDuplicateKey, string(name)}
	case o.Member == 0:
		r.names.add(name)
	}
	o.Seen |= o.Member
	o.Count++
	if o.guarded.differs(name, plain) {
		return AmbiguousError{ReasonKeyCase, string(name)}
	}
	return nil
}

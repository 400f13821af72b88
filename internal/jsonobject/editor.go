package jsonobject

// editor finds what a patch changes in a message, in one pass: an object that something changes within is read where it
// stands.
type editor struct {
	Reader
	at  int // where the text stands in the message
	out []Edit
}

// changes are those of a patch, a bit for each.
type changes uint64

func (c changes) have(i int) bool { return c&(1<<i) != 0 }

// add adds one; -1 is none.
func (c *changes) add(i int) {
	if i >= 0 {
		*c |= 1 << i
	}
}

// object adds what p changes in the object that comes next, and reads it to its end. A fault of its own members comes before
// those of the objects within.
func (e *editor) object(p Patch) error {
	o := e.Enter(&unguarded)
	l := layout{end: e.At()}
	var found changes
	var within error
	for e.nextOfAny(&o) {
		lead := e.lead
		i, alike := p.named(NameOf(&e.Scanner))
		if alike != nil {
			o.Note(alike)
		}
		if l.note(lead, i < 0 || !p[i].removes()) {
			e.out = append(e.out, l.begin(e.Text(), lead, e.at))
		}
		if i < 0 || within != nil {
			e.Value()
		} else {
			within = e.change(&p[i], lead)
		}
		found.add(i)
		l.end = e.At()
	}
	if o.Fault != nil {
		return o.Fault
	}
	e.out = append(e.out, Edit{e.at + l.end, e.at + l.end, p.added(found, l.stay == 0)})
	return within
}

// named is which change of p is that of a member, -1 if none is. It fails where the name of one is another's but for its case.
func (p Patch) named(name []byte, plain bool) (i int, alike error) {
	for i := range p {
		if string(name) == p[i].Name {
			return i, nil
		}
		if isAlike(name, plain, p[i].Name) {
			alike = AmbiguousError{ReasonKeyCase, string(name)}
		}
	}
	return -1, alike
}

// change adds what becomes of the member that begins at lead, whose value comes next.
func (e *editor) change(c *Change, lead int) error {
	kind := e.Kind()
	from := e.At()
	if c.Within != nil && kind == '{' {
		return e.object(c.Within)
	}
	e.Value()
	old := Edit{e.at + from, e.at + e.At(), c.Value}
	switch {
	case c.removes():
		old.From = e.at + lead
	case c.Within == nil:
	case !c.Within.adds():
		return nil
	case kind == 'n':
		old.With = c.Within.Object()
	default:
		return ErrNotObject
	}
	e.out = append(e.out, old)
	return nil
}

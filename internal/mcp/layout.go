package mcp

import "slices"

// layout is where the members of an object stand, as far as a patch needs to know.
type layout struct {
	first, stays  span // the first member, and the first that stays
	members, stay int  // how many there are, and how many stay
	end           int  // of the last member
}

// hit is a member that a patch names, and which change that is.
type hit struct {
	change int
	span
}

// layout finds out where the members of the one object in data stand. Those that p names it tells found, in order.
func (p patch) layout(data []byte, found func(h hit)) (l layout, err error) {
	known := make([]string, 0, few)
	for _, c := range p {
		known = append(known, c.name)
	}
	l.end = jsonOpen(data)
	err = walk(data, known, func(s span) error {
		i := slices.IndexFunc(p, func(c change) bool { return c.name == string(s.name) })
		if i >= 0 {
			found(hit{i, s})
		}
		l.note(s, i < 0 || !p[i].removes())
		return nil
	})
	return l, err
}

func (l *layout) note(s span, stays bool) {
	if l.members++; l.members == 1 {
		l.first = s
	}
	l.end = s.to
	if !stays {
		return
	}
	if l.stay++; l.stay == 1 {
		l.stays = s
	}
}

// begin has no comma stand before what is now the first member.
func (l *layout) begin(data []byte, at int) edit {
	return edit{at + l.stays.lead, at + l.stays.quote(data), data[l.first.lead:l.first.quote(data)]}
}

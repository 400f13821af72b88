package routing

// Candidate is an upstream as new work sees it.
type Candidate struct {
	*Upstream
	Draining bool    // it gets no new work
	Rank     int     // the lowest there is gets the work; -1: never
	Load     int     // as the picker counts it
	Share    float64 // of the work, against others
	Room     bool    // its bound on what it has under way is not reached, or there is none
	Foreign  bool    // to the era of the work
}

// Prospect is what would become of unbound work now.
type Prospect struct {
	Candidates []Candidate // all upstreams of the pool
	Among      []*Upstream // the picker would choose one of these
	Waits      bool        // there is no room, and it would wait for some
	Err        error       // ErrNoUpstream or ErrFull: nobody would get it
}

// Terms are on what terms work is looked at.
type Terms struct {
	MayWait bool // as Await has it; else as Pick
	GoesOn  bool // it is to go on at the upstream that it prefers
}

// Prospect tells what Await, or Pick for work that may not wait, would do with w: nobody is picked, and nothing
// changes.
func (p *Pool) Prospect(w Work, terms Terms) (o Prospect) {
	s, m := p.settings.Load(), p.members.Load()
	choice := Choice{slow: s.SlowStart, tasks: s.CountTasks}
	for _, u := range m.all {
		c := Candidate{Upstream: u, Draining: u.IsDraining(), Rank: u.rank(w.Era), Load: choice.Load(u), Share: choice.Share(u), Room: u.hasRoom(s), Foreign: u.Profile().IsForeign(w.Era)}
		if c.Draining {
			c.Rank = -1
		}
		o.Candidates = append(o.Candidates, c)
	}
	if terms.GoesOn && w.Prefer != "" {
		if u, _ := p.wouldGoOn(w.Prefer); u != nil {
			o.Among = []*Upstream{u}
			return o
		}
	}
	o.Among, o.Err = m.among(s, w)
	if o.Err == ErrFull && !terms.MayWait { // see room.squeeze
		o.Among, o.Err = m.choice(m.candidates(w.Era, w.Prefer, nil))
	} else if m.isBounded(s) && terms.MayWait {
		o.Waits, o.Err = p.room.wouldWait(s, w, o.Err)
	}
	if len(o.Among) > 1 {
		if u := p.Find(p.selection.home(s, w, o.Among, m.even)); u != nil {
			o.Among = []*Upstream{u}
		}
	}
	return o
}

// among are those that the picker would choose from.
func (m *members) among(s *Settings, w Work) ([]*Upstream, error) {
	if !m.isBounded(s) {
		return m.choice(m.candidates(w.Era, w.Prefer, nil))
	}
	best, preferred, err := m.withRoom(s, w, nil)
	if err != nil {
		return nil, err
	}
	return m.choice(best, preferred)
}

func (m *members) choice(best []*Upstream, preferred *Upstream) ([]*Upstream, error) {
	switch {
	case preferred != nil:
		return []*Upstream{preferred}, nil
	case len(best) == 0:
		return nil, ErrNoUpstream
	}
	return best, nil
}

// wouldWait reports whether work that found err would wait for room, or is turned away; nil: there is room, but
// others who wait are first.
func (r *room) wouldWait(s *Settings, w Work, err error) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.queue.Len() == 0 && err != ErrFull:
		return false, err
	case r.queue.Len() >= s.Queue && !r.wouldYield(s, w.Caller):
		return false, ErrFull
	}
	return true, nil
}

package task

// Rules are an operator's rules, in the order in which they count. The zero value
// upgrades nothing.
type Rules []Rule

// For returns the first rule that is for calls of tool in pool, nil if there is none.
// The rule is shared: it must not be changed.
func (r Rules) For(pool, tool string) *Rule {
	for i := range r {
		if r[i].matches(pool, tool) {
			return &r[i]
		}
	}
	return nil
}

// In reports whether any rule is for pool, whatever the tool.
func (r Rules) In(pool string) bool {
	for i := range r {
		if r[i].isFor(pool) && len(r[i].Tools) > 0 {
			return true
		}
	}
	return false
}

package course

import (
	"bytes"
	"slices"

	"berth/internal/mcp"
	"berth/internal/mcp/idtag"
	"berth/sticky"
)

// OpenAlias reads the alias that the decision bears. One that cannot be opened is no
// way to the session.
func (r *Routed) OpenAlias() error {
	if r.Decision.Alias == "" {
		r.Alias = ""
		return nil
	}
	alias, err := r.Way().AliasIn(r.Decision.Alias)
	if err != nil {
		r.Guide.Log.Warn("the alias of a session cannot be read", "pool", r.PoolName(), "error", err)
		return mcp.ErrUnknownSession
	}
	r.Alias = alias
	return nil
}

// FindAsker has a client's answer go to who has asked: the upstream that holds its session, or one that the session
// has left. It reports false if neither has, as far as that is known, and true for what is no answer.
func (r *Routed) FindAsker() bool { return r.untag() || r.answersFormer() }

// untag takes the tag off a client's answer in a session that has moved. known is false if
// there is none: it answers an upstream that does not hold the session any more. The present
// one may have asked something else under the same id.
func (r *Routed) untag() (known bool) {
	if r.Alias == "" || !r.IsResponse() {
		return true
	}
	body, known := idtag.Untag(bytes.TrimSpace(r.Body), r.Way().Tag())
	if known {
		r.Call = r.WithBody(body)
	}
	return known
}

// answersFormer has a client's answer go to an upstream that its session has left, which may have
// asked in a call that still runs there. It reports false if there is none, or the answer is to
// nothing that one asked.
func (r *Routed) answersFormer() bool {
	return slices.ContainsFunc(r.Decision.Binding.Formers(), r.answersAt)
}

func (r *Routed) answersAt(place sticky.Location) bool {
	former := r.Pool().Find(place.Upstream)
	if former == nil || former.Silent() {
		return false
	}
	alias, err := r.Way().AliasIn(place.Alias)
	if err != nil {
		return false
	}
	present := r.Alias
	if r.Alias = alias; alias != "" {
		body, ok := idtag.Untag(bytes.TrimSpace(r.Body), r.Way().Tag())
		if !ok {
			r.Alias = present
			return false
		}
		r.Call = r.WithBody(body)
	}
	r.Decision.Owner, r.Decision.Alias, r.Stays = former, place.Alias, true
	return true
}

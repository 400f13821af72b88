package config

import "slices"

// Values of [Pool.Picker] and [Pool.RendezvousBy].
const (
	PickerRendezvous = "rendezvous"
	ByPrincipal      = "principal" // else "header:NAME"
)

// RendezvousHeader is the header of RendezvousBy in canonical form; "" is none.
func (p *Pool) RendezvousHeader() string {
	if p.RendezvousBy == ByPrincipal {
		return ""
	}
	return affinityHeader(p.RendezvousBy)
}

func (v *validator) balance(pool string, p Pool) {
	if p.RendezvousBy != ByPrincipal {
		v.keepingHeader(pool+".rendezvous_by", p.RendezvousBy, `"principal" or "header:NAME"`)
	}
	v.faultIf(p.RendezvousBy != ByPrincipal && p.Picker != PickerRendezvous, pool+".picker", "must be %q for rendezvous_by to count", PickerRendezvous)
	v.faultIf(len(p.Upstreams) > 0 && !p.Discover.Enabled() && !slices.ContainsFunc(p.Upstreams, func(u Upstream) bool { return !u.Backup }),
		pool+".upstreams", "must not all be backups: there would be nothing that they stand in for")
}

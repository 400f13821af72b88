package peers

import (
	"context"
	"strings"
)

// heard acts on what a berth has told.
func (p *Peers) heard(ctx context.Context, message string) {
	from, about, ok := strings.Cut(message, " ")
	switch {
	case !ok:
		p.ledger.Notices.WakeAll()
		p.lookAtChanges(ctx)
	case from == p.ledger.Holder:
	default:
		for one := range strings.FieldsSeq(about) {
			p.ledger.Notices.Wake(one)
			p.runner.LookAt(ctx, one)
			p.runner.Recount(ctx, one)
		}
	}
}

package task

// PackedCall is a Call as a berth keeps it while it waits: what was lent is its own.
type PackedCall struct {
	Body        []byte
	own, header Pairs
	host, query string
	unsent      string
	session     string
	Bare        bool
}

// Pack returns c as it waits.
func Pack(c *Call) PackedCall {
	all := make(Pairs, 0, len(c.Own)+len(c.Header))
	all = append(append(all, c.Own...), c.Header...)
	n := len(c.Own)
	return PackedCall{c.Body, all[:n:n], all[n:], c.Host, c.Query, c.Unsent, c.Session, c.Bare}
}

// Unpack returns the call as it is sent.
func (p *PackedCall) Unpack() *Call {
	return &Call{Body: p.Body, Own: p.own, Session: p.session, Envelope: Envelope{
		Host: p.host, Query: p.query, Header: p.header, Unsent: p.unsent, Bare: p.Bare,
	}}
}

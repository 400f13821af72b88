package task

// PackedCall is a Call as a berth keeps it while it waits: header maps cost thousands of
// held calls more than what is in them.
type PackedCall struct {
	Body        []byte
	own, header pairs
	host, query string
	session     string
	Bare        bool
}

// pairs are the names and values of headers, in turn.
type pairs []string

// Pack returns c as it waits.
func Pack(c *Call) PackedCall {
	return PackedCall{c.Body, toPairs(c.Own), toPairs(c.Header), c.Host, c.Query, c.Session, c.Bare}
}

// Unpack returns the call as it is sent.
func (p *PackedCall) Unpack() *Call {
	return &Call{Body: p.Body, Own: p.own.toMap(), Session: p.session, Envelope: Envelope{Host: p.host, Query: p.query, Header: p.header.toMap(), Bare: p.Bare}}
}

func toPairs(headers map[string][]string) pairs {
	n := 0
	for _, values := range headers {
		n += 2 * len(values)
	}
	p := make(pairs, 0, n)
	for name, values := range headers {
		for _, value := range values {
			p = append(p, name, value)
		}
	}
	return p
}

func (p pairs) toMap() map[string][]string {
	headers, values := make(map[string][]string, len(p)/2), make([]string, len(p)/2)
	for i := range values {
		name, value := p[2*i], values[i:i+1:i+1]
		if value[0] = p[2*i+1]; headers[name] != nil {
			value = append(headers[name], value[0])
		}
		headers[name] = value
	}
	return headers
}

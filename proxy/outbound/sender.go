package outbound

import "berth/proxy/inbound"

// Sender sends to the upstreams of an endpoint's pool.
type Sender struct{ *inbound.Endpoint }

func To(ep *inbound.Endpoint) Sender { return Sender{ep} }

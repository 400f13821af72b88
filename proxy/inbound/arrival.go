package inbound

// Arrival finds out what a client asks: Guard, Recognise, Read, Classify, FindSession and
// FindAffinity, in this order. From then on its Call does not change.
type Arrival struct{ *Call }

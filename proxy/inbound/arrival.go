package inbound

import (
	"slices"

	"berth/internal/wire"
	"berth/proxy/fault"
)

// Arrival finds out what a client asks: Guard, CheckMethod and CheckBody, Recognise, Read, and Understand, in this
// order. From then on its Call does not change.
type Arrival struct{ *Call }

// CheckMethod refuses a method that the path does not have.
func (x Arrival) CheckMethod() error {
	if !slices.Contains(x.Methods(), x.HTTP.Method) {
		return fault.Method
	}
	return nil
}

// CheckBody refuses a body that nobody reads: a server that overlooks it takes it for the next request on its connection, which may be
// another caller's. One of unknown length is looked at by Read.
func (x Arrival) CheckBody() error {
	if x.HTTP.Method != wire.MethodPost && x.HTTP.ContentLength > 0 {
		return fault.BodyBesidePost
	}
	return nil
}

// Understand finds out what is asked, once the body is there.
func (x Arrival) Understand() error {
	if x.HTTP.Method == wire.MethodPost {
		if err := x.Classify(); err != nil {
			return err
		}
	}
	if err := x.FindSession(); err != nil {
		return err
	}
	return x.findAffinity()
}

package client

import (
	"testing"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
)

func TestConformance(t *testing.T) {
	exchangetest.Senders(t, func(d exchangetest.Dialling) exchange.Sender {
		return New(Options{Connect: d.Connect, Dial: d.Dial, TLS: d.TLS})
	})
}

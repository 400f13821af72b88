package exchangetest

import (
	"crypto/tls"
	"testing"
	"time"

	"berth/internal/exchange"
)

// Dialling is how the connections of a sender over HTTP/1.1 are made. Of Dial and TLS one at most is set.
type Dialling struct {
	Connect time.Duration
	Dial    exchange.Dial
	TLS     func(address string) *tls.Config
}

// Senders tests what a sender over HTTP/1.1 promises, whoever makes it.
func Senders(t *testing.T, make func(Dialling) exchange.Sender) {
	s := subject{make}
	for name, test := range map[string]func(*testing.T, subject){
		"refused is not sent":                               testRefusedIsNotSent,
		"a connection that is not made in time is not sent": testConnectionThatIsNotMadeInTimeIsNotSent,
		"reset after the request is sent":                   testResetAfterTheRequestIsSent,
		"a certificate that is not trusted is not sent":     testCertificateThatIsNotTrustedIsNotSent,
		"no request is sent twice":                          testNoRequestIsSentTwice,
		"bodiless requests stay bodiless":                   testBodilessRequestsStayBodiless,
		"redirects are not followed":                        testRedirectsAreNotFollowed,
		"a client who leaves is no timeout":                 testClientWhoLeavesIsNoTimeout,
		"answers that are none":                             testAnswersThatAreNone,
		"a head that breaks off is not garbled":             testHeadThatBreaksOffIsNotGarbled,
		"informational answers are skipped":                 testInformationalAnswersAreSkipped,
		"statuses that end an exchange":                     testStatusesThatEndAnExchange,
		"headers that take too long end the exchange":       testHeadersThatTakeTooLongEndTheExchange,
		"the time for headers does not cut the body":        testHeaderTimeoutDoesNotCutTheBody,
		"no limit waits as long as a tool":                  testNoLimitWaitsAsLongAsATool,
		"closing the body ends the exchange":                testClosingTheBodyEndsTheExchange,
		"exchanges leave nothing behind":                    testExchangesLeaveNothingBehind,
		"encoded answers are never inflated":                testEncodedAnswersAreNeverInflated,
		"long answers stream":                               testLongAnswersStream,
		"a broken message is an error":                      testBrokenMessageIsAnError,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

// subject is what is tested.
type subject struct {
	new func(Dialling) exchange.Sender
}

// of returns a sender that is closed with the test.
func (s subject) of(t *testing.T, d Dialling) exchange.Sender {
	t.Helper()
	c := s.new(d)
	t.Cleanup(c.Close)
	return c
}

func (s subject) client(t *testing.T) exchange.Sender {
	t.Helper()
	return s.of(t, Dialling{Connect: 5 * time.Second})
}

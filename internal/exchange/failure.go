package exchange

import (
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"
)

// ErrNotInTime says that no answer's headers came in the time given. Only a
// SendError bears it, which names the package.
var ErrNotInTime = errors.New("no answer in time")

// ErrStatus says that a status is none with which an exchange ends. 101 would make a tunnel of the
// connection, for whoever believes it (RFC 9110, 15.2.2), and net/http panics when it is to
// write one below 100. Those above 599 are invalid (RFC 9110, 15).
var ErrStatus = errors.New("no answer ends with status")

// IsFinal reports whether status may end an exchange. Who sends has skipped the
// informational ones before it, as many as fit the limit of an answer's headers.
func IsFinal(status int) bool { return status >= 200 && status <= 599 }

// refusals are the alerts by which a server ends a handshake whose certificate it does not take
// (RFC 8446, 6.2).
var refusals = func() (words []string) {
	for _, alert := range []tls.AlertError{40, 42, 43, 44, 45, 46, 48, 49, 51, 116} {
		words = append(words, alert.Error())
	}
	return words
}()

// RefusesHandshake reports whether err, of the first exchange of a connection, is a server's word that it does not agree
// on TLS. By TLS 1.3 that comes when the client has the handshake behind it and may have written the request, which
// such a server never reads.
func RefusesHandshake(err error) bool {
	alert, ok := errors.AsType[*net.OpError](err)
	return ok && alert.Op == "remote error" && slices.Contains(refusals, alert.Err.Error())
}

// IsStarved reports whether err says that this machine, and not the upstream, lacks
// what a connection takes.
func IsStarved(err error) bool {
	if lookup, ok := errors.AsType[*net.DNSError](err); ok { // bears what it is because of as text alone
		return slices.ContainsFunc(lacks, func(lack syscall.Errno) bool { return strings.HasSuffix(": "+lookup.Err, ": "+lack.Error()) })
	}
	return errors.Is(err, syscall.EADDRNOTAVAIL) || slices.ContainsFunc(lacks, func(lack syscall.Errno) bool { return errors.Is(err, lack) })
}

// lacks are what a machine may lack for any connection. It has no port left, too, where an address cannot be assigned to one; to a name's
// server that may be said where there is none of such addresses.
var lacks = []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM}

// IsTimeout reports whether err says that something took too long.
func IsTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, ErrNotInTime) || errors.As(err, &timeout) && timeout.Timeout()
}

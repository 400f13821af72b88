package sessions

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"

	"berth/internal/exchange"
	"berth/proxy/inbound"
)

// CallerOf names whose request it is: by its principal, or where there is none by all that could be
// a credential, for only the upstream knows what is, and by what the upstream does not get of those.
func CallerOf(out *exchange.Request) string {
	if out.Caller != "" {
		return nameOf(out, out.Caller)
	}
	h := inbound.WithoutPassingCookies(out.Header)
	return nameOf(out, joined(out, inbound.DigestOf(h, saysNothingIn(out)), out.Unsent.Digest))
}

// Names are what names the caller to whom something is given that only it may bring back: the first where it is given, any of them where
// it is brought. A token that was refreshed names the same caller, which whoever has not got what was given cannot use; it goes to the
// upstream as it is, which judges it. The others are as berths up to 0.10.1 name a caller without a principal.
func (b *Borrower) Names() []string {
	if b.Out.Caller != "" {
		return []string{b.Caller}
	}
	h := inbound.WithoutPassingCookies(b.Out.Header)
	named := joined(b.Out, inbound.DigestOfNamed(h, saysNothingIn(b.Out)), b.Out.Unsent.Digest)
	former := joined(b.Out, inbound.DigestOf(b.Out.Header, isNobodys), "")
	return slices.Compact([]string{nameOf(b.Out, named), nameOf(b.Out, former)})
}

// About is what something given to the caller is sealed for, and the parts that say of what it is.
func (b *Borrower) About(parts ...string) (all [][]string) {
	for _, name := range b.Names() {
		all = append(all, append(slices.Clone(parts), name))
	}
	return all
}

// saysNothingIn tells which headers of a request say nothing of who its caller is.
func saysNothingIn(out *exchange.Request) func(name string) bool {
	return func(name string) bool {
		return isNobodys(name) || inbound.IsOfProgram(name) || inbound.IsOfEachRequest(name) || out.Unsent.Authorization && name == "Authorization"
	}
}

// isNobodys reports whether a header is of one request, or says where that had reached a berth: the next one may reach another.
func isNobodys(name string) bool {
	return inbound.IsOfOneRequest(name) || inbound.IsOfOneCall(name) || name == "X-Forwarded-Host" || name == "X-Forwarded-Proto" || name == "X-Forwarded-Port"
}

func joined(out *exchange.Request, headers [sha256.Size]byte, unsent string) string {
	parts := []string{string(headers[:]), out.URL.RawQuery}
	if unsent != "" {
		parts = append(parts, unsent)
	}
	return inbound.Joined(parts...)
}

func nameOf(out *exchange.Request, who string) string {
	sum := sha256.Sum256([]byte(inbound.Joined(out.Caller, who)))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

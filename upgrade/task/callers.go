package task

import (
	"hash/maphash"
	"sync/atomic"
)

// named is a caller and its digest.
type named struct{ caller, digest string }

// callers are those who made tasks last, each in one place. Nothing but the same name is ever taken for one of them.
var callers [64]atomic.Pointer[named]

var callersSeed = maphash.MakeSeed()

// longestCaller is how long a name is that is kept, in bytes.
const longestCaller = 256

// digestOfCaller is the digest of who calls: most make several tasks.
func digestOfCaller(caller string) string {
	place := &callers[maphash.String(callersSeed, caller)%uint64(len(callers))]
	if last := place.Load(); last != nil && last.caller == caller {
		return last.digest
	}
	digest := Digest(caller)
	if len(caller) <= longestCaller {
		place.Store(&named{caller, digest})
	}
	return digest
}

package engine

// The operations, as metrics and errors name them.
const (
	OpGet          = "get"
	OpGetSome      = "get_some"
	OpPutIfAbsent  = "put_if_absent"
	OpSwap         = "swap"
	OpPut          = "put"
	OpEach         = "each"
	OpDelete       = "delete"
	OpAddMember    = "enlist"
	OpRemoveMember = "delist"
	OpMembers      = "members"
	OpKeepMembers  = "keep"
	OpListing      = "listing"
	OpPage         = "page"
	OpNotify       = "notify"
	OpNow          = "now"
	OpRate         = "rate"
	OpPing         = "ping"
	OpInfo         = "info"  // not counted: nobody waits for it
	OpWatch        = "watch" // not counted: it never ends
)

// Writes reports whether an operation changes what the store keeps.
func Writes(op string) bool {
	switch op {
	case OpPutIfAbsent, OpSwap, OpPut, OpEach, OpDelete, OpAddMember, OpRemoveMember, OpKeepMembers, OpRate:
		return true
	}
	return false
}

package mcp

// answerMember is a member of an answer that is read, or a set of them: those of an object may not stand there twice.
type answerMember uint32

const (
	memberID answerMember = 1 << iota
	memberMethod
	memberParams
	memberResult
	memberError

	memberCode // of the error

	memberResultType // of the result
	memberState
	memberNextCursor
	memberVersion
	memberOwnTask

	memberTaskID // of a task: the result, result.task or params
	memberStatus
	memberStatusMessage
	memberTTLMs
	memberTTL
	memberKeepAlive

	memberURI // of params on a subscription's stream
	memberMeta

	memberSubscription // of params._meta there
)

const (
	messageMembers    = memberID | memberMethod | memberParams | memberResult | memberError
	taskMembers       = memberTaskID | memberStatus | memberStatusMessage | memberTTLMs | memberTTL | memberKeepAlive
	resultMembers     = memberResultType | memberState | memberNextCursor | memberVersion | memberOwnTask | taskMembers
	subscribedMembers = memberURI | memberMeta | taskMembers
)

// memberOf is the one of that name, 0 for any other.
func memberOf(name []byte) answerMember {
	switch string(name) {
	case "id":
		return memberID
	case "method":
		return memberMethod
	case "params":
		return memberParams
	case "result":
		return memberResult
	case "error":
		return memberError
	case "code":
		return memberCode
	case "resultType":
		return memberResultType
	case memberRequestState:
		return memberState
	case "nextCursor":
		return memberNextCursor
	case "protocolVersion":
		return memberVersion
	case memberTask:
		return memberOwnTask
	case "taskId":
		return memberTaskID
	case "status":
		return memberStatus
	case "statusMessage":
		return memberStatusMessage
	case "ttlMs":
		return memberTTLMs
	case "ttl":
		return memberTTL
	case "keepAlive":
		return memberKeepAlive
	case "uri":
		return memberURI
	case "_meta":
		return memberMeta
	case metaSubscription:
		return memberSubscription
	}
	return 0
}

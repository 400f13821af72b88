package mcp

// memberSet is a member that is known by its name, wherever that stands, or a set of them.
type memberSet uint64

const (
	memberJSONRPC memberSet = 1 << iota // of a message
	memberID
	memberMethod
	memberParams
	memberResult
	memberError

	memberMeta // of params
	memberName
	memberURI
	memberCursor
	memberState
	memberArguments
	memberNotifications
	memberCapabilities

	memberMetaVersion // of _meta
	memberMetaCapabilities
	memberMetaClient
	memberToken
	memberTraceParent
	memberTraceState
	memberNewTask
	memberRelatedTask
	memberSubscription

	memberExtensions // of what a client is capable of
	memberTasksExtension
	memberElicitation
	memberSampling
	memberRoots

	memberCode // of an error

	memberResultType // of a result
	memberNextCursor
	memberVersion
	memberOwnTask

	memberTaskID // of a task: the result, result.task or params
	memberStatus
	memberStatusMessage
	memberTTLMs
	memberTTL
	memberKeepAlive
)

// Members of an answer that are read, by the object that they stand in: they may not stand there twice.
const (
	messageMembers    = memberID | memberMethod | memberParams | memberResult | memberError
	taskMembers       = memberTaskID | memberStatus | memberStatusMessage | memberTTLMs | memberTTL | memberKeepAlive
	resultMembers     = memberResultType | memberState | memberNextCursor | memberVersion | memberOwnTask | taskMembers
	subscribedMembers = memberURI | memberMeta | taskMembers
)

// memberOf is the one of that name, 0 for any other. No two names are the same one.
func memberOf(name []byte) memberSet {
	switch string(name) {
	case "jsonrpc":
		return memberJSONRPC
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
	case "_meta":
		return memberMeta
	case "name":
		return memberName
	case "uri":
		return memberURI
	case "cursor":
		return memberCursor
	case memberRequestState:
		return memberState
	case "arguments":
		return memberArguments
	case "notifications":
		return memberNotifications
	case "capabilities":
		return memberCapabilities
	case metaVersion:
		return memberMetaVersion
	case metaCapabilities:
		return memberMetaCapabilities
	case metaClientInfo:
		return memberMetaClient
	case memberProgressToken:
		return memberToken
	case "traceparent":
		return memberTraceParent
	case "tracestate":
		return memberTraceState
	case metaNewTask:
		return memberNewTask
	case metaRelatedTask:
		return memberRelatedTask
	case metaSubscription:
		return memberSubscription
	case "extensions":
		return memberExtensions
	case TasksExtension:
		return memberTasksExtension
	case "elicitation":
		return memberElicitation
	case "sampling":
		return memberSampling
	case "roots":
		return memberRoots
	case "code":
		return memberCode
	case "resultType":
		return memberResultType
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
	}
	return 0
}

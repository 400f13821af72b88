package mcp

import (
	"berth/internal/jsonobject"
	"berth/internal/jsonscan"
)

// Names of members that others put in, and take out.
const (
	MemberProgressToken = "progressToken" // of _meta, and of a notifications/progress
	MemberTask          = "task"          // of the params of a call that asks to be made a task (2025-11-25, tasks, "Creating Tasks")
)

// Members of multi round-trip requests (2026-07-28, "Core Types").
const (
	MemberInputRequests  = "inputRequests"
	MemberInputResponses = "inputResponses"
	MemberRequestState   = "requestState"
)

// Members that are known by their names, wherever these stand.
const (
	memberJSONRPC jsonobject.Set = 1 << iota // of a message
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
	memberToolFailed

	memberTaskID // of a task: the result, result.task or params
	memberStatus
	memberStatusMessage
	memberTTLMs
	memberTTL
	memberKeepAlive

	memberCreated // usual ones that are passed over
	memberUpdated
	memberInterval
	memberContent
	memberStructured
)

// Members of an answer that are read, by the object that they stand in: they may not stand there twice.
const (
	messageMembers    = memberID | memberMethod | memberParams | memberResult | memberError
	taskMembers       = memberTaskID | memberStatus | memberStatusMessage | memberTTLMs | memberTTL | memberKeepAlive
	resultMembers     = memberResultType | memberState | memberNextCursor | memberVersion | memberOwnTask | memberToolFailed | taskMembers
	subscribedMembers = memberURI | memberMeta | taskMembers
)

// memberNames are the names of all of them; those that stand in most messages come first where several begin alike.
var memberNames = namesOf([]namedMember{
	{"jsonrpc", memberJSONRPC},
	{"id", memberID},
	{"method", memberMethod},
	{"params", memberParams},
	{"result", memberResult},
	{"error", memberError},
	{"_meta", memberMeta},
	{"name", memberName},
	{"uri", memberURI},
	{"cursor", memberCursor},
	{MemberRequestState, memberState},
	{"arguments", memberArguments},
	{"notifications", memberNotifications},
	{"capabilities", memberCapabilities},
	{MetaVersion, memberMetaVersion},
	{MetaCapabilities, memberMetaCapabilities},
	{MetaClientInfo, memberMetaClient},
	{MemberProgressToken, memberToken},
	{"traceparent", memberTraceParent},
	{"tracestate", memberTraceState},
	{metaNewTask, memberNewTask},
	{metaRelatedTask, memberRelatedTask},
	{metaSubscription, memberSubscription},
	{"extensions", memberExtensions},
	{TasksExtension, memberTasksExtension},
	{"elicitation", memberElicitation},
	{"sampling", memberSampling},
	{"roots", memberRoots},
	{"code", memberCode},
	{"resultType", memberResultType},
	{"nextCursor", memberNextCursor},
	{"protocolVersion", memberVersion},
	{MemberTask, memberOwnTask},
	{"taskId", memberTaskID},
	{"status", memberStatus},
	{"statusMessage", memberStatusMessage},
	{"ttlMs", memberTTLMs},
	{"ttl", memberTTL},
	{"keepAlive", memberKeepAlive},
	{"isError", memberToolFailed},
	{"createdAt", memberCreated},
	{"lastUpdatedAt", memberUpdated},
	{"pollIntervalMs", memberInterval},
	{"content", memberContent},
	{"structuredContent", memberStructured},
})

type namedMember struct {
	name   string
	member jsonobject.Set
}

func namesOf(members []namedMember) (names jsonscan.Names) {
	for _, m := range members {
		names.Add(m.name, uint64(m.member))
	}
	return names
}

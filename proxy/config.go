package proxy

import (
	"berth/proxy/audit"
	"berth/proxy/inbound"
)

// Decisions are the last requests, as package audit has them.
type Decisions = audit.Decisions

// DecisionsKept is how many they are.
const DecisionsKept = audit.DecisionsKept

// What a Proxy is configured with; package inbound says what each means.
type (
	Endpoint      = inbound.Endpoint
	Timeouts      = inbound.Timeouts
	Identifier    = inbound.Identifier
	Resource      = inbound.Resource
	Authorization = inbound.Authorization
	Limits        = inbound.Limits
)

// ByPrincipal is an Endpoint.Rendezvous.
const ByPrincipal = inbound.ByPrincipal

// AnyOrigin stands alone in Endpoint.Origins, and lets the pages of every origin call.
const AnyOrigin = inbound.AnyOrigin

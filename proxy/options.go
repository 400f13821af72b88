package proxy

import (
	"log/slog"
	"net/netip"

	"berth/internal/auditlog"
	"berth/internal/seal"
	"berth/internal/trouble"
	"berth/proxy/audit"
	"berth/proxy/inbound"
	"berth/proxy/lingering"
	"berth/upgrade"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

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

// Decisions are the last requests, as package audit has them.
type Decisions = audit.Decisions

// DecisionsKept is how many they are.
const DecisionsKept = audit.DecisionsKept

// Options are what a Proxy is made of.
type Options struct {
	Endpoints      []*inbound.Endpoint // where several fit a request equally well, the first gets it
	Loopback       bool                // the listener is on loopback: only loopback hosts and origins are welcome
	TrustedProxies []netip.Prefix      // peers whose forwarding and principal headers are believed
	// CredentialHeaders are headers that callers authenticate with, beside those that are
	// known to be.
	CredentialHeaders []string
	Limits            inbound.Limits
	Tasks             *upgrade.Tasks // the tasks of berth's own making; nil: calls stay plain
	LastSeen          LastSeen
	Rules             upgrade.Rules        // which tools' calls become tasks; none: no tool's
	Keys              *seal.Keyring        // seals what clients carry; required where tasks are listed over a pool
	Notices           lingering.Notices    // by which berths that share a store tell each other of clients that went elsewhere; nil: there are no others
	Logger            *slog.Logger         // nil: discarded
	AccessLog         *slog.Logger         // nil: no access records
	Decisions         *audit.Decisions     // remembers the last requests; nil: nobody does
	Meter             metric.MeterProvider // nil: nothing is measured
	Tracer            trace.TracerProvider // nil: nothing is traced
	Troubles          *trouble.Book        // is told of refusals and unknown ids; nil: nobody is
	AuditLog          *auditlog.Log        // who did what to which task; nil: it is off
}

// LastSeen bounds, in bytes, what is remembered of tasks for the time that their owners are silent.
type LastSeen struct {
	Entry int // of one task; 0: 64 KiB
	Total int // of all; 0: 64 MiB
}

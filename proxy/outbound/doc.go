// Package outbound sends to the upstreams of a pool: what clients ask, what held calls need,
// and what berth asks by itself. What becomes of an exchange feeds the upstream's health by
// one rule, here. Nothing is sent twice.
package outbound

// Package transport is how held calls reach the upstreams of the pools that they go to.
//
// It promises that a pool which has left stays for what is under way there. It sends nothing of itself: each pool is given with
// what sends.
//
//	transport.go  an exchange with an upstream, message by message, and why there is none
//	pools.go      the pools
package transport

// Package inbound is what clients ask: where they reach a pool (Endpoint), what all requests
// are judged by (Settings), and one request, read and classified (Call). It refuses what is not
// to be taken, and promises that a Call does not change once it is classified. It sends
// nothing and answers nobody.
package inbound

// Package webhook sends one message to one receiver, as Standard Webhooks 1.0.0 has it
// (https://github.com/standard-webhooks/standard-webhooks): a POST with an id, a time and a
// signature for each of the receiver's secrets.
//
// It promises that a message goes to no address but those of the public internet and those that
// the operator allows, whatever a name resolves to at that moment; that no redirect is followed
// and no proxy asked; and that nothing of the URL but its host stands in what it returns: the path
// of a webhook is often its secret. An attempt takes no longer than the receiver's timeout, and no
// more of the answer than its status and two headers is kept.
//
// It sends once. When to send again, and when not to, is for whoever calls it; a breaker for each
// client says when a receiver had better be left alone. It has no goroutine of its own beside
// those of its connections.
//
//	secret.go, sign.go   what a message is signed with, and how
//	address.go           where it may go
//	client.go, answer.go one attempt, and what came of it
package webhook

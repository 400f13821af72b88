// Package subscriptions serves subscriptions/listen before an upstream of the legacy era.
//
// It promises that a client is told of what it was granted by any session of its caller's, once where several sessions tell the
// same; that a subscription which cannot tell all of it ends, so that its client looks anew; and that what was
// subscribed to at the upstream is given up with its last listener. A subscription costs a session's stream, and a poll now and
// then for each task that it names.
//
//	serve.go       begun, and agreed on
//	listener.go    told
//	tasks.go       of tasks
package subscriptions

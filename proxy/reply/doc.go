// Package reply is the answer to one request: its status and body, events, the early stream
// of those who wait long, and the one clock that keeps streams alive. A client that takes
// nothing for the stall time is gone. What is written counts; nothing is held back.
package reply

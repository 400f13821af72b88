// Package idtag puts a tag before what a server numbers from 0 in each session, event ids and ids of its requests, so that those
// of two instances are told apart; and takes it off what a client answers.
//
// Cost: what bears no id is looked at and not copied.
package idtag

// Package alarm is for waits of one length that nearly all end before their time: one timer for all who wait. To set
// an alarm and to stop it is to join a list and to leave it, without an allocation, and touches no timer but the first
// time in as long as an alarm takes.
package alarm

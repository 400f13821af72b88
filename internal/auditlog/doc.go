// Package auditlog is where the audit log goes: who did what to which task, one JSON line a deed, on
// standard error or in a file of its own.
//
// It promises that no line is dropped in silence. Lines wait for each other as those of package journal do,
// 200 ms at most. What a file does not take is kept, up to 1 MiB, and tried again each second; what does not
// fit in there is lost, and is counted and logged as lost. So is what comes while a file hangs, beyond what a journal
// lets wait; the end of the process waits for such a file for 2 s. Nobody's request waits for a file that fails. A
// process that is killed loses what waits.
//
// A file is appended to, and opened anew when its path leads to another one: it may be renamed away at any
// time.
package auditlog

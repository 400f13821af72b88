// Package listen is what subscriptions ask for (2026-07-28, subscriptions, "Notification Filter"): a [Filter], what of one is agreed to,
// and what may be told to whom.
package listen

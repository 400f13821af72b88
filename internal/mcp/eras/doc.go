// Package eras translates between the eras: a modern request into one of a legacy session ([LegacyForm]), whose client it speaks for
// ([ClientOf], [InitializeFor]); and what a legacy server answers into what modern clients read ([ModernForm], [DiscoverFrom]).
//
// Cost: a message is walked for what changes in it, and copied once.
package eras

// Package mirrored is the arguments of tools that headers mirror: which they are by a tool's schema ([Add], [Argument]), whether a header
// is the argument in the body, and what a header would say of a tool's structured content.
//
// Cost: a call's arguments are walked for each such header; nothing where there is none.
package mirrored

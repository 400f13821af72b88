// Package api is what berth tells operators, and what they may order: the values of the admin API
// /v1 as JSON has them. The page and the verbs of the command line read these and nothing else;
// openapi.yaml describes them for others.
//
// It promises that names only join within /v1, that times are RFC 3339 in UTC, durations seconds, and
// sizes bytes; that callers and sessions are told as digests, and that payloads (arguments, results,
// questions, answers) are told where `[admin] payloads = true` allows it, and nowhere else.
package api

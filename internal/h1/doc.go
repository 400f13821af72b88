// Package h1 holds what its parts, server and client, promise together: it has tests and no code.
//
//   - Meaning: what h1 accepts, net/http accepts with the same meaning (fuzz_*_test.go). Differences that are meant
//     stand in differences_test.go, with why.
//   - Doubt: what two readers could frame in different ways is refused (cases_*_test.go for requests,
//     answers_*_test.go for answers): one row a trick, with where it was published.
//   - Edges: a message means the same however its bytes come, and no end of a connection leaves anything behind.
package h1

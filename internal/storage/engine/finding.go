package engine

// Finding is something that a store would meet if it were to serve now.
type Finding struct {
	Text    string // says what, in one line and without secrets
	Warning bool   // the store would keep its promises all the same
}

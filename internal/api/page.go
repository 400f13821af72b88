package api

// Page is what every list bears. A list is asked for with ?limit= (100 unless told, 1,000 at most) and
// ?cursor=, the Next of the page before.
type Page struct {
	Next string `json:"next,omitempty"` // cursor of the next page; "": this is the last one
	// Total is how many things match, on all pages; -1: nobody counts them.
	Total int `json:"total"`
	// Partial says what could not be read, so that things may be missing; "": all was.
	Partial string `json:"partial,omitempty"`
}

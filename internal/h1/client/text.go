package client

// ofHosts are the characters of which hosts usually are.
var ofHosts = func() (table [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:[]") {
		table[c] = true
	}
	return table
}()

// isHost is for what hosts usually are; others may be one.
func isHost(text string) bool {
	for i := range len(text) {
		if !ofHosts[text[i]] {
			return false
		}
	}
	return true
}

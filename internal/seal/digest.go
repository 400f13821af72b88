package seal

import (
	"crypto/sha256"
	"encoding/base64"
)

// Digest names a secret without telling it, as records, logs and operators are shown a session or a
// principal; "" for none. What is easily guessed is as easily recognised.
func Digest(secret string) string {
	if secret == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(secret))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

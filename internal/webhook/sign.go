package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

// Message is what a receiver is told.
type Message struct {
	ID   string // webhook-id: that of every attempt, so that a receiver knows a message again; without "."
	Body []byte // JSON
}

// signatures are the value of webhook-signature: one for each secret, so that a receiver may know
// the old one or the new one.
func (m Message) signatures(at time.Time, secrets [][]byte) string {
	signed := make([]string, len(secrets))
	for i, secret := range secrets {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(m.ID + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(m.Body)
		signed[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(signed, " ")
}

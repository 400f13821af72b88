package proxy

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
)

// What sealFor is used for. What was sealed for one use cannot be opened for another.
const (
	sealAlias     = "alias"
	sealHandshake = "handshake"
)

// sealFor encrypts what the store keeps of a session under a key that is made of the
// session's id: whoever reads the store, which has no id in clear, learns nothing.
func sealFor(session, use string, plain []byte) []byte {
	return sealer(session).Seal(nil, nil, plain, []byte(use))
}

// unsealFor undoes sealFor.
func unsealFor(session, use string, sealed []byte) ([]byte, error) {
	plain, err := sealer(session).Open(nil, nil, sealed, []byte(use))
	if err != nil {
		return nil, fmt.Errorf("proxy: opening what is kept of a session: %w", err)
	}
	return plain, nil
}

func sealer(session string) cipher.AEAD {
	// None of these fails for keys of 32 bytes.
	key, err := hkdf.Key(sha256.New, []byte(session), nil, "berth session", 32)
	if err != nil {
		panic(err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return aead
}

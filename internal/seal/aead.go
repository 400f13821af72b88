package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
)

// Sizes of AES-256-GCM, in bytes.
const (
	keySize   = 32
	nonceSize = 12
	tagSize   = 16
)

// derive returns n bytes that whoever has the secret can make again, for one use.
func derive(secret, salt []byte, use string, n int) []byte {
	derived, err := hkdf.Key(sha256.New, secret, salt, use, n)
	if err != nil {
		panic(err) // for longer keys only
	}
	return derived
}

func newBlock(key []byte) cipher.Block {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // for keys of other sizes only
	}
	return block
}

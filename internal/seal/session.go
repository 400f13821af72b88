package seal

import (
	"crypto/cipher"
	"fmt"
)

// Session seals plain, which the store is to keep of a session, under a key that is
// made of the session's id: whoever reads the store, which has no id in clear, learns
// nothing. What was sealed for one use opens for no other. It does not expire.
func Session(id, use string, plain []byte) []byte {
	return sessionAEAD(id).Seal(nil, nil, plain, []byte(use))
}

// OpenSession undoes Session. It fails for any other id or use, and for what was
// changed.
func OpenSession(id, use string, sealed []byte) ([]byte, error) {
	plain, err := sessionAEAD(id).Open(nil, nil, sealed, []byte(use))
	if err != nil {
		return nil, fmt.Errorf("seal: what is kept of a session: %w", err)
	}
	return plain, nil
}

func sessionAEAD(id string) cipher.AEAD {
	aead, err := cipher.NewGCMWithRandomNonce(newBlock(derive([]byte(id), nil, "berth session", keySize)))
	if err != nil {
		panic(err) // for ciphers of other block sizes only
	}
	return aead
}

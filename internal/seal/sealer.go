package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrInvalid says that a token opens nothing here: it is damaged, forged, expired, or of something
// else. Which of these must not show.
var ErrInvalid = errors.New("seal: invalid token")

// MinSecret is the least length of a secret, in bytes.
const MinSecret = 32

// Layout of a token: version, salt, sealed text, which begins with the expiry in Unix milliseconds.
const (
	version    = 1
	saltSize   = 24 // its end hints at the secret; up to 0.10.1 all of it was random
	hintSize   = 2
	expirySize = 8
	shortest   = 1 + saltSize + expirySize + tagSize
)

type sealer struct{ secret []byte }

func newSealer(secret []byte) (*sealer, error) {
	if len(secret) < MinSecret {
		return nil, fmt.Errorf("seal: a secret has at least %d bytes, this one has %d", MinSecret, len(secret))
	}
	return &sealer{secret}, nil
}

func (s *sealer) seal(purpose string, about []string, text []byte, life time.Duration) string {
	token := make([]byte, 1+saltSize, shortest+len(text))
	token[0] = version
	_, _ = rand.Read(token[1 : 1+saltSize-hintSize]) // never fails: it crashes the process instead
	copy(token[1+saltSize-hintSize:], s.hint(token))
	aead, nonce := s.cipher(purpose, token[1:])
	plain := binary.BigEndian.AppendUint64(nil, uint64(time.Now().Add(life).UnixMilli()))
	return base64.RawURLEncoding.EncodeToString(aead.Seal(token, nonce, append(plain, text...), associated(about)))
}

// hint is what tells the secret that a token is of from nearly all others.
func (s *sealer) hint(token []byte) []byte {
	mac := hmac.New(sha256.New, s.secret)
	mac.Write([]byte("berth hint"))
	mac.Write(token[:1+saltSize-hintSize])
	return mac.Sum(nil)[:hintSize]
}

// isOf reports whether a token hints at this secret.
func (s *sealer) isOf(token []byte) bool {
	return bytes.Equal(token[1+saltSize-hintSize:1+saltSize], s.hint(token))
}

func (s *sealer) open(purpose string, about []string, token []byte) (text []byte, until time.Time, err error) {
	aead, nonce := s.cipher(purpose, token[1:1+saltSize])
	plain, err := aead.Open(nil, nonce, token[1+saltSize:], associated(about))
	if err != nil {
		return nil, until, ErrInvalid
	}
	if until = time.UnixMilli(int64(binary.BigEndian.Uint64(plain))); time.Now().UnixMilli() > until.UnixMilli() {
		return nil, until, ErrInvalid
	}
	return plain[expirySize:], until, nil
}

// decode returns the bytes of what has the form of a token. The decoder passes over line ends.
func decode(token string) ([]byte, error) {
	if strings.ContainsAny(token, "\r\n") {
		return nil, ErrInvalid
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) < shortest || raw[0] != version {
		return nil, ErrInvalid
	}
	return raw, nil
}

// cipher derives key and nonce of one token. A key seals one text only, so that random nonces set
// no bound on how many tokens a secret is good for.
func (s *sealer) cipher(purpose string, salt []byte) (cipher.AEAD, []byte) {
	derived := derive(s.secret, salt, "berth token 1: "+purpose, keySize+nonceSize)
	aead, err := cipher.NewGCM(newBlock(derived[:keySize]))
	if err != nil {
		panic(err) // for ciphers of other block sizes only
	}
	return aead, derived[keySize:]
}

// associated joins about so that no two lists join alike.
func associated(about []string) []byte {
	var out []byte
	for _, part := range about {
		out = binary.BigEndian.AppendUint64(out, uint64(len(part)))
		out = append(out, part...)
	}
	return out
}

// Sizes of AES-256-GCM, in bytes.
const (
	keySize   = 32
	nonceSize = 12
	tagSize   = 16
)

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

// Session seals what the store is to keep of a session under its id: whoever reads the store, which
// has no id in clear, learns nothing. It opens for the same use only, and does not expire.
func Session(id, use string, plain []byte) []byte {
	return sessionAEAD(id).Seal(nil, nil, plain, []byte(use))
}

// OpenSession undoes Session. It fails for any other id or use.
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

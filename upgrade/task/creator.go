package task

import (
	"context"
	"crypto/hmac"
	"encoding/base64"
	"slices"
	"strings"
)

// Credentials are what a caller authenticates with, as digests that nobody keeps: whoever
// reads one could try secrets on it. Records hold another digest of each, keyed with the
// deployment's secret.
type Credentials struct {
	// All is a digest of all of them, "" if there are none.
	All string
	// Named is a digest of whom they name: the issuer and subject of a token, for one. ""
	// says that they name nobody.
	Named string
	// Authorization is the digest that berths up to 0.4 kept of the Authorization header;
	// "" if there is none.
	Authorization string
}

// Creator is who made a task where there are no principals. The zero value is a caller
// without credentials.
type Creator struct {
	// Credentials is a keyed digest of Credentials.All; or, of a task that was made by a
	// berth up to 0.4, Credentials.Authorization itself.
	Credentials string `json:"creator,omitempty"`
	// Named is a keyed digest of Credentials.Named, "" if that is "".
	Named string `json:"creator_named,omitempty"`
}

// What the digests in a record are of, and how they begin. Those of berths up to 0.4 have
// no dot.
const (
	creatorForm   = "1."
	ofCredentials = "credentials"
	ofNamed       = "named"
)

// Creator returns what the record of a task says of who made it. It fails while the
// deployment's secret is not known.
func (i *IDs) Creator(ctx context.Context, c Credentials) (who Creator, err error) {
	if c.All == "" {
		return Creator{}, nil
	}
	key, err := i.current(ctx)
	if err != nil {
		return Creator{}, err
	}
	who.Credentials = creatorForm + key.keyed(ofCredentials, c.All)
	if c.Named != "" {
		who.Named = creatorForm + key.keyed(ofNamed, c.Named)
	}
	return who, nil
}

// Anybodys reports whether the task was made without principal and credentials: whoever
// has its id may have it.
func (t *Task) Anybodys() bool { return t.Principal == "" && t.Creator.Credentials == "" }

// MadeWith reports whether these are the credentials that the task was made with.
func (i *IDs) MadeWith(t *Task, c Credentials) bool {
	if kept := t.Creator.Credentials; !strings.HasPrefix(kept, creatorForm) {
		return kept == c.Authorization
	}
	return i.isKeyed(t.Creator.Credentials, ofCredentials, c.All)
}

// MayBeCreators reports whether other credentials than those that the task was made with
// may be its creator's all the same: they name whom those named. Of a task that was made by
// a berth up to 0.4 nobody knows whom they named.
func (i *IDs) MayBeCreators(t *Task, c Credentials) bool {
	if !strings.HasPrefix(t.Creator.Credentials, creatorForm) {
		return true
	}
	return i.isKeyed(t.Creator.Named, ofNamed, c.Named)
}

// isKeyed reports whether kept is the digest of plain under a secret of the deployment's.
// The digest of "" is "".
func (i *IDs) isKeyed(kept, use, plain string) bool {
	if kept == "" || plain == "" {
		return kept == plain
	}
	return slices.ContainsFunc(i.secrets(), func(key *secret) bool {
		return hmac.Equal([]byte(kept), []byte(creatorForm+key.keyed(use, plain)))
	})
}

// keyed is a digest of plain that cannot be tried out without key. No use is as short as
// what tag digests under the same key.
func (s *secret) keyed(use, plain string) string {
	return base64.RawURLEncoding.EncodeToString(s.tag(nil, []byte("berth creator's "+use+"\x00"+plain))[:idTag+4])
}

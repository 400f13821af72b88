package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"time"
)

//go:embed ui
var files embed.FS

// policy lets a browser load these files and ask their own server, and do nothing else: no text becomes
// markup, even if a view would try.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Files returns the files by their paths on the listener: "/" is the page, "/ui/…" what it loads. None
// holds anything secret.
func Files() map[string]http.Handler {
	served := make(map[string]http.Handler)
	err := fs.WalkDir(files, "ui", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := files.ReadFile(name)
		served["/"+name] = fileOf(name, body)
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("page: what is embedded cannot be read: %v", err))
	}
	served["/"] = served["/ui/index.html"]
	delete(served, "/ui/index.html")
	return served
}

// kinds are the types of files, which must not depend on what the machine's own table says.
var kinds = map[string]string{".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

// fileOf serves one file.
func fileOf(name string, body []byte) http.Handler {
	digest := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(digest[:8]) + `"`
	kind := mime.FormatMediaType(kinds[path.Ext(name)], map[string]string{"charset": "utf-8"})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", kind)
		h.Set("ETag", tag)
		h.Set("Cache-Control", "no-cache") // kept, and asked about: the files of one page are of one version
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	})
}

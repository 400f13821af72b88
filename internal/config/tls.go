package config

// The values of [TLS.ClientAuth].
const (
	// ClientAuthRequire lets nobody in without a certificate.
	ClientAuthRequire = "require"
	// ClientAuthOptional lets clients in that show none.
	ClientAuthOptional = "optional"
)

// TLS is the [tls] table: TLS towards clients. The files are read when berth serves,
// not when a file is judged, and read anew when they change.
type TLS struct {
	// Cert is the path of a PEM file: the certificate that clients are shown, and its
	// chain. Empty: berth speaks plain HTTP.
	Cert string `toml:"cert"`
	// Key is the path of the PEM file of its private key.
	Key string `toml:"key"`
	// ClientCA is the path of a PEM file: the authorities that client certificates
	// must lead to. Empty: clients are not asked for any.
	ClientCA string `toml:"client_ca"`
	// ClientAuth says, with ClientCA, whether a certificate must be shown: "require"
	// or "optional". One that is shown must be good in either case.
	ClientAuth string `toml:"client_auth"`
	// MinVersion is the lowest version spoken: "1.2" or "1.3".
	MinVersion string `toml:"min_version"`
}

// Enabled reports whether clients are spoken to by TLS.
func (t TLS) Enabled() bool { return t.Cert != "" }

func defaultTLS() TLS { return TLS{ClientAuth: ClientAuthRequire, MinVersion: "1.2"} }

func (v *validator) tls(t TLS) {
	v.oneOf("tls.client_auth", t.ClientAuth, ClientAuthRequire, ClientAuthOptional)
	v.oneOf("tls.min_version", t.MinVersion, "1.2", "1.3")
	switch {
	case t.Cert == "" && t.Key != "":
		v.fault("tls.cert", "is missing: tls.key is set")
	case t.Cert != "" && t.Key == "":
		v.fault("tls.key", "is missing: tls.cert is set")
	case t.Cert == "" && t.ClientCA != "":
		v.fault("tls.client_ca", "needs tls.cert and tls.key")
	}
}

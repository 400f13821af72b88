package config

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"reflect"
	"strings"

	"berth/internal/webhook"
)

// Webhook is one [[upgrade.webhook]] table: a receiver that is told how tasks of the rule fare. Its
// secrets are those of [Webhook.ReadSecrets].
type Webhook struct {
	Name         string    `toml:"name"`
	URL          Secret    `toml:"url"`
	Secrets      []Secret  `toml:"secrets"`
	SecretFile   string    `toml:"secret_file"`
	Events       []string  `toml:"events" default:"completed failed cancelled" oneof:"completed failed cancelled input_required"`
	Timeout      Duration  `toml:"timeout" default:"10s" within:"100ms 1m"`
	Attempts     int       `toml:"attempts" default:"12" within:"1 100"`
	Backoff      Duration  `toml:"backoff" default:"5s" within:"100ms 1h"`
	MaxBackoff   Duration  `toml:"max_backoff" default:"1h" within:"100ms 24h"`
	MaxAge       Duration  `toml:"max_age" default:"24h" within:"1s 8760h"`
	Concurrency  int       `toml:"concurrency" default:"4" within:"1 64"`
	AllowPrivate []Prefix  `toml:"allow_private"`
	AllowHTTP    bool      `toml:"allow_http"`
	TLS          ServerTLS `toml:"tls"`
}

// EffectiveName returns Name, or the host of the URL: of the rest of it nothing shows, which may be
// secret.
func (w *Webhook) EffectiveName() string {
	if w.Name != "" {
		return w.Name
	}
	if target, err := url.Parse(string(w.URL)); err == nil {
		return strings.ToLower(target.Hostname())
	}
	return ""
}

// Guard says where the receiver may be.
func (w *Webhook) Guard() webhook.Guard {
	var allow []netip.Prefix
	for _, prefix := range w.AllowPrivate {
		allow = append(allow, prefix.Prefix)
	}
	return webhook.Guard{Allow: allow}
}

// Bounds of a receiver's secrets.
const (
	maxSecrets    = 8
	maxSecretText = 128 // of one, as it is written; in bytes
)

// ReadSecrets returns the secrets that messages are signed with, decoded. A file is read at the call:
// it has one on each line.
func (w *Webhook) ReadSecrets() (secrets [][]byte, err error) {
	texts := make([]string, len(w.Secrets))
	for i, secret := range w.Secrets {
		texts[i] = string(secret)
	}
	if w.SecretFile != "" {
		all, err := readSecretFile("secret_file", w.SecretFile, maxSecrets*maxSecretText)
		if err != nil {
			return nil, err
		}
		texts = strings.Fields(all)
	}
	if len(texts) == 0 || len(texts) > maxSecrets {
		return nil, fmt.Errorf("there must be 1 to %d secrets, got %d", maxSecrets, len(texts))
	}
	for i, text := range texts {
		secret, err := webhook.ParseSecret(text)
		if err != nil {
			return nil, fmt.Errorf("secret %d %w", i+1, err)
		}
		secrets = append(secrets, secret)
	}
	return secrets, nil
}

// maxWebhooks bounds the receivers of one rule: each is a write more at the end of a task.
const maxWebhooks = 8

// webhooks judges the receivers of all rules. One that several rules name is the same in all of them
// but for its events.
func (v *validator) webhooks(c *Config) {
	type place struct {
		key string
		Webhook
	}
	first := map[string]place{}
	for i, rule := range c.Upgrades {
		list := elementKey("upgrade", i) + ".webhook"
		v.faultIf(len(rule.Webhooks) > maxWebhooks, list, "there must be at most %d, got %d", maxWebhooks, len(rule.Webhooks))
		taken := map[string]string{}
		for j, w := range rule.Webhooks {
			key, name := elementKey(list, j), w.EffectiveName()
			v.webhook(key, w)
			v.unique(taken, name, key+".name", "is the name, or the host, of %s already: give it one of its own")
			w.Events = nil
			switch earlier, again := first[name]; {
			case !again:
				first[name] = place{key, w}
			case taken[name] == key && !reflect.DeepEqual(earlier.Webhook, w):
				v.fault(key+".name", "is the name, or the host, of %s, which differs in more than events: give it one of its own", earlier.key)
			}
		}
	}
}

func (v *validator) webhook(key string, w Webhook) {
	v.bounds(key, reflect.ValueOf(w))
	v.faultIf(w.Name != "" && (len(w.Name) > maxName || !isVisible(w.Name)), key+".name", "must be 1 to %d visible ASCII characters without blanks", maxName)
	v.webhookURL(key, w)
	v.serverTLS(key+".tls", w.TLS)
	v.faultIf(len(w.Events) == 0, key+".events", "there must be at least one")
	v.faultIf(w.MaxBackoff < w.Backoff, key+".max_backoff", "must not be less than backoff, %v, got %v", w.Backoff, w.MaxBackoff)
	switch inline, file := len(w.Secrets) > 0, w.SecretFile != ""; {
	case inline == file:
		v.fault(key+".secrets", "or secret_file must be set, and not both")
	case inline:
		if _, err := w.ReadSecrets(); err != nil {
			v.fault(key+".secrets", "%v", err)
		}
	}
}

// webhookURL judges where messages go. What it says repeats nothing of the URL, which may be secret as
// a whole.
func (v *validator) webhookURL(key string, w Webhook) {
	at := key + ".url"
	target, err := url.Parse(string(w.URL))
	if w.URL == "" {
		v.fault(at, "is missing")
		return
	}
	switch {
	case err != nil || target.Hostname() == "" || !isHost(target.Hostname()) || !validPort(target) || target.Scheme != "https" && target.Scheme != "http":
		v.fault(at, `must be a URL such as "https://hooks.example.com/berth"`)
		return
	case target.User != nil:
		v.fault(at, "must have no user name or password: the receiver knows berth by the signature")
	case target.Fragment != "":
		v.fault(at, "must have no fragment")
	case target.Scheme == "http" && !w.AllowHTTP:
		v.fault(at, "must be https, unless allow_http is set")
	}
	v.faultIf(target.Scheme == "http" && w.TLS != ServerTLS{}, key+".tls", "needs an https URL")
	host := target.Hostname()
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		host = cmp.Or(loopbackOf(w.Guard()), "127.0.0.1")
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		if err := w.Guard().Check(addr); err != nil {
			v.fault(at, "names %v", err)
		}
	}
}

// loopbackOf returns an address of this machine that a guard lets through; "" if it lets none.
func loopbackOf(g webhook.Guard) string {
	for _, addr := range []string{"127.0.0.1", "::1"} {
		if g.Check(netip.MustParseAddr(addr)) == nil {
			return addr
		}
	}
	return ""
}

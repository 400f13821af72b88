package site

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"berth/internal/config"
	"berth/internal/reload"
	"berth/internal/webhook"
	"berth/upgrade"
)

// webhooksOf are who a rule has told, and of what.
func webhooksOf(u config.Upgrade) (told []upgrade.Webhook) {
	for _, w := range u.Webhooks {
		hook := upgrade.Webhook{Name: w.EffectiveName()}
		for _, event := range w.Events {
			hook.Events = append(hook.Events, upgrade.News(event))
		}
		told = append(told, hook)
	}
	return told
}

func namesOf(hooks []upgrade.Webhook) (names []string) {
	for _, w := range hooks {
		names = append(names, w.Name)
	}
	return names
}

// newReceivers reads the secrets of the receivers that rules name, each once. The error joins all that is wrong.
func (g *generation) newReceivers(cfg config.Config) (all []upgrade.Receiver, err error) {
	var faults []error
	known := map[string]bool{}
	for i, rule := range cfg.Upgrades {
		for j, w := range rule.Webhooks {
			if known[w.EffectiveName()] {
				continue
			}
			known[w.EffectiveName()] = true
			key := fmt.Sprintf("upgrade[%d].webhook[%d]", i, j)
			r, err := g.newReceiver(key, w)
			faults = append(faults, eachAt(key, "webhook "+w.EffectiveName(), err))
			all = append(all, r)
		}
	}
	return all, reload.Join(faults...)
}

// secretFile is what a file with secrets held, which the configuration's key names.
type secretFile struct {
	key     string
	secrets [][]byte
}

// noteSecrets notes what a receiver's file held; "": it has none.
func (g *generation) noteSecrets(receiver, path string, secrets [][]byte) {
	if _, known := g.secretFiles[path]; path == "" || known {
		return
	}
	if g.secretFiles == nil {
		g.secretFiles = map[string]secretFile{}
	}
	g.secretFiles[path] = secretFile{receiver + ".secret_file", secrets}
}

// renewedSecrets are the keys of files that hold other secrets than they did for the generation before.
func (g *generation) renewedSecrets(before *generation) (keys []string) {
	for path, is := range g.secretFiles {
		if was, known := before.secretFiles[path]; known && !slices.EqualFunc(was.secrets, is.secrets, bytes.Equal) {
			keys = append(keys, is.key)
		}
	}
	slices.Sort(keys)
	return keys
}

// leftAlone is how long a receiver is left alone that takes nothing, unless messages are to be tried
// sooner.
const leftAlone = 30 * time.Second

func (g *generation) newReceiver(key string, w config.Webhook) (r upgrade.Receiver, err error) {
	secrets, err := w.ReadSecrets()
	if err != nil {
		return r, err
	}
	g.noteSecrets(key, w.SecretFile, secrets)
	r = upgrade.Receiver{
		Name: w.EffectiveName(), Attempts: w.Attempts,
		Backoff: time.Duration(w.Backoff), MaxBackoff: time.Duration(w.MaxBackoff), MaxAge: time.Duration(w.MaxAge),
		Receiver: webhook.Receiver{
			URL: string(w.URL), Secrets: secrets, Guard: w.Guard(), Timeout: time.Duration(w.Timeout), Concurrency: w.Concurrency,
			Alone: min(leftAlone, time.Duration(w.MaxBackoff)),
		},
	}
	if w.TLS != (config.ServerTLS{}) {
		trust, err := g.newTrust("tls", w.TLS)
		if err != nil {
			return r, err
		}
		r.Trust = trust
	}
	return r, nil
}

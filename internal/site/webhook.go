package site

import (
	"fmt"
	"time"

	"berth/internal/config"
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

// newReceivers reads the secrets of the receivers that rules name, each once.
func (g *generation) newReceivers(cfg config.Config) (all []upgrade.Receiver, err error) {
	known := map[string]bool{}
	for i, rule := range cfg.Upgrades {
		for j, w := range rule.Webhooks {
			if known[w.EffectiveName()] {
				continue
			}
			known[w.EffectiveName()] = true
			r, err := g.newReceiver(w)
			if err != nil {
				return nil, at(fmt.Sprintf("upgrade[%d].webhook[%d]", i, j), fmt.Errorf("webhook %s: %w", w.EffectiveName(), err))
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// leftAlone is how long a receiver is left alone that takes nothing, unless messages are to be tried
// sooner.
const leftAlone = 30 * time.Second

func (g *generation) newReceiver(w config.Webhook) (r upgrade.Receiver, err error) {
	secrets, err := w.ReadSecrets()
	if err != nil {
		return r, err
	}
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

package storage

import (
	"errors"
	"strconv"
	"strings"
)

const maxReplicas = 32

var (
	errDurability = errors.New(`storage: unknown durability, want "ack" or "replicas:N" with N from 1 to 32`)
	errNoReplicas = errors.New("storage: only Redis has replicas to wait for")
)

type durability struct {
	replicas int // of the Redis master, beside it; 0: none
}

// CheckDurability says what is wrong with a durability for the store that url names,
// as Open would. A URL that is wrong itself is not reported here.
func CheckDurability(url, text string) error {
	t, err := parseURL(url)
	if err != nil {
		_, err = parseDurability(text)
		return err
	}
	_, err = t.durability(text)
	return err
}

func (t target) durability(text string) (durability, error) {
	d, err := parseDurability(text)
	if err == nil && d.replicas > 0 && t.redis == nil {
		return durability{}, errNoReplicas
	}
	return d, err
}

func parseDurability(text string) (durability, error) {
	if text == "" || text == "ack" {
		return durability{}, nil
	}
	count, ok := strings.CutPrefix(text, "replicas:")
	n, err := strconv.Atoi(count)
	if !ok || err != nil || n < 1 || n > maxReplicas || strconv.Itoa(n) != count {
		return durability{}, errDurability
	}
	return durability{replicas: n}, nil
}

package redis

import (
	"cmp"
	"errors"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

const mask = "xxxxx"

// Servers are what a URL names: one server, or several by which the others are found.
type Servers struct {
	Name    string // the URL without its secrets
	options *redis.UniversalOptions
	secrets []string // what must not appear in any text
}

// scrub takes the secrets out of what a server or a driver said. Redis quotes the arguments of a
// command that it does not know, as AUTH may be, escaped and shortened: that goes as a whole.
func (s *Servers) scrub(text string) string {
	text, _, _ = strings.Cut(text, ", with args")
	for _, secret := range s.secrets {
		text = strings.ReplaceAll(text, secret, mask)
	}
	return text
}

const (
	serverPort   = "6379"
	sentinelPort = "26379"
)

// Errors about URLs are fixed sentences: url.Parse and redis.ParseURL quote pieces of what they
// could not read, which in a URL with an unescaped "/" or "#" are the password.
var (
	ErrURL         = errors.New("storage: malformed store URL (special characters in a password must be percent-encoded)")
	ErrRedisURL    = errors.New("storage: malformed Redis URL, want redis://[user:password@]host[:port][/db] or unix://[user:password@]/path[?db=n]")
	ErrSentinelURL = errors.New("storage: malformed Sentinel URL, want redis+sentinel://[user:password@]host[:port][,host[:port]…]/MASTER[/db]")
	ErrClusterURL  = errors.New("storage: malformed Cluster URL, want redis+cluster://[user:password@]host[:port][,host[:port]…]")
	ErrRedisOpt    = errors.New("storage: unknown option in the Redis URL, want db, client_name, pool_size or (rediss) skip_verify; with Sentinel also sentinel_user and sentinel_password; with Cluster not db")
)

// Options that a Redis URL may carry. The driver's others would undo what this package promises.
const (
	optDB               = "db"
	optName             = "client_name"
	optPool             = "pool_size"
	optVerify           = "skip_verify"
	optSentinelUser     = "sentinel_user"
	optSentinelPassword = "sentinel_password"
)

// ParseURL reads the URL of a single server. Errors quote nothing of it.
func ParseURL(raw string) (*Servers, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, ErrURL
	}
	if (u.Hostname() == "") != (u.Scheme == "unix") {
		return nil, ErrRedisURL
	}
	options, err := optionsOf(u, ErrRedisURL, optDB, optName, optPool, optVerify)
	if err != nil {
		return nil, err
	}
	return &Servers{Name: masked(u, u.Scheme, u.Host), options: options, secrets: secretsOf(u.User, "")}, nil
}

// ParseSentinelURL reads a URL whose hosts are sentinels: the path is the master and perhaps a database, user
// and password are the servers'.
func ParseSentinelURL(raw string) (*Servers, error) {
	u, hosts, err := parseHosts(raw, sentinelPort, ErrSentinelURL)
	if err != nil {
		return nil, err
	}
	master, db, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	if master == "" {
		return nil, ErrSentinelURL
	}
	query := u.Query()
	user, password := query.Get(optSentinelUser), query.Get(optSentinelPassword)
	if user != "" && password == "" {
		return nil, ErrSentinelURL
	}
	query.Del(optSentinelUser)
	query.Del(optSentinelPassword)
	server := url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host, Path: "/" + db, RawQuery: query.Encode()}
	options, err := optionsOf(&server, ErrSentinelURL, optDB, optName, optPool, optVerify)
	if err != nil {
		return nil, err
	}
	options.MasterName = master
	options.SentinelUsername, options.SentinelPassword = user, password
	return several(u, "sentinel", hosts, options, password), nil
}

// ParseClusterURL reads the URL of a cluster. Errors quote nothing of it.
func ParseClusterURL(raw string) (*Servers, error) {
	u, hosts, err := parseHosts(raw, serverPort, ErrClusterURL)
	if err != nil {
		return nil, err
	}
	if u.Path != "" && u.Path != "/" && u.Path != "/0" {
		return nil, ErrClusterURL
	}
	options, err := optionsOf(u, ErrClusterURL, optName, optPool, optVerify)
	if err != nil {
		return nil, err
	}
	options.IsClusterMode = true
	return several(u, "cluster", hosts, options, ""), nil
}

// parseHosts reads a URL with several hosts, which package url has no idea of: as one with the
// first of them, beside all of them with their ports. User and password stand once: a second @
// would make hosts a password.
func parseHosts(raw, port string, malformed error) (*url.URL, []string, error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return nil, nil, malformed
	}
	plain, _, _ := strings.Cut(scheme, "+")
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	if strings.Count(rest[:end], "@") > 1 {
		return nil, nil, malformed
	}
	begin := strings.Index(rest[:end], "@") + 1
	hosts := strings.Split(rest[begin:end], ",")
	for i, host := range hosts {
		one, err := url.Parse(plain + "://" + host)
		if err != nil || one.Hostname() == "" || one.Host != host || !isOneHost(one) {
			return nil, nil, malformed
		}
		hosts[i] = net.JoinHostPort(one.Hostname(), cmp.Or(one.Port(), port))
	}
	u, err := url.Parse(plain + "://" + rest[:begin] + hosts[0] + rest[end:])
	if err != nil {
		return nil, nil, ErrURL
	}
	return u, hosts, nil
}

func optionsOf(u *url.URL, malformed error, allowed ...string) (*redis.UniversalOptions, error) {
	if u.Opaque != "" || u.Fragment != "" || !isOneHost(u) {
		return nil, malformed
	}
	for option := range u.Query() {
		if !slices.Contains(allowed, option) {
			return nil, ErrRedisOpt
		}
	}
	o, err := redis.ParseURL(u.String())
	if err != nil || o.DB < 0 || o.PoolSize < 0 {
		return nil, malformed
	}
	return &redis.UniversalOptions{
		Addrs:      []string{o.Addr},
		Username:   o.Username,
		Password:   o.Password,
		DB:         o.DB,
		ClientName: o.ClientName,
		PoolSize:   o.PoolSize,
		TLSConfig:  o.TLSConfig,
	}, nil
}

// several are these hosts. Each is verified by the name that it is reached under.
func several(u *url.URL, form string, hosts []string, o *redis.UniversalOptions, another string) *Servers {
	o.Addrs = hosts
	if o.TLSConfig != nil {
		o.TLSConfig.ServerName = ""
	}
	return &Servers{Name: masked(u, u.Scheme+"+"+form, strings.Join(hosts, ",")), options: o, secrets: secretsOf(u.User, another)}
}

// isOneHost reports whether u names one host, with a port that there can be. Package url takes
// several for a name, and an IPv6 address without brackets for one with a port.
func isOneHost(u *url.URL) bool {
	if strings.Contains(u.Host, ",") || !strings.HasPrefix(u.Host, "[") && strings.Count(u.Host, ":") > 1 {
		return false
	}
	port, err := strconv.ParseUint(cmp.Or(u.Port(), serverPort), 10, 16)
	return err == nil && port > 0
}

// masked is u as it may be shown. A user without a password is most likely a password without its
// colon.
func masked(u *url.URL, scheme, host string) string {
	shown := url.URL{Scheme: scheme, User: maskedUser(u.User), Host: host, Path: u.Path}
	return shown.String()
}

func maskedUser(user *url.Userinfo) *url.Userinfo {
	if user == nil {
		return nil
	}
	if _, ok := user.Password(); ok {
		return url.UserPassword(user.Username(), mask)
	}
	return url.User(mask)
}

// secretsOf are the password in the URL, as the driver sends it, and another, where there are such.
func secretsOf(user *url.Userinfo, another string) []string {
	var secrets []string
	if user != nil {
		password, ok := user.Password()
		if !ok {
			password = user.Username()
		}
		secrets = append(secrets, password)
	}
	return slices.DeleteFunc(append(secrets, another), func(s string) bool { return s == "" })
}

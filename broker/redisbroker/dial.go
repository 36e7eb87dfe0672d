package redisbroker

import (
	"context"
	"crypto/tls"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/postbag/postbag/broker/brokerkit"
)

// Dial returns a destination over a client of its own, which Close closes. urls is
// one URL, or several with commas between: those of a cluster's nodes, or of the
// sentinels where Login.Primary is set. A URL is redis://host:6379, or rediss://
// for TLS, with /2 behind it for database 2; user and password may stand in it.
//
// A server that is not there is no error: messages are Unavailable until it is. So
// is a login that is refused, with Misconfigured. An error means that urls or
// options cannot be used, or that ctx is over.
func Dial(ctx context.Context, urls string, o Options) (*Destination, error) {
	servers, errURLs := parse(urls)
	if err := errors.Join(o.Validate(), errURLs, servers.fits(o.Login)); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	client := redis.NewUniversalClient(clientOptions(servers, o.withDefaults().Login))
	d, err := New(client, o)
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	d.owned = true
	return d, nil
}

// ValidURLs says whether Dial could use urls, without trying it. An error names all
// that is wrong, and never quotes a URL, which may hold a password.
func ValidURLs(urls string) error {
	_, err := parse(urls)
	return err
}

// servers is what urls say.
type servers struct {
	addrs          []string
	user, password string
	database       int
	secure         bool
}

// clientOptions make a client that repeats nothing and gives up on a frozen server
// after seconds.
func clientOptions(s servers, l Login) *redis.UniversalOptions {
	o := &redis.UniversalOptions{
		Addrs: s.addrs, DB: s.database, Username: s.user, Password: s.password,
		MasterName: l.Primary, SentinelUsername: l.SentinelUser, SentinelPassword: l.SentinelPassword,
		IsClusterMode: l.Cluster, ClientName: l.Name, TLSConfig: l.TLS,
		Protocol: 2, DisableIdentity: true, MaxRetries: -1, ContextTimeoutEnabled: true,
		DialTimeout: 5 * time.Second, DialerRetries: 1, ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if l.User != "" || l.Password != "" {
		o.Username, o.Password = l.User, l.Password
	}
	if o.TLSConfig == nil && s.secure {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return o
}

// fits says what URLs and login together make impossible.
func (s servers) fits(l Login) error {
	if s.database != 0 && (l.Cluster || len(s.addrs) > 1 && l.Primary == "") {
		return errors.New("redisbroker: the URLs name a database, and a cluster has only one; leave it out")
	}
	return nil
}

// parse takes urls apart. All of them must agree on what is not the address.
func parse(urls string) (all servers, err error) {
	list := brokerkit.URLs{Adapter: adapter, Example: "redis://host:6379", Schemes: []string{"redis", "rediss"}, Default: "redis"}
	err = list.Each(urls, func(u *url.URL) (fault string) {
		s, fault := serverOf(u)
		if fault != "" {
			return fault
		}
		if len(all.addrs) > 0 && (s.user != all.user || s.password != all.password || s.database != all.database || s.secure != all.secure) {
			return "differs from the first in scheme, login or database"
		}
		s.addrs = append(all.addrs, s.addrs...)
		all = s
		return ""
	})
	return all, err
}

// serverOf is what one URL says, or what is wrong with it.
func serverOf(u *url.URL) (s servers, fault string) {
	if u.RawQuery != "" || u.Fragment != "" {
		return s, "has settings behind a question mark, which stand in Options"
	}
	if path := strings.Trim(u.Path, "/"); path != "" {
		database, err := strconv.Atoi(path)
		if err != nil || database < 0 {
			return s, "has a path that is no number of a database"
		}
		s.database = database
	}
	s.password, _ = u.User.Password()
	s.user = u.User.Username()
	s.secure = u.Scheme == "rediss"
	s.addrs = []string{brokerkit.HostPort(u, 6379)}
	return s, ""
}

package remote

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/console"
)

const (
	// DefaultTimeout is how long one request may take, with its answer. A console takes no longer.
	DefaultTimeout = 75 * time.Second
	// largest is the size of the largest answer that is read, in bytes.
	largest = 64 << 20
	// mostTries is how often a question is asked that the console had no place for, and longestWait how long lies between two tries at most.
	mostTries, longestWait = 3, 10 * time.Second
)

// Options say which console is asked, and how.
type Options struct {
	// URL is the address of the console's first page.
	URL string
	// Database is the name of one of its databases. Empty: the one that you may see.
	Database string
	// Token goes with each request. Empty: none does.
	Token string
	// Authorities sign the console's certificate. Nil: those of the system.
	Authorities *x509.CertPool
	// Timeout is how long one request may take. Zero: DefaultTimeout.
	Timeout time.Duration
}

// Client asks a console. It may be used concurrently. Close it.
type Client struct {
	base     *url.URL
	token    string
	database string
	about    console.About
	http     *http.Client
}

// Open asks a console what it is, and chooses the database.
func Open(ctx context.Context, o Options) (*Client, error) {
	base, err := address(o.URL)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy:           http.ProxyFromEnvironment,
		TLSClientConfig: &tls.Config{RootCAs: o.Authorities, MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10,
	}
	if base.Scheme == "http" {
		transport.Proxy, transport.DialContext = nil, (&net.Dialer{Control: stayHere}).DialContext
	}
	c := &Client{base: base, token: o.Token, http: &http.Client{Transport: transport, Timeout: cmp.Or(o.Timeout, DefaultTimeout), CheckRedirect: stay}}
	if err := c.choose(ctx, o.Database); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// stay follows no redirect: the token is for the address that was given, and for no other.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// errElsewhere is the error of a name of this machine that leads to another one.
var errElsewhere = errors.New("it leads to another machine")

// stayHere refuses an address of another machine, before anything goes there.
func stayHere(_, address string, _ syscall.RawConn) error {
	if !console.LoopbackHost(address) {
		return errElsewhere
	}
	return nil
}

// Close ends its connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// About is what the console said of itself.
func (c *Client) About() console.About { return c.about }

// address reads the address of a console. What goes there must not be read on the way.
func address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, exit.Usagef("--server is no address of a console; write https://HOST, with the path of its first page if it has one")
	case u.User != nil:
		return nil, exit.Usagef("--server has a user or a password, and arguments can be seen by everyone on the machine; leave it out, and put a token into POSTBAG_TOKEN or a file of --token-file")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, exit.Usagef("--server has more behind its path; write the address of the console's first page, without ? and #")
	case u.Scheme == "http" && !console.LoopbackHost(u.Host):
		return nil, exit.Usagef("--server is http and no loopback address, so a token and the answers would go there in the open; write https://, or use a tunnel such as ssh -L and a loopback address")
	}
	if !strings.HasSuffix(u.Path, "/") {
		u.Path += "/"
	}
	u.RawPath = ""
	return u, nil
}

// choose asks the console what it is, and picks the database.
func (c *Client) choose(ctx context.Context, name string) error {
	if err := c.get(ctx, &c.about, nil, "about"); err != nil {
		return err
	}
	all := c.about.Databases
	switch {
	case c.about.Product != "postbag":
		return c.foreign("it does not say that it is one")
	case c.about.API != console.APIVersion:
		return exit.With(exit.Failed, errorf("the console speaks version %d of its API, and this postbag version %d; use a postbag of the console's version", c.about.API, console.APIVersion))
	case len(all) == 0:
		return exit.With(exit.NotFound, errorf("the console shows you no database; ask an admin for rights in the access file"))
	case name == "" && len(all) > 1:
		return exit.Usagef("the console shows several databases; name one with --database: %s", strings.Join(all, ", "))
	case name != "" && !slices.Contains(all, name):
		return exit.With(exit.NotFound, errorf("the console shows you no database %.80q; name one with --database: %s", name, strings.Join(all, ", ")))
	}
	c.database = cmp.Or(name, all[0])
	return nil
}

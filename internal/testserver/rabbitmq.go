package testserver

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"slices"
	"time"
)

// RabbitMQOptions says what RabbitMQ server to start. The zero value is one node with classic queues, quorum queues and
// streams, and one user who may do everything.
type RabbitMQOptions struct {
	// Sbin is the folder of the server's scripts. Defaults to the one of the machine's package.
	Sbin string
	// User and Password of the administrator. Default to "postbag" and a word.
	User, Password string
	// TLS opens a second listener with a certificate of a private authority.
	TLS bool
	// VerifyClients has the TLS listener demand a certificate of the same authority.
	VerifyClients bool
	// MaxMessageSize is the largest message in bytes. Defaults to the server's own default.
	MaxMessageSize int
	// Plugins are those to enable beside none.
	Plugins []string
	// DataDir takes the node's database, and is not removed at the end. Defaults to a temporary folder.
	DataDir string
	// Config are further lines of rabbitmq.conf.
	Config []string
	// StartTimeout is how long a start may take. Defaults to 2 min.
	StartTimeout time.Duration
}

// RabbitMQ is a private RabbitMQ node with a port mapper (epmd) of its own. Its methods may be called concurrently;
// commands wait for each other.
type RabbitMQ struct {
	server

	opts  RabbitMQOptions
	home  *folder
	tls   *authority // nil without TLS
	ports rabbitPorts

	mapper *process
}

// rabbitPorts are the ports of one node on 127.0.0.1.
type rabbitPorts struct{ amqp, tls, dist, epmd int }

func (p rabbitPorts) all() []int { return []int{p.amqp, p.tls, p.dist, p.epmd} }

// StartRabbitMQ starts a node and returns when it accepts connections.
func StartRabbitMQ(ctx context.Context, opts RabbitMQOptions) (*RabbitMQ, error) {
	if opts.Sbin == "" {
		sbin, err := findRabbitMQ()
		if err != nil {
			return nil, err
		}
		opts.Sbin = sbin
	}
	if opts.User == "" {
		opts.User, opts.Password = "postbag", "word-of-the-test"
	}
	if opts.StartTimeout == 0 {
		opts.StartTimeout = 2 * time.Minute
	}
	home, err := newFolder("rabbitmq", false)
	if err != nil {
		return nil, err
	}
	r := &RabbitMQ{opts: opts, home: home}
	if r.opts.DataDir == "" {
		r.opts.DataDir = r.path("mnesia")
	}
	r.name, r.begin = "RabbitMQ", r.start
	if err = r.prepare(); err == nil {
		err = r.firstStartOfNode(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func findRabbitMQ() (string, error) {
	found, err := filepath.Glob("/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server")
	if err != nil || len(found) == 0 {
		return "", &MissingError{What: "RabbitMQ's server", Fix: "run scripts/setup, or apt-get install rabbitmq-server"}
	}
	return filepath.Dir(found[len(found)-1]), nil
}

func (r *RabbitMQ) firstStartOfNode(ctx context.Context) (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range startAttempts {
		if r.ports, err = freeRabbitPorts(); err != nil {
			return err
		}
		if err = r.start(ctx); err == nil || !r.portLost() {
			return err
		}
	}
	return err
}

func freeRabbitPorts() (rabbitPorts, error) {
	var p rabbitPorts
	for _, port := range []*int{&p.amqp, &p.tls, &p.dist, &p.epmd} {
		var err error
		if *port, err = freePort(); err != nil {
			return p, err
		}
	}
	return p, nil
}

// portLost says, after a start that failed, whether somebody else has one of the ports.
func (r *RabbitMQ) portLost() bool {
	r.endMapper()
	return slices.ContainsFunc(r.ports.all(), portTaken)
}

func (r *RabbitMQ) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.opts.StartTimeout)
	defer cancel()
	if err := r.startMapper(ctx); err != nil {
		return err
	}
	if err := r.writeConfig(); err != nil {
		return err
	}
	return r.launch(ctx, command{
		name: "RabbitMQ", path: filepath.Join(r.opts.Sbin, "rabbitmq-server"), env: r.env(), log: r.logFile(),
	}, r.ready)
}

// Close kills node and port mapper and removes their files. It may be called twice.
func (r *RabbitMQ) Close() error {
	err := r.retire()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endMapper()
	return errors.Join(err, r.home.Close())
}

// URL is what the administrator's client connects to, in a virtual host ("/" is the default one).
func (r *RabbitMQ) URL(vhost string) string { return r.URLAs(r.opts.User, r.opts.Password, vhost) }

// URLAs is URL for another user.
func (r *RabbitMQ) URLAs(user, password, vhost string) string {
	return rabbitURL("amqp", r.ports.amqp, user, password, vhost)
}

// URLTLS is URL for the TLS listener.
func (r *RabbitMQ) URLTLS(vhost string) string {
	return rabbitURL("amqps", r.ports.tls, r.opts.User, r.opts.Password, vhost)
}

func rabbitURL(scheme string, port int, user, password, vhost string) string {
	u := url.URL{Scheme: scheme, Host: loopback(port), User: url.UserPassword(user, password), Path: "/" + vhost}
	if vhost == "/" {
		u.RawPath, u.Path = "/%2F", "//"
	}
	return u.String()
}

// Port is the port of the plain listener on 127.0.0.1. It stays the same over restarts.
func (r *RabbitMQ) Port() int { return r.ports.amqp }

// LogTail returns the last lines of the node's log.
func (r *RabbitMQ) LogTail(lines int) string {
	return fileTail(r.path("log", "node.log"), lines) + "\n" + fileTail(r.logFile(), lines)
}

func (r *RabbitMQ) logFile() string { return r.path("output") }

func (r *RabbitMQ) path(parts ...string) string {
	return filepath.Join(append([]string{r.home.path}, parts...)...)
}

package rabbitbroker

import (
	"context"
	"crypto/tls"
	"net"
	"strconv"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// line is one connection.
type line struct {
	conn    *amqp.Connection
	raw     net.Conn
	ended   chan *amqp.Error
	blocked chan amqp.Blocking
	gone    chan struct{} // closed when the link is through with it
}

// cut ends the connection without a word.
func (l *line) cut() { _ = l.raw.Close() }

// close ends it properly, if the server answers.
func (l *line) close() {
	_ = l.conn.CloseDeadline(time.Now().Add(farewellTimeout))
	l.cut()
}

// access is how connections are made, for a destination or a source. One goroutine uses it.
type access struct {
	hosts    []host
	login    Login
	topology Topology
	wrap     func(net.Conn) net.Conn // what the client library reads from; nil for the connection itself
}

// connect tries each host once, and says what is wrong: what a person must fix
// before what may pass.
func (k *access) connect(ctx context.Context) (*line, *broker.Error) {
	var worst *broker.Error
	for range k.hosts {
		line, f := k.dial(ctx, k.hosts[0])
		if f == nil {
			return line, nil
		}
		k.hosts = append(k.hosts[1:], k.hosts[0]) // the next one is first from now on
		if worst == nil || f.Outcome == broker.Misconfigured {
			worst = f
		}
	}
	return nil, worst
}

// dial makes a connection and declares the topology over it.
func (k *access) dial(ctx context.Context, h host) (*line, *broker.Error) {
	dialer := net.Dialer{Timeout: dialTimeout}
	raw, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(h.name, strconv.Itoa(h.port)))
	if err != nil {
		return nil, translateDial(err)
	}
	defer context.AfterFunc(ctx, func() { _ = raw.Close() })()
	patience := time.AfterFunc(handshakeTimeout, func() { _ = raw.Close() })
	defer patience.Stop()
	conn, err := k.handshake(ctx, raw, h)
	if err != nil {
		_ = raw.Close()
		return nil, translateDial(err)
	}
	line := &line{
		conn: conn, raw: raw, gone: make(chan struct{}),
		ended:   conn.NotifyClose(make(chan *amqp.Error, 1)),
		blocked: conn.NotifyBlocked(make(chan amqp.Blocking, 16)),
	}
	if err := k.topology.declare(conn); err != nil {
		line.close()
		return nil, translateTopology(err)
	}
	return line, nil
}

func (k *access) handshake(ctx context.Context, raw net.Conn, h host) (*amqp.Connection, error) {
	transport := raw
	if config := brokerkit.ClientTLS(k.login.TLS, h.tls, h.name); config != nil {
		secure := tls.Client(raw, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			return nil, err
		}
		transport = secure
	}
	if k.wrap != nil {
		transport = k.wrap(transport)
	}
	properties := amqp.NewConnectionProperties()
	properties.SetClientConnectionName(k.login.Name)
	config := amqp.Config{
		SASL:  []amqp.Authentication{k.authentication(h, properties)},
		Vhost: h.vhost, Heartbeat: k.login.Heartbeat, Locale: "en_US", Properties: properties,
	}
	if k.login.VHost != "" {
		config.Vhost = k.login.VHost
	}
	return amqp.Open(transport, config)
}

// authentication is amqp.Authentication for one connection.
type authentication struct {
	amqp.Authentication

	properties amqp.Table
}

func (k *access) authentication(h host, properties amqp.Table) authentication {
	a := authentication{properties: properties}
	switch {
	case k.login.External:
		a.Authentication = &amqp.ExternalAuth{}
	case k.login.User != "":
		a.Authentication = &amqp.PlainAuth{Username: k.login.User, Password: k.login.Password}
	default:
		a.Authentication = &amqp.PlainAuth{Username: h.user, Password: h.password}
	}
	return a
}

// Response also announces that this client understands the server's word on a
// login that failed; without it the server just closes the socket, as it does when
// it is killed. The client library sets the capabilities right before it asks for
// the response.
func (a authentication) Response() string {
	if capabilities, ok := a.properties["capabilities"].(amqp.Table); ok {
		capabilities["authentication_failure_close"] = true
	}
	return a.Authentication.Response()
}

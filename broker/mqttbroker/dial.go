package mqttbroker

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// Dial returns a destination. urls is one URL, or several of brokers that serve the
// same, with commas between, which are tried in turn: mqtt://host:1883, or
// mqtts://host:8883 for TLS; user and password may stand in it.
//
// Dial itself connects to nobody: the first call does. An error means that urls or
// options cannot be used, or that ctx is over.
func Dial(ctx context.Context, urls string, o Options) (*Destination, error) {
	addresses, errURLs := parse(urls)
	if err := errors.Join(o.Validate(), errURLs); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return newDestination(addresses, o), nil
}

// ValidURLs says whether Dial could use urls. An error names all that is wrong, and
// never quotes a URL, which may hold a password.
func ValidURLs(urls string) error {
	_, err := parse(urls)
	return err
}

// address is what a URL says.
type address struct {
	host           string // and port
	user, password string
	secure         bool
}

// connectTimeout is how long one broker may take to accept a connection.
const connectTimeout = 5 * time.Second

// access is how a destination or a source connects.
type access struct {
	addresses []address
	login     Login
	alive     time.Duration
	// clean is for a connection that begins without a session; session says what else there
	// is to say of one.
	clean   bool
	session packets.Properties
	rivals  *rivals
}

// welcome is a connection that a broker has taken.
type welcome struct {
	limits

	conn   net.Conn
	in     *bufio.Reader
	answer *packets.Connack
}

// connect tries the addresses in turn. Of several failures the one that needs a
// person is told.
func (a *access) connect(ctx context.Context) (*welcome, *broker.Error) {
	var worst *broker.Error
	for _, to := range a.addresses {
		w, f := a.connectTo(ctx, to)
		if f == nil {
			return w, nil
		}
		if worst == nil || worst.Outcome != broker.Misconfigured {
			worst = f
		}
	}
	return nil, worst
}

func (a *access) connectTo(ctx context.Context, to address) (*welcome, *broker.Error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := a.open(ctx, to)
	if err != nil {
		a.rivals.unreachable()
		if brokerkit.BadCertificate(err) {
			return nil, adapter.Failure(broker.Misconfigured, "the broker's certificate is not trusted", "set Options.Login.TLS with the authority that signed it")
		}
		return nil, adapter.Failure(broker.Unavailable, "the broker cannot be reached", "wait, or look whether it runs")
	}
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })() // ends what is being read
	in := bufio.NewReader(conn)
	answer, f := a.greet(conn, in, to)
	if f == nil && ctx.Err() != nil {
		f = errSilent()
	}
	if f == nil && a.rivals.contested(conn, in) {
		f = errTakenOver(broker.Misconfigured, a.login.ClientID)
	}
	if f == nil && conn.SetDeadline(time.Time{}) != nil {
		f = errSilent()
	}
	if f != nil {
		_ = conn.Close() // f says more
		return nil, f
	}
	return &welcome{limits: limitsOf(answer.Properties, a.alive), conn: conn, in: in, answer: answer}, nil
}

func errSilent() *broker.Error {
	return adapter.Failure(broker.Unavailable, "the broker did not answer the connection", "wait, or look whether it runs and speaks MQTT at this port")
}

func (a *access) open(ctx context.Context, to address) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", to.host)
	if err != nil {
		return nil, err
	}
	conn = promptly(conn)
	host, _, _ := net.SplitHostPort(to.host) // it was dialled, so it can be split
	config := brokerkit.ClientTLS(a.login.TLS, to.secure, host)
	if config == nil {
		return conn, nil
	}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return secure, nil
}

// greet sends CONNECT and reads the answer.
func (a *access) greet(conn net.Conn, in *bufio.Reader, to address) (*packets.Connack, *broker.Error) {
	user, password := cmp.Or(a.login.User, to.user), cmp.Or(a.login.Password, to.password)
	hello := &packets.Connect{
		ProtocolName: "MQTT", ProtocolVersion: 5, CleanStart: a.clean, ClientID: a.login.ClientID, Properties: &a.session,
		KeepAlive: uint16(a.alive / time.Second),
		Username:  user, UsernameFlag: user != "", Password: []byte(password), PasswordFlag: password != "",
	}
	if _, err := hello.WriteTo(conn); err != nil {
		return nil, errSilent()
	}
	p, err := packets.ReadPacket(in)
	if err != nil {
		return nil, errSilent()
	}
	answer, ok := p.Content.(*packets.Connack)
	switch {
	case !ok:
		return nil, adapter.Failure(broker.Misconfigured, "the broker answered the connection with something else than CONNACK", "use a broker of MQTT 5")
	case answer.ReasonCode != 0:
		return nil, unwelcome(answer.ReasonCode)
	}
	return answer, nil
}

// limitsOf are those that a CONNACK tells, or what MQTT 5 says where it does not
// (section 3.2.2.3).
func limitsOf(p *packets.Properties, alive time.Duration) limits {
	l := limits{packet: largestPacket, pending: maxID, qos: 2, retain: true, alive: alive.Truncate(time.Second)}
	if p.MaximumPacketSize != nil && *p.MaximumPacketSize < l.packet {
		l.packet = *p.MaximumPacketSize
	}
	if p.ReceiveMaximum != nil && *p.ReceiveMaximum > 0 {
		l.pending = *p.ReceiveMaximum
	}
	if p.MaximumQOS != nil {
		l.qos = *p.MaximumQOS
	}
	if p.RetainAvailable != nil {
		l.retain = *p.RetainAvailable != 0
	}
	if p.ServerKeepAlive != nil && *p.ServerKeepAlive > 0 {
		l.alive = time.Duration(*p.ServerKeepAlive) * time.Second
	}
	return l
}

func (d *Destination) newConnection(w *welcome) *connection {
	careful := d.suspects.Load() > 0
	room := min(d.options.MaxPending, int(w.pending))
	if careful {
		room = 1
	}
	x := &connection{
		limits: w.limits, conn: w.conn, room: make(chan struct{}, room), gone: make(chan struct{}), careful: careful,
		unheard: d.options.Unheard || d.options.Retain, ended: d.lost,
		takenOver: d.takenOver, cut: d.cut, clientID: d.options.Login.ClientID, began: time.Now(),
		out: bufio.NewWriterSize(w.conn, 64<<10), pending: map[uint16]ticket{}, denied: map[string]*broker.Error{}, release: make(chan uint16, room),
	}
	x.start(w.in)
	return x
}

// parse takes urls apart.
func parse(urls string) (all []address, err error) {
	list := brokerkit.URLs{Adapter: adapter, Example: "mqtt://host:1883", Schemes: []string{"mqtt", "mqtts"}, Default: "mqtt"}
	err = list.Each(urls, func(u *url.URL) (fault string) {
		if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
			return "has more than host and port, and what else there is to say stands in Options"
		}
		a := address{user: u.User.Username(), secure: u.Scheme == "mqtts"}
		a.host = brokerkit.HostPort(u, map[bool]int{false: 1883, true: 8883}[a.secure])
		a.password, _ = u.User.Password()
		if badText(a.user) != "" {
			return "has a user that MQTT cannot carry"
		}
		all = append(all, a)
		return ""
	})
	return all, err
}

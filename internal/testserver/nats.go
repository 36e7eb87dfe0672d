package testserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// NATSOptions says what NATS server to start. The zero value is one with JetStream, open to all of this machine.
type NATSOptions struct {
	// StoreDir takes JetStream's files, and is not removed at the end. Defaults to a temporary folder.
	StoreDir string
	// Port on 127.0.0.1. Defaults to a free one.
	Port int
	// MaxPayload is the largest message in bytes. Defaults to the server's own default, 1 MiB.
	MaxPayload int
	// MaxStore limits what JetStream may store, in bytes. Defaults to what the disk has.
	MaxStore int64
	// User and Password that clients must give. Default to none.
	User, Password string
	// Users that may connect. Default to User, or all. See NATS.SetUsers.
	Users []NATSUser
	// SyncInterval is the time between two fsyncs of the store. Defaults to the server's default, 2 min.
	SyncInterval time.Duration
	// SyncAlways has each message fsynced before it is acknowledged.
	SyncAlways bool
	// StartTimeout is how long a start with recovery may take. Defaults to 60 s.
	StartTimeout time.Duration
}

// NATSUser is who may connect.
type NATSUser struct {
	Name     string `json:"name"`
	Password string `json:"password"`
	// Deny are subjects that the user may not publish to.
	Deny []string `json:"deny"`
}

// NATS is a private NATS server in a process of its own. Its methods may be called concurrently; commands wait for each
// other.
type NATS struct {
	server

	opts    NATSOptions
	program string
	home    *folder
	port    int
}

// StartNATS starts a server and returns when it accepts connections and JetStream is up.
func StartNATS(ctx context.Context, opts NATSOptions) (*NATS, error) {
	program, err := findNatsd(ctx)
	if err != nil {
		return nil, err
	}
	home, err := newFolder("nats", false)
	if err != nil {
		return nil, err
	}
	if opts.StoreDir == "" {
		opts.StoreDir = filepath.Join(home.path, "store")
	}
	if opts.StartTimeout == 0 {
		opts.StartTimeout = time.Minute
	}
	n := &NATS{opts: opts, program: program, home: home}
	n.name, n.begin = "NATS", n.start
	if err = n.writeUsers(opts.Users); err == nil {
		err = n.firstStart(ctx, opts.Port, &n.port)
	}
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (n *NATS) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, n.opts.StartTimeout)
	defer cancel()
	c := command{name: "NATS", path: n.program, args: n.args(), log: n.logFile()}
	if n.opts.Password != "" {
		c.env = []string{"NATSD_PASSWORD=" + n.opts.Password}
	}
	return n.launch(ctx, c, n.ready)
}

func (n *NATS) args() []string {
	args := []string{
		"-port", strconv.Itoa(n.port), "-store", n.opts.StoreDir, "-name", fmt.Sprintf("natsd-%d", n.port),
		"-ready", n.opts.StartTimeout.String(),
	}
	if n.opts.MaxPayload > 0 {
		args = append(args, "-max-payload", strconv.Itoa(n.opts.MaxPayload))
	}
	if n.opts.MaxStore > 0 {
		args = append(args, "-max-store", strconv.FormatInt(n.opts.MaxStore, 10))
	}
	if n.opts.User != "" {
		args = append(args, "-user", n.opts.User)
	}
	if len(n.opts.Users) > 0 {
		args = append(args, "-users", n.usersFile())
	}
	if n.opts.SyncInterval > 0 {
		args = append(args, "-sync-interval", n.opts.SyncInterval.String())
	}
	if n.opts.SyncAlways {
		args = append(args, "-sync-always")
	}
	return args
}

// ready reads the greeting that a NATS server sends first, and looks whether it names this very server and JetStream.
func (n *NATS) ready(ctx context.Context) bool {
	conn, err := dial(ctx, n.port)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return false
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	return err == nil && strings.HasPrefix(line, "INFO ") && strings.Contains(line, `"jetstream":true`) &&
		strings.Contains(line, fmt.Sprintf(`"server_name":"natsd-%d"`, n.port))
}

func (n *NATS) usersFile() string { return filepath.Join(n.home.path, "users.json") }

func (n *NATS) writeUsers(users []NATSUser) error {
	text, err := json.Marshal(users) //nolint:gosec // the file is the owner's alone
	if err != nil {
		return err
	}
	return os.WriteFile(n.usersFile(), text, 0o600)
}

// SetUsers replaces the users of a server that was started with some, and has it read them again, which takes it a moment.
func (n *NATS) SetUsers(users ...NATSUser) error {
	if err := n.writeUsers(users); err != nil {
		return err
	}
	return n.order("reload", func(p *process) error { return p.signal(sigHangUp) })
}

// Close kills the server and removes its files. It may be called twice.
func (n *NATS) Close() error {
	return errors.Join(n.retire(), n.home.Close())
}

// URL is what a client connects to; it holds user and password if the server asks for them, those of the first user.
func (n *NATS) URL() string {
	u := url.URL{Scheme: "nats", Host: loopback(n.port)}
	switch {
	case n.opts.User != "":
		u.User = url.UserPassword(n.opts.User, n.opts.Password)
	case len(n.opts.Users) > 0:
		u.User = url.UserPassword(n.opts.Users[0].Name, n.opts.Users[0].Password)
	}
	return u.String()
}

// Port is the server's port on 127.0.0.1. It stays the same over restarts.
func (n *NATS) Port() int { return n.port }

// StoreDir is the folder of JetStream's files.
func (n *NATS) StoreDir() string { return n.opts.StoreDir }

// LogTail returns the last lines of the server's log.
func (n *NATS) LogTail(lines int) string { return fileTail(n.logFile(), lines) }

func (n *NATS) logFile() string { return filepath.Join(n.home.path, "log") }

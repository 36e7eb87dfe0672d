package testserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// MosquittoOptions says what MQTT broker to start. The zero value is open to all of this machine, and keeps as many messages
// for a client that is away as come.
type MosquittoOptions struct {
	// Port on 127.0.0.1. Defaults to a free one.
	Port int
	// Users that may connect, with their passwords. Defaults to all, without.
	Users map[string]string
	// ACL are lines of an ACL file, such as "user relay" and "topic write orders/#". Defaults to every right for all. Without
	// a "user" before it a "topic" gives nothing to a session that outlives a restart, until its client is back: use "pattern".
	// See Mosquitto.SetACL.
	ACL []string
	// TLS has the port speak TLS only, with a certificate of a private authority: see Mosquitto.ClientTLS.
	TLS bool
	// Listener are further settings that are the listener's, such as "max_qos", and Settings those of the whole broker.
	Listener, Settings map[string]string
}

// Mosquitto is a private MQTT broker. Its methods may be called concurrently; commands wait for each other. It
// saves the messages it keeps when it is stopped in order; those since the last time it saved are lost when it is killed.
type Mosquitto struct {
	server

	opts    MosquittoOptions
	program string
	home    *folder
	port    int
	tls     *authority
}

// StartMosquitto starts a broker and returns when it accepts connections.
func StartMosquitto(ctx context.Context, opts MosquittoOptions) (*Mosquitto, error) {
	program, err := mosquittoProgram("mosquitto")
	if err != nil {
		return nil, err
	}
	home, err := newFolder("mosquitto", false)
	if err != nil {
		return nil, err
	}
	m := &Mosquitto{opts: opts, program: program, home: home}
	m.name, m.begin = "Mosquitto", m.start
	if err = m.prepare(ctx); err == nil {
		err = m.firstStart(ctx, opts.Port, &m.port)
	}
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// mosquittoProgram finds a program of the package, which Debian puts where a user's PATH need not lead.
func mosquittoProgram(name string) (string, error) {
	for _, path := range []string{name, "/usr/sbin/" + name, "/usr/local/sbin/" + name} {
		if program, err := exec.LookPath(path); err == nil {
			return program, nil
		}
	}
	return "", &MissingError{What: "the MQTT broker (" + name + ")", Fix: "run scripts/setup, or install the package mosquitto"}
}

// prepare writes what the broker reads at its start.
func (m *Mosquitto) prepare(ctx context.Context) error {
	if m.opts.TLS {
		var err error
		if m.tls, err = newAuthority(); err != nil {
			return err
		}
		if err := m.tls.writeServer(m.home.path); err != nil {
			return err
		}
	}
	if err := m.writeACL(m.opts.ACL); err != nil || len(m.opts.Users) == 0 {
		return err
	}
	var lines strings.Builder
	for user, password := range m.opts.Users {
		fmt.Fprintf(&lines, "%s:%s\n", user, password)
	}
	if err := os.WriteFile(m.file("passwords"), []byte(lines.String()), 0o600); err != nil {
		return err
	}
	program, err := mosquittoProgram("mosquitto_passwd")
	if err != nil {
		return err
	}
	_, err = command{name: "mosquitto_passwd", path: program, args: []string{"-U", m.file("passwords")}}.run(ctx)
	return err
}

// writeACL writes the ACL file. Every right is given by a pattern: a session that was read from the broker's file has no others
// before its client comes, where that shows no user, and the broker drops what it may not read.
func (m *Mosquitto) writeACL(lines []string) error {
	if len(lines) == 0 {
		lines = []string{"pattern readwrite #"}
	}
	return os.WriteFile(m.file("acl"), []byte(strings.Join(lines, "\n")+"\n"), 0o600)
}

func (m *Mosquitto) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := os.WriteFile(m.file("conf"), []byte(m.config()), 0o600); err != nil {
		return err
	}
	return m.launch(ctx, command{name: "Mosquitto", path: m.program, args: []string{"-c", m.file("conf")}, log: m.logFile()}, m.ready)
}

// config is the text of mosquitto.conf. Settings of a listener follow it, the broker's own may stand before.
func (m *Mosquitto) config() string {
	var b strings.Builder
	set := func(name, value string) { fmt.Fprintf(&b, "%s %s\n", name, value) }
	all := map[string]string{
		"persistence": "true", "persistence_location": m.home.path + "/", "max_queued_messages": "1000000", "max_inflight_messages": "1000",
		"acl_file": m.file("acl"), "allow_anonymous": "true", "log_type": "all",
	}
	if os.Geteuid() == 0 {
		all["user"] = "root" // it would change to an account that cannot reach its files
	}
	if len(m.opts.Users) > 0 {
		all["allow_anonymous"], all["password_file"] = "false", m.file("passwords")
	}
	maps.Copy(all, m.opts.Settings)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		set(name, all[name])
	}
	set("listener", fmt.Sprintf("%d 127.0.0.1", m.port))
	if m.tls != nil {
		set("cafile", m.file(authorityFile))
		set("certfile", m.file(certificateFile))
		set("keyfile", m.file(keyFile))
	}
	for _, name := range slices.Sorted(maps.Keys(m.opts.Listener)) {
		set(name, m.opts.Listener[name])
	}
	return b.String()
}

// ready says whether the broker answers a CONNECT (MQTT 5, no client id), be it with a refusal. A port with TLS is only
// tried for a connection.
func (m *Mosquitto) ready(ctx context.Context) bool {
	conn, err := dial(ctx, m.port)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	if m.tls != nil {
		return true
	}
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return false
	}
	if _, err := conn.Write([]byte("\x10\x0d\x00\x04MQTT\x05\x02\x00\x05\x00\x00\x00")); err != nil {
		return false
	}
	answer := make([]byte, 1)
	_, err = io.ReadFull(conn, answer)
	return err == nil && answer[0] == 0x20
}

// SetACL replaces the ACL file and has the broker read it again, which takes it a moment. None: every right for all.
func (m *Mosquitto) SetACL(lines ...string) error {
	if err := m.writeACL(lines); err != nil {
		return err
	}
	return m.order("reload", func(p *process) error { return p.signal(sigHangUp) })
}

// Close kills the broker and removes its files. It may be called twice.
func (m *Mosquitto) Close() error {
	return errors.Join(m.retire(), m.home.Close())
}

// Addr is the broker's address, as host:port. It stays the same over restarts.
func (m *Mosquitto) Addr() string { return loopback(m.port) }

// ClientTLS is what a client of a broker with TLS uses: it trusts the broker's authority, and shows a certificate of that
// name where one is given. It needs MosquittoOptions.TLS.
func (m *Mosquitto) ClientTLS(name string) (*tls.Config, error) {
	if m.tls == nil {
		return nil, errState("Mosquitto", "make TLS settings for", "it has no TLS: start it with MosquittoOptions.TLS")
	}
	return m.tls.client(name)
}

// Log returns the broker's log. It is for a test that looks for a line in it: other tests may
// write much after that line.
func (m *Mosquitto) Log() string { return fileText(m.logFile()) }

// LogTail returns the last lines of the broker's log, of 64 KiB at most.
func (m *Mosquitto) LogTail(lines int) string { return fileTail(m.logFile(), lines) }

func (m *Mosquitto) logFile() string { return m.file("log") }

func (m *Mosquitto) file(name string) string { return filepath.Join(m.home.path, name) }

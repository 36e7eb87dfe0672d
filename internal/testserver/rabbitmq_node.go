package testserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// prepare makes the folders, and the certificates where TLS is wanted.
func (r *RabbitMQ) prepare() error {
	for _, name := range []string{r.opts.DataDir, r.path("log")} {
		if err := os.MkdirAll(name, 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(r.path("plugins"), []byte("["+strings.Join(r.opts.Plugins, ",")+"].\n"), 0o600); err != nil {
		return err
	}
	if !r.opts.TLS {
		return nil
	}
	var err error
	if r.tls, err = newAuthority(); err != nil {
		return err
	}
	return r.tls.writeServer(r.home.path)
}

func (r *RabbitMQ) writeConfig() error {
	lines := []string{
		fmt.Sprintf("listeners.tcp.1 = 127.0.0.1:%d", r.ports.amqp),
		"default_user = " + r.opts.User,
		"default_pass = " + r.opts.Password,
		"log.file = " + r.path("log", "node.log"),
		"log.console = false",
	}
	if r.opts.MaxMessageSize > 0 {
		lines = append(lines, "max_message_size = "+strconv.Itoa(r.opts.MaxMessageSize))
	}
	if r.opts.TLS {
		verify := "verify_none"
		if r.opts.VerifyClients {
			verify = "verify_peer"
		}
		lines = append(lines,
			fmt.Sprintf("listeners.ssl.1 = 127.0.0.1:%d", r.ports.tls),
			"ssl_options.cacertfile = "+r.path(authorityFile),
			"ssl_options.certfile = "+r.path(certificateFile),
			"ssl_options.keyfile = "+r.path(keyFile),
			"ssl_options.verify = "+verify,
			fmt.Sprintf("ssl_options.fail_if_no_peer_cert = %v", r.opts.VerifyClients))
	}
	text := strings.Join(append(lines, r.opts.Config...), "\n") + "\n"
	return os.WriteFile(r.path("rabbitmq.conf"), []byte(text), 0o600)
}

// env is the environment of the node and of rabbitmqctl. Under "systemd" the script replaces itself by the node, so that
// the process we start is the node.
func (r *RabbitMQ) env() []string {
	return []string{
		"HOME=" + r.home.path,
		"RUNNING_UNDER_SYSTEMD=true",
		"RABBITMQ_NODENAME=" + r.node(),
		"RABBITMQ_NODE_IP_ADDRESS=127.0.0.1",
		"RABBITMQ_NODE_PORT=" + strconv.Itoa(r.ports.amqp),
		"RABBITMQ_DIST_PORT=" + strconv.Itoa(r.ports.dist),
		"RABBITMQ_CTL_DIST_PORT_MIN=35000", "RABBITMQ_CTL_DIST_PORT_MAX=39999",
		"RABBITMQ_MNESIA_BASE=" + r.opts.DataDir,
		"RABBITMQ_LOG_BASE=" + r.path("log"),
		"RABBITMQ_PID_FILE=" + r.path("pid"),
		"RABBITMQ_ENABLED_PLUGINS_FILE=" + r.path("plugins"),
		"RABBITMQ_CONFIG_FILE=" + r.path("rabbitmq.conf"),
		"RABBITMQ_CONF_ENV_FILE=/dev/null",
		"ERL_EPMD_ADDRESS=127.0.0.1",
		"ERL_EPMD_PORT=" + strconv.Itoa(r.ports.epmd),
	}
}

func (r *RabbitMQ) node() string { return fmt.Sprintf("postbag%d@localhost", r.ports.amqp) }

// startMapper starts epmd in the foreground. Left to the node it would outlive it, and serve every node of the machine.
func (r *RabbitMQ) startMapper(ctx context.Context) error {
	if r.mapper != nil && !r.mapper.ended() {
		return nil
	}
	path, err := exec.LookPath("epmd")
	if err != nil {
		return &MissingError{What: "Erlang's port mapper epmd", Fix: "run scripts/setup, or apt-get install erlang-base"}
	}
	r.mapper, err = command{
		name: "epmd", path: path, log: r.path("epmd"),
		args: []string{"-port", strconv.Itoa(r.ports.epmd), "-address", "127.0.0.1"},
	}.start()
	if err != nil {
		return err
	}
	return r.mapper.until(ctx, func() bool {
		conn, err := dial(ctx, r.ports.epmd)
		return err == nil && conn.Close() == nil
	})
}

func (r *RabbitMQ) endMapper() {
	if r.mapper != nil {
		_ = r.mapper.stop(context.Background(), os.Kill)
		r.mapper = nil
	}
}

// ready greets the server as a client does and looks for its answer, Connection.Start; with TLS, whether that listener is
// there too.
func (r *RabbitMQ) ready(ctx context.Context) bool {
	if r.opts.TLS {
		conn, err := dial(ctx, r.ports.tls)
		if err != nil {
			return false
		}
		_ = conn.Close()
	}
	conn, err := dial(ctx, r.ports.amqp)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return false
	}
	if _, err := conn.Write([]byte("AMQP\x00\x00\x09\x01")); err != nil {
		return false
	}
	answer := make([]byte, 11)
	_, err = io.ReadFull(conn, answer)
	return err == nil && answer[0] == 1 && answer[8] == 10 && answer[10] == 10
}

// Ctl runs rabbitmqctl on the node and returns what it printed.
func (r *RabbitMQ) Ctl(ctx context.Context, args ...string) (string, error) {
	return command{
		name: "rabbitmqctl " + args[0], path: filepath.Join(r.opts.Sbin, "rabbitmqctl"),
		args: append([]string{"--quiet"}, args...), env: r.env(),
	}.run(ctx)
}

// Reset lets the node forget all it has, and go on with the user of its options alone.
func (r *RabbitMQ) Reset(ctx context.Context) error {
	for _, order := range []string{"stop_app", "reset", "start_app"} {
		if _, err := r.Ctl(ctx, order); err != nil {
			return err
		}
	}
	return nil
}

// Remember has the node write its list of quorum queues to the disk, which it does by itself half a second after the last
// change. Killed before that it does not find a new queue's messages again (Ra's directory is a dets table, RabbitMQ 3.10).
func (r *RabbitMQ) Remember(ctx context.Context) error {
	_, err := r.Ctl(ctx, "eval", "[ok = dets:sync(T) || T <- dets:all()].")
	return err
}

// AddVHost makes a virtual host in which the administrator may do everything.
func (r *RabbitMQ) AddVHost(ctx context.Context, vhost string) error {
	_, err := r.Ctl(ctx, "add_vhost", vhost)
	return errors.Join(err, r.Allow(ctx, vhost, r.opts.User, ".*", ".*", ".*"))
}

// AddUser makes a user without any right.
func (r *RabbitMQ) AddUser(ctx context.Context, name, password string) error {
	_, err := r.Ctl(ctx, "add_user", name, password)
	return err
}

// Allow sets what a user may configure, write and read in a virtual host: regular expressions over names.
func (r *RabbitMQ) Allow(ctx context.Context, vhost, user, configure, write, read string) error {
	_, err := r.Ctl(ctx, "set_permissions", "-p", vhost, user, configure, write, read)
	return err
}

// Alarm raises, or ends, the memory alarm: all publishers are blocked while it lasts.
func (r *RabbitMQ) Alarm(ctx context.Context, on bool) error {
	mark := "0.4"
	if on {
		mark = "0.0001"
	}
	_, err := r.Ctl(ctx, "set_vm_memory_high_watermark", mark)
	return err
}

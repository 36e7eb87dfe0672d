package testserver

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// RedisOptions says what Redis server to start. The zero value is one without a password that appends each write to its
// file, and has it on disk, before it answers.
type RedisOptions struct {
	// Port on 127.0.0.1. Defaults to a free one.
	Port int
	// Password of the default user. Defaults to none.
	Password string
	// Users are lines of an ACL without the word "user": "relay on >secret ~* +xadd". Default to the default user alone.
	Users []string
	// TLS has the port speak TLS only, with a certificate of a private authority: see Redis.ClientTLS.
	TLS bool
	// AppendFsync is when writes are on disk: "always", "everysec", "no", or "off" for no file at all. Defaults to "always".
	AppendFsync string
	// DataDir takes the server's files, and is not removed at the end. Defaults to a temporary folder.
	DataDir string
	// MaxMemory in bytes, beyond which writes are refused. Defaults to no limit.
	MaxMemory int64
	// ReplicaOf makes the server a replica, from its first start on, which then waits until it has the primary's data.
	// Defaults to none.
	ReplicaOf *Redis
	// Cluster starts a node of a cluster; StartRedisCluster makes whole ones.
	Cluster bool
	// Settings are further ones of redis.conf, by name.
	Settings map[string]string
	// StartTimeout is how long a start with recovery may take. Defaults to 60 s.
	StartTimeout time.Duration
}

// Redis is a private Redis server. Its methods may be called concurrently; commands wait for each other.
type Redis struct {
	server

	opts    RedisOptions
	program string
	home    *folder
	port    int
	bus     int // of a node of a cluster, else zero
	tls     *authority
}

// StartRedis starts a server and returns when it takes commands.
func StartRedis(ctx context.Context, opts RedisOptions) (*Redis, error) {
	program, err := redisProgram()
	if err != nil {
		return nil, err
	}
	home, err := newFolder("redis", false)
	if err != nil {
		return nil, err
	}
	if opts.StartTimeout == 0 {
		opts.StartTimeout = time.Minute
	}
	r := &Redis{opts: opts, program: program, home: home}
	r.name, r.begin = "Redis", r.start
	if err = r.prepare(); err == nil {
		err = r.firstStart(ctx, opts.Port, &r.port)
	}
	if err == nil && opts.ReplicaOf != nil {
		err = r.awaitLink(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func redisProgram() (string, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return "", &MissingError{What: "the Redis server (redis-server)", Fix: "run scripts/setup, or install the package redis-server"}
	}
	return program, nil
}

// prepare writes what the server reads at its start.
func (r *Redis) prepare() error {
	if err := os.MkdirAll(r.dataDir(), 0o700); err != nil {
		return err
	}
	if r.opts.TLS {
		var err error
		if r.tls, err = newAuthority(); err != nil {
			return err
		}
		if err := r.tls.writeServer(r.home.path); err != nil {
			return err
		}
	}
	if len(r.opts.Users) == 0 {
		return nil
	}
	lines := "user " + strings.Join(append(r.opts.Users, r.defaultUser()), "\nuser ") + "\n"
	return os.WriteFile(r.aclFile(), []byte(lines), 0o600)
}

// defaultUser is the line of the user that those without a name are.
func (r *Redis) defaultUser() string {
	if r.opts.Password == "" {
		return "default on nopass ~* &* +@all"
	}
	return "default on >" + r.opts.Password + " ~* &* +@all"
}

func (r *Redis) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.opts.StartTimeout)
	defer cancel()
	if r.opts.Cluster && r.bus == 0 {
		var err error
		if r.bus, err = freePort(); err != nil {
			return err
		}
	}
	config := filepath.Join(r.home.path, "redis.conf")
	if _, err := os.Stat(config); err != nil || r.proc == nil { // the server itself rewrites it: a fail-over changes who is whose replica
		if err := os.WriteFile(config, []byte(r.config()), 0o600); err != nil {
			return err
		}
	}
	return r.launch(ctx, command{name: "Redis", path: r.program, args: []string{config}, log: r.logFile()}, r.ready)
}

// config is the text of redis.conf. It keeps secrets off the command line.
func (r *Redis) config() string {
	var b strings.Builder
	set := func(name, value string) { fmt.Fprintf(&b, "%s %s\n", name, strconv.Quote(value)) }
	set("bind", "127.0.0.1")
	set("dir", r.dataDir())
	set("save", "")
	set("repl-diskless-sync-delay", "0") // by default a primary waits 5 s for more replicas to feed together
	r.configPort(set)
	switch r.opts.AppendFsync {
	case "off":
		set("appendonly", "no")
	case "":
		set("appendonly", "yes")
		set("appendfsync", "always")
	default:
		set("appendonly", "yes")
		set("appendfsync", r.opts.AppendFsync)
	}
	switch {
	case len(r.opts.Users) > 0:
		set("aclfile", r.aclFile())
	case r.opts.Password != "":
		set("requirepass", r.opts.Password)
	}
	if r.opts.Password != "" {
		set("masterauth", r.opts.Password)
	}
	if r.opts.MaxMemory > 0 {
		set("maxmemory", strconv.FormatInt(r.opts.MaxMemory, 10))
		set("maxmemory-policy", "noeviction")
	}
	if m := r.opts.ReplicaOf; m != nil {
		fmt.Fprintf(&b, "replicaof 127.0.0.1 %d\n", m.port)
	}
	if r.opts.Cluster {
		set("cluster-enabled", "yes")
		set("cluster-node-timeout", "1000")
		set("cluster-port", strconv.Itoa(r.bus))
	}
	for name, value := range r.opts.Settings {
		set(name, value)
	}
	return b.String()
}

func (r *Redis) configPort(set func(name, value string)) {
	if !r.opts.TLS {
		set("port", strconv.Itoa(r.port))
		return
	}
	set("port", "0")
	set("tls-port", strconv.Itoa(r.port))
	set("tls-cert-file", filepath.Join(r.home.path, certificateFile))
	set("tls-key-file", filepath.Join(r.home.path, keyFile))
	set("tls-ca-cert-file", filepath.Join(r.home.path, authorityFile))
	set("tls-auth-clients", "optional")
}

// awaitLink waits until a replica has its primary's data.
func (r *Redis) awaitLink(ctx context.Context) error {
	return r.proc.until(ctx, func() bool {
		info, err := r.Do(ctx, "INFO", "replication")
		return err == nil && strings.Contains(info, "master_link_status:up")
	})
}

// ready says whether this very server takes commands. One that loads its data, or that has no primary yet, does not.
func (r *Redis) ready(ctx context.Context) bool {
	answer, err := r.Do(ctx, "CONFIG", "GET", "dir")
	if err != nil || !strings.Contains(answer, r.dataDir()) {
		return false
	}
	info, err := r.Do(ctx, "INFO", "persistence")
	return err == nil && strings.Contains(info, "\nloading:0")
}

// Close kills the server and removes its files. It may be called twice.
func (r *Redis) Close() error {
	return errors.Join(r.retire(), r.home.Close())
}

// Addr is the server's address, as host:port. It stays the same over restarts.
func (r *Redis) Addr() string { return loopback(r.port) }

// Port is the server's port on 127.0.0.1.
func (r *Redis) Port() int { return r.port }

// ClientTLS is what a client of a server with TLS uses: it trusts the server's authority, and shows a certificate of that
// name where one is given. It needs RedisOptions.TLS.
func (r *Redis) ClientTLS(name string) (*tls.Config, error) {
	if r.tls == nil {
		return nil, errState("Redis", "make TLS settings for", "it has no TLS: start it with RedisOptions.TLS")
	}
	return r.tls.client(name)
}

// LogTail returns the last lines of the server's log.
func (r *Redis) LogTail(lines int) string { return fileTail(r.logFile(), lines) }

func (r *Redis) logFile() string { return filepath.Join(r.home.path, "log") }

func (r *Redis) aclFile() string { return filepath.Join(r.home.path, "users.acl") }

func (r *Redis) dataDir() string { return cmp.Or(r.opts.DataDir, filepath.Join(r.home.path, "data")) }

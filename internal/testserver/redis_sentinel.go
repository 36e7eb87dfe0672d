package testserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// RedisSentinel watches a primary and its replicas, and promotes a replica when the primary is gone. One sentinel is
// enough for a test: its quorum is itself.
type RedisSentinel struct {
	home *folder
	port int
	proc *process
	name string
}

// StartRedisSentinel starts a sentinel for a primary under this name, and returns when it knows so many replicas. It takes
// the primary for dead after downAfter without an answer.
func StartRedisSentinel(ctx context.Context, name string, primary *Redis, replicas int, downAfter time.Duration) (*RedisSentinel, error) {
	program, err := redisProgram()
	if err != nil {
		return nil, err
	}
	home, err := newFolder("sentinel", false)
	if err != nil {
		return nil, err
	}
	s := &RedisSentinel{home: home, name: name}
	if err := s.start(ctx, program, primary, replicas, downAfter); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *RedisSentinel) start(ctx context.Context, program string, primary *Redis, replicas int, downAfter time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var err error
	if s.port, err = freePort(); err != nil {
		return err
	}
	config := filepath.Join(s.home.path, "sentinel.conf") // the sentinel writes into it what it learns
	text := fmt.Sprintf("port %d\nbind 127.0.0.1\ndir %s\n", s.port, s.home.path) +
		fmt.Sprintf("sentinel monitor %s 127.0.0.1 %d 1\n", s.name, primary.port) +
		fmt.Sprintf("sentinel down-after-milliseconds %s %d\n", s.name, downAfter.Milliseconds()) +
		fmt.Sprintf("sentinel failover-timeout %s 10000\n", s.name)
	if primary.opts.Password != "" {
		text += fmt.Sprintf("sentinel auth-pass %s %s\n", s.name, primary.opts.Password)
	}
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	s.proc, err = command{name: "Redis Sentinel", path: program, args: []string{config, "--sentinel"}, log: s.logFile()}.start()
	if err != nil {
		return err
	}
	return s.proc.until(ctx, func() bool {
		about, err := s.do(ctx, "SENTINEL", "MASTER", s.name)
		return err == nil && strings.Contains(about, "\nnum-slaves\n"+strconv.Itoa(replicas)+"\n")
	})
}

func (s *RedisSentinel) do(ctx context.Context, args ...string) (string, error) {
	return (&Redis{port: s.port}).Do(ctx, args...)
}

// PrimaryPort is the port of the server that is the primary now.
func (s *RedisSentinel) PrimaryPort(ctx context.Context) (int, error) {
	answer, err := s.do(ctx, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", s.name)
	if err != nil {
		return 0, err
	}
	_, port, _ := strings.Cut(answer, "\n")
	return strconv.Atoi(port)
}

// Addr is the sentinel's address, as host:port.
func (s *RedisSentinel) Addr() string { return loopback(s.port) }

// LogTail returns the last lines of the sentinel's log.
func (s *RedisSentinel) LogTail(lines int) string { return fileTail(s.logFile(), lines) }

func (s *RedisSentinel) logFile() string { return filepath.Join(s.home.path, "log") }

// Close kills the sentinel and removes its files. It may be called twice.
func (s *RedisSentinel) Close() error {
	var err error
	if s.proc != nil {
		err = s.proc.stop(context.Background(), os.Kill)
	}
	return errors.Join(err, s.home.Close())
}

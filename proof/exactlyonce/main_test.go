package exactlyonce

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/pgstore"
)

// What a process of this program is told in its environment to be a relay.
const (
	envName    = "POSTBAG_TEST_RELAY"
	envDSN     = "POSTBAG_TEST_DSN"
	envBrokers = "POSTBAG_TEST_BROKERS"
)

// ttl is the time of the relays' leases.
const ttl = 2 * time.Second

func TestMain(m *testing.M) {
	if name := os.Getenv(envName); name != "" {
		if err := beRelay(context.Background(), name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// beRelay works until the process is killed, or its parent is gone.
func beRelay(ctx context.Context, name string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // its standard input ends with the parent
		_, _ = os.Stdin.Read(make([]byte, 1))
		cancel()
	}()
	pool, err := pgxpool.New(ctx, os.Getenv(envDSN))
	if err != nil {
		return err
	}
	defer pool.Close()
	store, err := pgstore.Open(ctx, pool, pgstore.Options{})
	if err != nil {
		return err
	}
	to, err := kafkabroker.Dial(ctx, os.Getenv(envBrokers), options())
	if err != nil {
		return err
	}
	r, err := relay.New(store, relay.Options{
		Name: name, TTL: ttl, Grace: time.Second, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Subscriptions: []relay.Subscription{{To: to, ExactlyOnce: true}},
	})
	if err != nil {
		return err
	}
	return r.Run(ctx)
}

func options() kafkabroker.Options {
	return kafkabroker.Options{
		Create:       &kafkabroker.Create{Partitions: 4},
		Transactions: &kafkabroker.Transactions{},
	}
}

// process is a relay in a process of its own.
type process struct {
	name string
	cmd  *exec.Cmd
	log  *os.File
	done chan struct{}
}

// start starts a relay. It is killed when the test ends, and its log is shown if the test failed.
func start(t *testing.T, name, dsn string, brokers []string) *process {
	t.Helper()
	log, err := os.CreateTemp(t.TempDir(), name)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{name: name, log: log, done: make(chan struct{})}
	p.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0])
	p.cmd.Env = append(os.Environ(), envName+"="+name, envDSN+"="+dsn, envBrokers+"="+strings.Join(brokers, ","))
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if _, err := p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // it is killed
	}()
	t.Cleanup(func() {
		p.kill()
		if text, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("relay %s:\n%s", name, text[max(0, len(text)-3000):])
		}
		_ = log.Close()
	})
	return p
}

// kill ends the process without warning, and waits for its end.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// Natsd runs one NATS server with JetStream in the foreground, for tests: the same server that the demo runs in its own
// process, but in one that can be killed, frozen and restarted. Package internal/testserver builds and starts it.
//
// A password is taken from the environment variable NATSD_PASSWORD. The server ends in order on SIGTERM and SIGINT.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "natsd:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, diag io.Writer) error {
	opts, timeout, err := parse(args, diag)
	if err != nil {
		return err
	}
	srv, err := server.NewServer(opts)
	if err != nil {
		return fmt.Errorf("the server cannot be made: %w", err)
	}
	srv.ConfigureLogger()
	srv.Start()
	defer srv.WaitForShutdown()
	defer srv.Shutdown()
	if !srv.ReadyForConnections(timeout) {
		return errors.New("the server was not ready in time: look above for its reason, or raise -ready")
	}
	<-ctx.Done()
	return nil
}

// parse turns flags into the server's options.
func parse(args []string, diag io.Writer) (*server.Options, time.Duration, error) {
	opts := &server.Options{Host: "127.0.0.1", JetStream: true, NoSigs: true, LogFile: "", Logtime: true}
	flags := flag.NewFlagSet("natsd", flag.ContinueOnError)
	flags.SetOutput(diag)
	flags.IntVar(&opts.Port, "port", server.DEFAULT_PORT, "port on 127.0.0.1")
	flags.StringVar(&opts.StoreDir, "store", "", "folder for JetStream's files (required)")
	flags.StringVar(&opts.ServerName, "name", "natsd", "name of the server")
	flags.StringVar(&opts.Username, "user", "", "user that clients must name; the password is in NATSD_PASSWORD")
	flags.BoolVar(&opts.SyncAlways, "sync-always", false, "fsync each message before it is acknowledged")
	flags.DurationVar(&opts.SyncInterval, "sync-interval", 2*time.Minute, "time between two fsyncs of the store")
	flags.Int64Var(&opts.JetStreamMaxStore, "max-store", 0, "bytes JetStream may store (0: what the disk has)")
	payload := flags.Int("max-payload", server.MAX_PAYLOAD_SIZE, "largest message in bytes")
	ready := flags.Duration("ready", time.Minute, "how long recovery and start may take")
	if err := flags.Parse(args); err != nil {
		return nil, 0, err
	}
	if opts.StoreDir == "" {
		return nil, 0, errors.New("no folder for JetStream's files: give -store FOLDER")
	}
	opts.MaxPayload = int32(*payload)
	opts.Password = os.Getenv("NATSD_PASSWORD")
	return opts, *ready, nil
}

// Natsd runs one NATS server with JetStream in the foreground, for tests: the same server that the demo runs in its own
// process, but in one that can be killed, frozen and restarted. Package internal/testserver builds and starts it.
//
// A password is taken from the environment variable NATSD_PASSWORD. The server ends in order on SIGTERM and SIGINT, and on SIGHUP reads
// the file of its users again.
package main

import (
	"context"
	"encoding/json"
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
	opts, users, timeout, err := parse(args, diag)
	if err != nil {
		return err
	}
	if opts.Users, err = readUsers(users); err != nil {
		return err
	}
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGHUP)
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
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-again:
			if err := reload(srv, opts, users); err != nil {
				_, _ = fmt.Fprintln(diag, "natsd: the users stay as they are:", err)
			}
		}
	}
}

// reload has the server know the users of the file.
func reload(srv *server.Server, opts *server.Options, file string) (err error) {
	next := opts.Clone()
	if next.Users, err = readUsers(file); err != nil {
		return err
	}
	return srv.ReloadOptions(next)
}

// user is one in the file, which is a list of them in JSON.
type user struct {
	Name     string   `json:"name"`
	Password string   `json:"password"`
	Deny     []string `json:"deny"` // subjects that the user may not publish to
}

func readUsers(file string) (out []*server.User, err error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file) //nolint:gosec // the person who starts the server names it
	if err != nil {
		return nil, err
	}
	var all []user
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("the file of the users: %w", err)
	}
	for _, u := range all {
		one := &server.User{Username: u.Name, Password: u.Password}
		if len(u.Deny) > 0 {
			one.Permissions = &server.Permissions{Publish: &server.SubjectPermission{Deny: u.Deny}}
		}
		out = append(out, one)
	}
	return out, nil
}

// parse turns flags into the server's options, the file of its users and the time that it may take.
func parse(args []string, diag io.Writer) (opts *server.Options, users string, ready time.Duration, err error) {
	opts = &server.Options{Host: "127.0.0.1", JetStream: true, NoSigs: true, LogFile: "", Logtime: true}
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
	flags.StringVar(&users, "users", "", "file of the users that may connect, in JSON; it is read again on SIGHUP")
	flags.DurationVar(&ready, "ready", time.Minute, "how long recovery and start may take")
	if err := flags.Parse(args); err != nil {
		return nil, "", 0, err
	}
	if opts.StoreDir == "" {
		return nil, "", 0, errors.New("no folder for JetStream's files: give -store FOLDER")
	}
	opts.MaxPayload = int32(*payload)
	opts.Password = os.Getenv("NATSD_PASSWORD")
	return opts, users, ready, nil
}

package demo

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/relay"
)

// The environment of the relay's process, and of the billing service's.
const (
	EnvSQLite   = "POSTBAG_DEMO_SQLITE"   // the database file, or
	EnvPostgres = "POSTBAG_DEMO_POSTGRES" // the DSN
	EnvBilling  = "POSTBAG_DEMO_BILLING"  // the billing service's database file
	EnvNATS     = "POSTBAG_DEMO_NATS"     // the broker's URL
	EnvFolder   = "POSTBAG_DEMO_FOLDER"   // where all files of the demo are
)

const (
	inFlight      = 1000
	reconnectWait = 100 * time.Millisecond
)

var errOrphan = errors.New("demo: the demo is gone")

// Relay is the relay's process. See alive for life. It logs to log. Its leases are short, so
// that a kill costs the demo two seconds and not fifteen.
func Relay(ctx context.Context, life io.Reader, log io.Writer) (err error) {
	ctx, leave := alive(ctx, life)
	defer func() { err = errors.Join(err, leave()) }()
	s, closeStore, err := openStore(ctx, os.Getenv)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	to, err := natsbroker.Dial(ctx, os.Getenv(EnvNATS), natsbroker.Options{})
	if err != nil {
		return unlessStopped(ctx, err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		err = errors.Join(err, to.Close(ctx))
	}()
	r, err := relay.New(s, relay.Options{
		Subscriptions: []relay.Subscription{{To: to, InFlight: inFlight}},
		TTL:           2 * time.Second, Grace: 2 * time.Second,
		Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		return err
	}
	return r.Run(ctx)
}

// alive returns a context that ends with ctx, or with life, which the demo holds open. If life
// ends, the demo was killed, and leave removes its files in its place.
func alive(ctx context.Context, life io.Reader) (_ context.Context, leave func() error) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() { // it ends with the process at the latest: a read cannot be called off
		_, _ = io.Copy(io.Discard, life)
		cancel(errOrphan)
	}()
	return ctx, func() error {
		orphan := errors.Is(context.Cause(ctx), errOrphan)
		cancel(nil)
		if folder := os.Getenv(EnvFolder); orphan && strings.HasPrefix(filepath.Base(folder), folderPrefix) {
			return os.RemoveAll(folder) //nolint:gosec // the demo that made it says where it is
		}
		return nil
	}
}

// unlessStopped is err, but nil for a process that was told to stop while it opened what it
// works with: that is no failure.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // what a stop ends has not failed
	}
	return err
}

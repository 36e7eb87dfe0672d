package testserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// StandbyOptions says what standby to start.
type StandbyOptions struct {
	// Name is the standby's application_name; its replication slot is named after it. Defaults to "standby".
	Name string
	// Synchronous makes the primary wait for this standby at each commit.
	Synchronous bool
	// Postgres holds its data directory, port and further settings. BinDir defaults to the primary's.
	Postgres PostgresOptions
}

// StartStandby copies a running primary and starts a streaming standby that answers queries. It returns when it streams,
// and, if it is synchronous, when the primary counts on it.
func StartStandby(ctx context.Context, primary *Postgres, opts StandbyOptions) (*Postgres, error) {
	if opts.Name == "" {
		opts.Name = "standby"
	}
	if opts.Postgres.BinDir == "" {
		opts.Postgres.BinDir = primary.BinDir()
	}
	p, err := preparePostgres(ctx, opts.Postgres)
	if err != nil {
		return nil, err
	}
	p.password = primary.password // the data brings it along
	if err := p.copyFrom(ctx, primary, opts.Name); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if err := p.firstStart(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if err := awaitStreaming(ctx, primary, opts); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// copyFrom takes a base backup. A replication slot makes the primary keep what a paused standby still needs.
func (p *Postgres) copyFrom(ctx context.Context, primary *Postgres, name string) error {
	_, err := command{
		name: "pg_basebackup", path: p.programs.path("pg_basebackup"), as: p.as,
		args: []string{
			"--pgdata=" + p.data, "--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync",
			"--create-slot", "--slot=" + replicationName(name), "--dbname=application_name=" + quoteConninfo(name),
		},
		env: primary.clientEnv(),
	}.run(ctx)
	if err != nil {
		return err
	}
	// Promoted, it must not wait for the standby that it once was itself.
	return p.addToFile("postgresql.auto.conf", "synchronous_standby_names = ''")
}

// awaitStreaming waits until the primary lists the standby in the state that was asked for.
func awaitStreaming(ctx context.Context, primary *Postgres, opts StandbyOptions) error {
	want := "streaming"
	if opts.Synchronous {
		want = "streaming sync"
		if err := primary.Set(ctx, "synchronous_standby_names", quoteIdentifier(opts.Name)); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		state, err := primary.Exec(ctx, "postgres",
			"SELECT state || ' ' || sync_state FROM pg_stat_replication WHERE application_name = "+quoteLiteral(opts.Name))
		if err == nil && strings.HasPrefix(state, want) {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("testserver: standby %s is not %s (%q): %w", opts.Name, want, state, ctx.Err()), err)
		case <-tick.C:
		}
	}
}

// Promote makes a standby a primary and returns when it accepts writes.
func (p *Postgres) Promote(ctx context.Context) error {
	out, err := p.Exec(ctx, "postgres", "SELECT pg_promote(true, 60)")
	if err == nil && out != "t" {
		err = errors.New("testserver: the standby was not promoted within 60 s: look at its log (LogTail)")
	}
	return err
}

// IsStandby says whether the server's data directory is that of a standby that was not promoted.
func (p *Postgres) IsStandby() bool {
	_, err := os.Stat(p.data + "/standby.signal")
	return err == nil
}

// replicationName makes a name fit for a replication slot: lower-case letters, digits and underscores.
func replicationName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(name))
}

// quoteConninfo quotes a value in a connection string of keywords and values.
func quoteConninfo(value string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value) + "'"
}

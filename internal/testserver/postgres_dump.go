package testserver

import "context"

// Dump writes a database to a file, as pg_dump does for a backup, while the server runs.
func (p *Postgres) Dump(ctx context.Context, database, file string) error {
	return p.backup(ctx, "pg_dump", "--format=custom", "--file="+file, "--dbname="+database)
}

// Restore reads into an empty database what Dump of this or another server wrote. Nothing is left of one that fails.
func (p *Postgres) Restore(ctx context.Context, database, file string) error {
	return p.backup(ctx, "pg_restore", "--single-transaction", "--exit-on-error", "--dbname="+database, file)
}

func (p *Postgres) backup(ctx context.Context, program string, args ...string) error {
	_, err := command{name: program, path: p.programs.path(program), args: args, env: p.clientEnv()}.run(ctx)
	return err
}

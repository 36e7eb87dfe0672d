package main

import (
	"database/sql"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// The command line works on MariaDB as on PostgreSQL, and a killed import goes on.
func TestAdoptOnMariaDBContinuesWhereItWasKilled(t *testing.T) {
	t.Parallel()
	at := emptyMariaDB(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	dsn := dsnOf(t, at)
	name := strings.Trim(dsn.Path, "/")
	db, err := sql.Open("mysql", mariadb.server.DSN(name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	// The columns of velmie/outbox 0.1 that matter here.
	const rows = 12_000
	for _, statement := range []string{
		`CREATE TABLE old (id BINARY(16) NOT NULL PRIMARY KEY, aggregate_type VARCHAR(128) NOT NULL, aggregate_id VARCHAR(128) NOT NULL,
			event_type VARCHAR(128) NOT NULL, payload LONGBLOB NOT NULL, headers JSON NULL, status SMALLINT NOT NULL DEFAULT 0, KEY (status, id))`,
		`INSERT INTO old (id, aggregate_type, aggregate_id, event_type, payload)
			SELECT UNHEX(CONCAT('01900000000070008000', LPAD(HEX(seq), 12, '0'))), 'orders', seq % 7, 'placed', 'x' FROM seq_0_to_11999`,
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	in := func() (n int) {
		if err := db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM postbag_outbox`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	args := []string{"adopt", at.flag, at.where, "--from", "velmie", "--table", "old"}
	cli(t, append(args, "--dry-run")...).ok().says("would be imported       12000")
	cli(t, append(args, "--mode", "trigger")...).ends(exit.Failed, "the server has a binary log")
	cli(t, append(args, "--mode", "view")...).ends(exit.Usage, "take --mode trigger")
	for kill := 1; kill <= 3; kill++ {
		cmd := exec.Command(os.Args[0], args...)
		var said buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		await(t, "some more are imported", func() bool {
			if text := said.String(); strings.Contains(text, "postbag:") {
				t.Fatal(text)
			}
			return in() >= kill*2000
		})
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
	}
	if in() == rows {
		t.Error("all were imported before the last was killed: the test shows nothing")
	}
	cli(t, args...).ok()
	var n, distinct, ordered int
	err = db.QueryRowContext(t.Context(), `SELECT COUNT(*), COUNT(DISTINCT id), COALESCE(SUM(id > before_it), 0)
		FROM (SELECT id, LAG(id) OVER (ORDER BY seq) AS before_it FROM postbag_outbox) s`).Scan(&n, &distinct, &ordered)
	if err != nil || n != rows || distinct != rows || ordered != rows-1 {
		t.Errorf("the box has %d messages, %d of them different, %d in order: %v", n, distinct, ordered, err)
	}
}

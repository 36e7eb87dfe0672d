package pgstore

import (
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
)

// GrantProducer returns the SQL that gives a role what an application needs to publish in some boxes, with this library
// or with plain SQL, and no more: it cannot read messages, choose their transaction or seq, nor change one. Whoever owns
// the tables runs it, once a box. Errors are those of the boxes' names.
func GrantProducer(role string, boxes ...string) (string, error) {
	var b strings.Builder
	to := " TO " + pgx.Identifier{role}.Sanitize() + ";\n"
	b.WriteString("GRANT USAGE ON SCHEMA postbag" + to)
	b.WriteString("GRANT SELECT ON postbag._meta, postbag._migrations, postbag._life" + to)
	b.WriteString("GRANT INSERT ON postbag._life" + to) // one row, once after a crash, by whoever is the first to look
	for _, box := range boxes {
		if err := postbag.ValidBox(box); err != nil {
			return "", err
		}
		b.WriteString("GRANT INSERT (id, place, topic, key, shard_key, type, headers, payload) ON postbag." + box + to)
		b.WriteString("GRANT USAGE ON SEQUENCE postbag." + box + "__seq" + to)
		b.WriteString("GRANT INSERT (due, id, place, topic, key, shard_key, type, headers, payload), SELECT (id, due), DELETE ON postbag." + box + "__scheduled" + to)
	}
	return b.String(), nil
}

// GrantRelay returns the SQL that gives a role what a relay needs to deliver from all boxes, present and future. Whoever
// owns the tables runs it, once. Partitions are added and dropped by the owner alone: a relay under this role says so when
// that is due, and postbag maintain under the owner's does it.
func GrantRelay(role string) string {
	to := " TO " + pgx.Identifier{role}.Sanitize() + ";\n"
	const tables, sequences = "SELECT, INSERT, UPDATE, DELETE ON ", "USAGE, SELECT ON "
	return "GRANT USAGE ON SCHEMA postbag" + to +
		"GRANT " + tables + "ALL TABLES IN SCHEMA postbag" + to +
		"GRANT " + sequences + "ALL SEQUENCES IN SCHEMA postbag" + to +
		"ALTER DEFAULT PRIVILEGES IN SCHEMA postbag GRANT " + tables + "TABLES" + to +
		"ALTER DEFAULT PRIVILEGES IN SCHEMA postbag GRANT " + sequences + "SEQUENCES" + to
}

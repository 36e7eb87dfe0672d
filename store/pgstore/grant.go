package pgstore

import (
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
)

// GrantProducer returns the SQL that gives a role what an application needs to publish in some boxes, with this library
// or with plain SQL, and no more: it cannot read messages, choose their transaction or seq, nor change one; a scheduled one it can
// cancel if it knows the id. What earlier versions granted beyond that is taken back. The role that owns
// the tables runs it, once a box. Errors are those of the boxes' names.
func GrantProducer(role string, boxes ...string) (string, error) {
	var b strings.Builder
	to, from := " TO "+pgx.Identifier{role}.Sanitize()+";\n", " FROM "+pgx.Identifier{role}.Sanitize()+";\n"
	b.WriteString("GRANT USAGE ON SCHEMA postbag" + to)
	b.WriteString("REVOKE ALL ON postbag._life" + from) // which earlier versions granted
	b.WriteString("GRANT SELECT ON postbag._meta, postbag._migrations" + to)
	for _, box := range boxes {
		if err := postbag.ValidBox(box); err != nil {
			return "", err
		}
		b.WriteString("GRANT INSERT (id, place, topic, key, shard_key, type, headers, payload) ON postbag." + box + to)
		b.WriteString("GRANT USAGE ON SEQUENCE postbag." + box + "__seq" + to)
		b.WriteString("REVOKE SELECT (id, due), DELETE ON postbag." + box + "__scheduled" + from)
		b.WriteString("GRANT INSERT (due, id, place, topic, key, shard_key, type, headers, payload) ON postbag." + box + "__scheduled" + to)
		b.WriteString("GRANT EXECUTE ON FUNCTION postbag." + box + "__cancel(uuid)" + to)
	}
	return b.String(), nil
}

// GrantRelay returns the SQL that gives a role what a relay needs to deliver from all boxes, present and future. The role that
// owns the tables runs it, once. Partitions are added and dropped by the owner alone: a relay under this role says so when
// that is due, and postbag migrate up --box under the owner's does it.
func GrantRelay(role string) string {
	to := " TO " + pgx.Identifier{role}.Sanitize() + ";\n"
	const tables, sequences = "SELECT, INSERT, UPDATE, DELETE ON ", "USAGE, SELECT, UPDATE ON "
	return "GRANT USAGE ON SCHEMA postbag" + to +
		"GRANT " + tables + "ALL TABLES IN SCHEMA postbag" + to +
		"GRANT " + sequences + "ALL SEQUENCES IN SCHEMA postbag" + to +
		"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA postbag" + to +
		"ALTER DEFAULT PRIVILEGES IN SCHEMA postbag GRANT " + tables + "TABLES" + to +
		"ALTER DEFAULT PRIVILEGES IN SCHEMA postbag GRANT " + sequences + "SEQUENCES" + to +
		"ALTER DEFAULT PRIVILEGES IN SCHEMA postbag GRANT EXECUTE ON FUNCTIONS" + to
}

// GrantConsole returns the SQL that gives a role what status, list, show and audit read of all boxes, present and future,
// payloads among it, and nothing to write. The role that owns the tables runs it, once. After a crash of the server it works again
// when a relay has come back. Where tables have row-level security, the role needs BYPASSRLS beside it: what it does not see
// is an error.
func GrantConsole(role string) string {
	to := " TO " + pgx.Identifier{role}.Sanitize() + ";\n"
	return "GRANT USAGE ON SCHEMA postbag" + to +
		"GRANT SELECT ON ALL TABLES IN SCHEMA postbag" + to +
		"GRANT SELECT ON ALL SEQUENCES IN SCHEMA postbag" + to +
		"ALTER DEFAULT PRIVILEGES IN SCHEMA postbag GRANT SELECT ON TABLES" + to +
		"ALTER DEFAULT PRIVILEGES IN SCHEMA postbag GRANT SELECT ON SEQUENCES" + to
}

package pgstore

import (
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
)

// grantRow grants what a row of a box calls by itself, where EXECUTE was taken from PUBLIC.
const grantRow = "GRANT EXECUTE ON FUNCTION postbag.new_id(), postbag.slot_of(text, uuid), postbag.number_slot(text), postbag.number_place(text, text, uuid)"

// GrantProducer returns the SQL that gives a role the rights to publish to some boxes,
// with this library or with plain SQL, and no more. The role cannot read or change
// messages, or choose their transaction or seq. It can cancel a scheduled message if it
// knows the id. The SQL takes back what earlier versions granted beyond that. Run it once
// per box, as the role that owns the tables. Errors are those of the boxes' names.
func GrantProducer(role string, boxes ...string) (string, error) {
	var b strings.Builder
	to, from := " TO "+pgx.Identifier{role}.Sanitize()+";\n", " FROM "+pgx.Identifier{role}.Sanitize()+";\n"
	b.WriteString("GRANT USAGE ON SCHEMA postbag" + to)
	b.WriteString("REVOKE ALL ON postbag._life" + from) // which earlier versions granted
	b.WriteString("GRANT SELECT ON postbag._meta, postbag._migrations" + to)
	b.WriteString(grantRow + to)
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

// GrantConsumer returns the SQL that gives a role the rights to mark what it has applied,
// with this library or with plain SQL, and no more. The role cannot change or remove a
// mark, or choose its time. It can mark under the name of any consumer, and read what
// others marked. It can also open and write every lane (store.Lanes). To declare consumers and to forget old marks a role needs what
// GrantRelay gives. Run it once, as the role that owns the tables.
func GrantConsumer(role string) string {
	to := " TO " + pgx.Identifier{role}.Sanitize() + ";\n"
	return "GRANT USAGE ON SCHEMA postbag" + to +
		"GRANT SELECT ON postbag._meta, postbag._migrations" + to +
		"GRANT SELECT (consumer, id, sum), INSERT (consumer, id, sum) ON postbag._once" + to +
		"GRANT SELECT, INSERT (lane, epoch), UPDATE (epoch, record) ON postbag._lanes" + to
}

// GrantRelay returns the SQL that gives a role what a relay needs to deliver from all
// boxes, present and future, and to remove old marks of consumers. Run it once, as the role that owns the tables. Only the
// owner can add and drop partitions: a relay under this role logs when that is due, and
// postbag migrate up --box under the owner's role adds them.
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

// GrantConsole returns the SQL that gives a role the rights to read what status, list,
// show and audit show, payloads too, of all boxes, present and future. It grants no right
// to write. Run it once, as the role that owns the tables. After a crash of the server
// the role works again when a relay has come back. If tables have row-level security, the
// role also needs BYPASSRLS: otherwise it gets an error.
func GrantConsole(role string) string {
	to := " TO " + pgx.Identifier{role}.Sanitize() + ";\n"
	return "GRANT USAGE ON SCHEMA postbag" + to +
		"GRANT SELECT ON ALL TABLES IN SCHEMA postbag" + to +
		"GRANT SELECT ON ALL SEQUENCES IN SCHEMA postbag" + to +
		"GRANT EXECUTE ON FUNCTION postbag.slot_of(text, uuid), postbag._identity(), postbag._refuse()" + to + // what its statements call
		"ALTER DEFAULT PRIVILEGES IN SCHEMA postbag GRANT SELECT ON TABLES" + to +
		"ALTER DEFAULT PRIVILEGES IN SCHEMA postbag GRANT SELECT ON SEQUENCES" + to
}

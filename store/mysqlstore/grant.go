package mysqlstore

import (
	"regexp"
	"slices"
	"strings"

	"github.com/postbag/postbag"
)

// published are the columns of a message that who publishes it fills.
const published = "id, topic, `key`, shard_key, type, headers, payload"

// GrantProducer returns the SQL that gives an account the rights to publish to some
// boxes, with this library or with plain SQL, and no more. The account cannot read or
// change messages. It can cancel a scheduled message if it knows the id. The account is a
// name, or a name and a host, such as app@10.0.0.%. Run the SQL in the boxes' database,
// as an account that may grant. Errors are those of the boxes' names.
func GrantProducer(account string, boxes ...string) (string, error) {
	var b strings.Builder
	to := " TO " + accountName(account) + ";\n"
	b.WriteString("GRANT SELECT ON postbag__meta" + to)
	b.WriteString("GRANT SELECT ON postbag__life" + to)
	b.WriteString("GRANT SELECT (name, slots) ON postbag__box" + to)
	b.WriteString("GRANT SELECT (n), UPDATE (unused) ON postbag__lock" + to)
	b.WriteString("GRANT INSERT (box, due, at, " + published + ") ON postbag__scheduled" + to)
	b.WriteString("GRANT EXECUTE ON PROCEDURE postbag__cancel" + to)
	for _, box := range boxes {
		if err := postbag.ValidBox(box); err != nil {
			return "", err
		}
		b.WriteString("GRANT SELECT (seq), INSERT (" + published + ") ON postbag_" + box + to)
	}
	return b.String(), nil
}

// GrantConsumer returns the SQL that gives an account the rights to mark what a consumer
// has applied (store.Inbox), with this library or with plain SQL, and no more. All
// consumers share one table: the account sees the ids that others have marked, and can
// mark messages in their names. It can remove no mark, and can open and write
// every lane (store.Lanes). On MySQL it cannot change what was recorded of a mark either. On MariaDB it can: an INSERT with ON DUPLICATE KEY UPDATE needs the
// right to change all columns that it fills. The account is as that of [GrantProducer].
// Run the SQL in the database of the marks, as an account that may grant.
func GrantConsumer(account string) string {
	to := " TO " + accountName(account) + ";\n"
	return "GRANT SELECT ON postbag__meta" + to +
		"GRANT SELECT ON postbag__life" + to +
		"GRANT SELECT (consumer, id, `sum`, repeats), INSERT (consumer, id, `sum`), UPDATE (/*M! consumer, id, `sum`, */ repeats) ON postbag__once" + to +
		"GRANT SELECT, INSERT, UPDATE ON postbag__lane" + to
}

// GrantRelay returns the SQL that gives an account what a relay needs. Name all boxes of
// the database, since a relay keeps the rows of all. Run the SQL in the boxes' database,
// as an account that may grant, and again for a new box. A relay that keeps boxes divided
// by time also needs what [GrantPartitions] returns. Errors are those of the boxes'
// names.
func GrantRelay(account string, boxes ...string) (string, error) {
	return grantAll("SELECT, INSERT, UPDATE, DELETE", account, boxes)
}

// GrantPartitions returns the SQL that gives a relay's account what it needs besides
// [GrantRelay], if some boxes are divided by time (Options.Partition): to make and drop
// their partitions, and to lock their tables. The servers have that last right only for a
// whole database. Run the SQL in the boxes' database, as an account that may grant, and
// again for a new box. Errors are those of the boxes' names.
func GrantPartitions(account string, boxes ...string) (string, error) {
	var b strings.Builder
	to := " TO " + accountName(account) + ";\n"
	b.WriteString("GRANT LOCK TABLES ON *" + to)
	for _, box := range boxes {
		if err := postbag.ValidBox(box); err != nil {
			return "", err
		}
		b.WriteString("GRANT CREATE, ALTER, DROP ON postbag_" + box + to)
	}
	return b.String(), nil
}

// GrantConsole returns the SQL that gives an account the rights to read what status,
// list, show and audit show, payloads too. It grants no right to write. After a restart
// of the server the account works again when a relay has come back. Name all boxes. Run
// the SQL in the boxes' database, as an account that may grant, and again for a new box.
// Errors are those of the boxes' names.
func GrantConsole(account string, boxes ...string) (string, error) {
	return grantAll("SELECT", account, boxes)
}

// grantAll grants rights on the tables of the schema and on those of boxes: a grant
// has no pattern of tables.
func grantAll(rights, account string, boxes []string) (string, error) {
	tables := ownTables()
	for _, box := range boxes {
		if err := postbag.ValidBox(box); err != nil {
			return "", err
		}
		tables = append(tables, "postbag_"+box)
	}
	var b strings.Builder
	for _, table := range tables {
		b.WriteString("GRANT " + rights + " ON " + table + " TO " + accountName(account) + ";\n")
	}
	return b.String(), nil
}

var madeTable = regexp.MustCompile(`CREATE TABLE IF NOT EXISTS (postbag__\w+)`)

// ownTables returns the names of the tables that the migrations make.
func ownTables() (names []string) {
	for _, step := range steps() {
		for _, made := range madeTable.FindAllStringSubmatch(step.SQL, -1) {
			names = append(names, made[1])
		}
	}
	slices.Sort(names)
	return names
}

// accountName quotes an account. Without a host it is a name alone, which MariaDB takes
// for a role too.
func accountName(account string) string {
	quote := func(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
	if i := strings.LastIndexByte(account, '@'); i > 0 {
		return quote(account[:i]) + "@" + quote(account[i+1:])
	}
	return quote(account)
}

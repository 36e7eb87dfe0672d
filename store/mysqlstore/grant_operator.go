package mysqlstore

import "strings"

// GrantOperator returns the SQL that gives an account what [GrantConsole] does, and the rights to give the commands of a
// console: to retry and discard messages, to publish and cancel scheduled messages, to pause and resume subscriptions, to
// set their shards and settings, to begin, work, pause, resume and cancel long operations, and to write notes on errors. It cannot
// publish, take leases, move positions, or change or remove a row of a log. The scheduled messages of all boxes are in one table, so it
// can remove those of each box. Name all boxes. Run the SQL in the boxes' database, as an account that may grant, and again
// for a new box. Errors are those of the boxes' names.
func GrantOperator(account string, boxes ...string) (string, error) {
	reads, err := GrantConsole(account, boxes...)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(reads + GrantAudit(account))
	for _, right := range []string{
		"INSERT (subscription, seq, kind, pending) ON postbag__command",
		"INSERT, DELETE ON postbag__pause",
		"UPDATE (paused, settings, wanted, wanted_by) ON postbag__subscription",
		"UPDATE (epoch) ON postbag__meta",
		"UPDATE (created_at) ON postbag__box", // to lock rows; nothing reads the column
		"UPDATE (due), DELETE ON postbag__scheduled",
		"INSERT, UPDATE (at, given, changed, passed, state, error, by_who, by_why, worker, token, lease_ends, begun, touched, ended) ON postbag__operation",
		"INSERT, DELETE ON postbag__operation_part", // REPLACE deletes
		"INSERT, DELETE ON postbag__error_note",
	} {
		b.WriteString("GRANT " + right + " TO " + accountName(account) + ";\n")
	}
	return b.String(), nil
}

// GrantEditor returns the SQL that gives an account what [GrantOperator] does, and what it needs to publish edited messages: the
// right to publish to the same boxes, at once. It cannot choose their seq, and cannot schedule messages. Run the SQL in the boxes'
// database, as an account that may grant, and again for a new box. Errors are those of the boxes' names.
func GrantEditor(account string, boxes ...string) (string, error) {
	operates, err := GrantOperator(account, boxes...)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(operates)
	for _, box := range boxes {
		b.WriteString("GRANT INSERT (" + published + ") ON postbag_" + box + " TO " + accountName(account) + ";\n")
	}
	return b.String(), nil
}

// GrantAudit returns the SQL that gives an account the right to write lines of the audit log, and no other: what a console
// needs besides [GrantConsole] to audit looks at payloads. [GrantOperator] has it. Run the SQL once in the boxes' database, as
// an account that may grant.
func GrantAudit(account string) string {
	return "GRANT INSERT (at, who, why, what) ON postbag__audit TO " + accountName(account) + ";\n"
}

package pgstore

import (
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
)

// GrantOperator returns the SQL that gives a role what [GrantConsole] does, and the rights to give the commands of a console: to
// retry and discard messages, to publish and cancel scheduled messages of some boxes, to pause and resume subscriptions, to
// set their shards and settings, to begin, work, pause, resume and cancel long operations, and to write notes on errors.
// It cannot publish, take leases, move positions, or change or remove a row of a log. It can overwrite the last errors of
// parked messages, since PostgreSQL lets nobody lock a row who may change nothing of it. Run it as the role that owns the
// tables, and again for a new box. Errors are those of the boxes' names.
func GrantOperator(role string, boxes ...string) (string, error) {
	var b strings.Builder
	to := " TO " + pgx.Identifier{role}.Sanitize() + ";\n"
	b.WriteString(GrantConsole(role))
	b.WriteString(GrantAudit(role))
	b.WriteString("GRANT INSERT (sub, slot, seq, kind, pending) ON postbag._commands" + to)
	b.WriteString("GRANT UPDATE (reason) ON postbag._parked" + to) // to lock rows
	b.WriteString("GRANT INSERT (sub, scope, held, who, why, ends), UPDATE (who, why, began, ends), DELETE ON postbag._pauses" + to)
	b.WriteString("GRANT UPDATE (paused, settings, wanted, wanted_by) ON postbag._subscriptions" + to)
	b.WriteString("GRANT UPDATE (n) ON postbag._epoch" + to)
	b.WriteString("GRANT INSERT (sub, version, kind, box, name, messages, chosen, as_of, rate, who, why, matched, made, state, touched), " +
		"UPDATE (revision, at, given, changed, passed, state, error, by_who, by_why, worker, token, lease_ends, begun, touched, ended) ON postbag._operations" + to)
	b.WriteString("GRANT INSERT (box, name, hash, kind, note, who, at, seen, checked), UPDATE (note, who, at, seen, checked), DELETE ON postbag._error_notes" + to)
	b.WriteString("GRANT INSERT (operation, part, messages), UPDATE (messages) ON postbag._operation_parts" + to)
	for _, box := range boxes {
		if err := postbag.ValidBox(box); err != nil {
			return "", err
		}
		b.WriteString("GRANT UPDATE (due), DELETE ON postbag." + box + "__scheduled" + to)
	}
	return b.String(), nil
}

// GrantEditor returns the SQL that gives a role what [GrantOperator] does, and what it needs to publish edited messages: the right
// to publish to the same boxes, at once. It cannot choose their transaction or seq, and cannot schedule messages. Run it as the role
// that owns the tables, and again for a new box. Errors are those of the boxes' names.
func GrantEditor(role string, boxes ...string) (string, error) {
	operates, err := GrantOperator(role, boxes...)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	to := " TO " + pgx.Identifier{role}.Sanitize() + ";\n"
	b.WriteString(operates)
	b.WriteString(grantRow + to)
	for _, box := range boxes {
		b.WriteString("GRANT INSERT (id, place, topic, key, shard_key, type, headers, payload) ON postbag." + box + to)
		b.WriteString("GRANT USAGE ON SEQUENCE postbag." + box + "__seq" + to)
	}
	return b.String(), nil
}

// GrantAudit returns the SQL that gives a role the right to write lines of the audit log, and no other: what a console needs
// besides [GrantConsole] to audit looks at payloads. [GrantOperator] has it. Run it once, as the role that owns the tables.
func GrantAudit(role string) string {
	return "GRANT INSERT (who, why, what) ON postbag._audit TO " + pgx.Identifier{role}.Sanitize() + ";\n"
}

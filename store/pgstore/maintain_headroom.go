package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/store/sqlkit"
)

// partitionState is a partition as the catalog has it.
type partitionState struct {
	partition

	table string
	// pending: it was being taken out of the log, and that is not finished.
	pending bool
}

// partitionStatesOf reads the lines of the upkeep statement, each a table, its state and its
// range. Those with another range than Postbag makes are only named.
func partitionStatesOf(lines []string) (parts []partitionState, strange []string) {
	for _, line := range lines {
		var p partitionState
		var state string
		_, err := fmt.Sscanf(line, "%s %s FOR VALUES FROM ('%d') TO ('%d')", &p.table, &state, &p.from, &p.to)
		if err != nil || p.from%tallySpan != 1 || p.to%tallySpan != 1 {
			strange = append(strange, strings.Fields(line)[0])
			continue
		}
		p.pending = state == "pending"
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b partitionState) int { return cmp.Compare(a.from, b.from) })
	return parts, strange
}

const (
	// briefly bounds how long DDL waits for a lock, and others behind it. It lies
	// below deadlock_timeout, so that it never ends an autovacuum.
	briefly = "200ms"
	// refusedPause and waitPause are how long DDL is not tried again: after the
	// server refused it, and after it waited in vain.
	refusedPause = time.Minute
	waitPause    = 5 * time.Second
	// waitsTold is how often it waits in vain before that is told.
	waitsTold = 5
)

// addRoom adds a partition if there is none for what is due.
func (m *maintenance) addRoom(ctx context.Context) error { return m.addUntil(ctx, promoteLot) }

// addHeadroom adds partitions until there is as much room ahead as there should be.
func (m *maintenance) addHeadroom(ctx context.Context) error {
	if m.Headroom > 0 {
		return m.addUntil(ctx, m.Headroom)
	}
	return m.addUntil(ctx, defaultHeadroom)
}

// addUntil adds partitions until there is room enough. Each is a transaction that
// takes no lock which writers or readers of the box wait for.
func (m *maintenance) addUntil(ctx context.Context, enough int64) error {
	parts := make([]partition, len(m.partitions))
	for i := range parts {
		parts[i] = m.partitions[i].partition
	}
	_, room := nextPartition(m.Box, parts, m.last, m.spans)
	for room < enough && !time.Now().Before(m.headroomAgain) && !m.late() {
		now, err := m.addOne(ctx, enough)
		if err != nil {
			what := fmt.Sprintf("the log has room for %d more messages, %d are wanted", room, enough)
			m.headroomAgain, err = m.refused(err, what)
			return err
		}
		room = now
	}
	return nil
}

// addOne adds one partition, unless there is room by now, and returns for how many messages there is room then.
func (m *maintenance) addOne(ctx context.Context, enough int64) (room int64, err error) {
	added := int64(0)
	err = m.s.inDDL(ctx, func(tx ddl) error {
		if err := m.s.briefly(ctx, tx); err != nil {
			return err
		}
		parts, err := partitionsOf(ctx, tx, m.Box)
		if err != nil {
			return err
		}
		var p partition
		if p, room = nextPartition(m.Box, parts, m.last, m.spans); room >= enough {
			return nil
		}
		room, added = p.to-1-m.last, 1
		return errors.Join(sqlkit.Hit("pgstore/partition/create/before"), script(ctx, tx, p.script()), sqlkit.Hit("pgstore/partition/create/uncommitted"))
	})
	if sqlState(err) == codeDuplicateTable {
		err = fmt.Errorf("%w: another process adds it, or a table of its name was left behind", err)
	}
	if err == nil && added > 0 {
		err = sqlkit.Hit("pgstore/partition/create/after")
	}
	if err == nil {
		m.report.Added += added
	}
	return room, err
}

// nextPartition returns the partition that a box needs next, after a last seq, and for how many messages there is room without
// it. A numbering that was begun again goes on below partitions of the one before.
func nextPartition(box string, parts []partition, last int64, spans int) (p partition, room int64) {
	size := int64(spans) * tallySpan
	at, end := last+1, int64(1)
	for _, q := range parts {
		if q.from > at { // a hole
			from := max(end, last/tallySpan*tallySpan+1)
			return partition{box: box, from: from, to: min(from+size, q.from)}, at - 1 - last
		}
		at, end = max(at, q.to), q.to
	}
	return partition{box: box, from: end, to: end + size}, end - 1 - last
}

// briefly bounds the waits of a transaction's DDL.
func (s *Store) briefly(ctx context.Context, tx ddl) error {
	return tx.exec(ctx, "SET LOCAL lock_timeout = '"+briefly+"'")
}

// refused notes why the server refused DDL, after which all else goes on, and
// returns when to try again. An error of another kind is passed on.
func (m *maintenance) refused(err error, what string) (again time.Time, other error) {
	now := time.Now()
	switch sqlState(err) {
	case "", codeReadOnly:
		return now, fmt.Errorf("%s: %w", what, err)
	case codeNoRight:
		m.faultf("%s: %s; let the role that owns the tables do this: run a relay under it, or grant its membership to this one", what, serverMessage(err))
		return now.Add(refusedPause), nil
	case codeLockTimeout, codeDeadlock:
		if m.waits++; m.waits%waitsTold == 0 {
			m.faultf("%s: %d times in a row that waited in vain for others who use the box; pg_locks shows them, and it is tried again",
				what, m.waits)
		}
		return now.Add(waitPause), nil
	}
	m.faultf("%s: %s", what, serverMessage(err))
	return now.Add(refusedPause), nil
}

// alone runs one statement outside of any transaction, as some DDL must be, with
// waits bounded: three groups in one round trip on one session, which is left as
// it was. It is not prepared: no session needs it twice.
func (s *Store) alone(ctx context.Context, text string) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	groups := []group{
		{{st: s.statements.get("wait_briefly", ""), args: new(parameters).text(briefly)}},
		{{st: &statement{sql: text}}},
		{{st: s.statements.get("wait_as_before", "")}},
	}
	p := conn.Conn().PgConn().StartPipeline(ctx)
	e := pipelineRun{conn: conn, pipeline: p}
	e.send(groups)
	if err := p.Flush(); err != nil {
		return joinClose(err, p.Close)
	}
	var said error
	for _, g := range groups {
		refused, failed := e.receive(g)
		if failed != nil {
			return joinClose(failed, p.Close)
		}
		if said == nil {
			said = refused
		}
	}
	return joinClose(said, p.Close)
}

// joinClose closes a pipeline, whose error counts only if there is no other.
func joinClose(err error, closing func() error) error {
	if end := closing(); err == nil {
		return end
	}
	return err
}

// named fills the names of a DDL statement in. They were validated when the box
// was made.
func (s *Store) named(statement, box, table string) string {
	return strings.NewReplacer("{box}", box, "{part}", pgx.Identifier{table}.Sanitize()).Replace(s.statements.templates[statement]) +
		s.statements.comments[statement]
}

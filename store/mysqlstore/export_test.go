package mysqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
)

// KeepTombstones makes tombstones stay for another time than a day.
func (s *Store) KeepTombstones(d time.Duration) {
	s.tombstoneKeep = d
	s.parts.wait = sqlkit.Marks{}
}

// SetPacket has the store take the server's largest statement for another one.
func (s *Store) SetPacket(bytes int64) { s.producer.packet.Store(bytes) }

// Grace is how long a seq must have been open when so many spans are.
func (s *Store) Grace(spans int) time.Duration { return s.grace(spans) }

// TryPartitions lets the store try to change partitions although it has just failed.
func (s *Store) TryPartitions() { s.parts.rest.Set("outbox", 0) }

// DropFirstPart drops the first partition of box outbox as housekeeping does, with what
// happens between its look at the log and the drop.
func (s *Store) DropFirstPart(ctx context.Context, meanwhile func()) (dropped bool, err error) {
	end, err := endOf(s.query(ctx), "outbox")
	if err != nil {
		return false, err
	}
	d, err := s.divisionOf(ctx, "outbox")
	if err != nil {
		return false, err
	}
	meanwhile()
	if err := s.dropPart(ctx, "outbox", d.parts[0].name, end); !errors.Is(err, errAnotherEnd) {
		return err == nil, err
	}
	return false, nil
}

// FallSilentWithTable takes the table of box outbox and says nothing more to the server
// until others have done something with it.
func (s *Store) FallSilentWithTable(ctx context.Context, others func()) error {
	err := s.alone(ctx, tableOf("outbox"), func(*sql.Conn) error {
		others()
		return nil
	})
	if err == nil {
		return errors.New("the session is still there")
	}
	return nil
}

// Tightenings are the constraints that a box of an older version gets.
func Tightenings(box, but string) (string, error) { return tightenings(box, but) }

// NoNumber says whether a box by number refused a key.
func NoNumber(err error) bool { return noNumber(err) }

// Statements returns statements on the large tables of box outbox, with values in
// them, by their names, for tests that look at their plans.
func Statements() map[string]string {
	const table = "`postbag_outbox`"
	numbers := make([]int64, 100)
	for i := range numbers {
		numbers[i] = int64(100 * i)
	}
	many := list(numbers)
	some := ranges{{100, 100}, {200, 210}, {15000, 15000}}
	fill := func(text string, values ...any) string {
		for _, v := range values {
			text = strings.Replace(text, "?", fmt.Sprint(v), 1)
		}
		return text
	}
	return map[string]string{
		"a page":             fill(fmt.Sprintf(sqlPage, table, "seq > 5000 AND seq <= 9223372036854775807"), 1000),
		"a page of slots":    fill(fmt.Sprintf(sqlSomePage, table, "slot < 1024", "slot < 1024 AND type = 'a'", "seq > 5000 AND seq <= 9223372036854775807"), 1000),
		"open seqs":          fill(fmt.Sprintf(sqlPage, table, seqCondition(some)), 1000),
		"the last seq":       fmt.Sprintf(sqlLastSeq, table),
		"present seqs":       fill(fmt.Sprintf(sqlPresent, table, seqCondition(some)), 1000),
		"holes":              fill(fmt.Sprintf(sqlSeqs, table), 5000, 20000, 1000),
		"slots":              fill(dialect.In("outbox", dialect.Slots), 5000, 20000, 1000),
		"the end of a part":  fill(dialect.In("outbox", sqlkit.SQLNth), 0, 20000, 2000),
		"a sweep of one":     fill(fmt.Sprintf(sqlSweepOne, table, " AND seq NOT IN (7, 9)"), 2000, 1),
		"the end of a sweep": fill(fmt.Sprintf(sqlLastOf, table), 0, 2000),
		"a sweep":            fill(fmt.Sprintf(sqlSweep, table, " AND seq NOT IN (7, 9)"), 0, 2000, 1),
		"a search by time":   fill(dialect.In("outbox", sqlkit.SQLAtOrAfter), 5000),
		"a record":           fill(dialect.In("outbox", sqlkit.SQLRecord), 5000),
		"a listing up":       fill(dialect.In("outbox", sqlkit.SQLListUp), 5000, 20000, 100),
		"a listing down":     fill(dialect.In("outbox", sqlkit.SQLListDown), 15000, 1, 100),
		"a head":             fill(dialect.Head, 2, 7, 0, 4096),
		"heads":              fill(strings.ReplaceAll(dialect.Heads, "{list}", many), 2, 0, 4096, 400),
		"demotions":          fill(strings.ReplaceAll(dialect.Demote, "{list}", many), 2, 0, 4096),
		"ready rows":         fill(strings.NewReplacer("{times}", "WHEN 100 THEN 7 WHEN 200 THEN NULL ", "{list}", many).Replace(sqlkit.SQLReady), 2),
		"what is due":        fill(dialect.Due, 2, 50000, 0, 0, 0, 256),
		"followers":          fill(dialect.Followers, 2, 7, 57, 0, 4096, 10),
		"a parked row":       fill(dialect.In("outbox", sqlkit.SQLParked), 2, 100),
		"in flight":          fill(sqlkit.SQLInFlight, 2, 0, 4096),
		"a state up":         fill(dialect.StateUp, 2, 1, 0, 100),
		"a state down":       fill(dialect.StateDown, 2, 1, 10000, 100),
		"a key up":           fill(dialect.KeyUp, 2, 7, 1, 0, 100),
		"a key down":         fill(dialect.KeyDown, 2, 7, 1, 10000, 100),
		"one of a key":       fill(dialect.KeyAt, 2, 7, 100),
		"discarded up":       fill(sqlkit.SQLDiscardedUp, 2, 100, 100),
		"discarded down":     fill(sqlkit.SQLDiscardedDown, 2, 10000, 100),
		"past errors up":     fill(sqlkit.SQLPastUp, 2, 100, 100),
		"past errors down":   fill(sqlkit.SQLPastDown, 2, 10000, 100),
		"errors of parked":   fill(sqlkit.SQLReasons, 2, 100, 600),
		"an operation":       fill(sqlkit.SQLOperation, 7),
		"operations":         fill(sqlkit.SQLOperations, 100),
		"open operations":    sqlkit.SQLOpenOperations,
		"an old operation":   "SELECT id FROM (" + fill(sqlkit.SQLOldOperation, "'outbox'", 100) + ") y",
		"planned operations": sqlkit.SQLPlannedOperations,
		"notices":            fill(sqlkit.SQLNotices, 20000, 1000),
		"a note":             fill(sqlkit.SQLErrorNote, "'outbox'", "'a'", "REPEAT('x', 32)"),
		"notes":              fill(sqlkit.SQLErrorNotes, "'outbox'"),
		"notes of one":       fill(sqlkit.SQLErrorNotesOf, "'outbox'", "'a'"),
		"unchecked notes":    fill(sqlkit.SQLUncheckedErrorNotes, "'outbox'", 500),
		"parts":              fill(sqlkit.SQLParts, 7, 0, 2000),
		"the end of parts":   fill(sqlkit.SQLLastOfParts, 7, 99),
		"parts to delete":    fill(sqlkit.SQLDeleteParts, 7, 2000),
		"a range of parked":  fill(sqlkit.SQLParkedRange, 2, 100, 600),
		"held rows":          fill(dialect.Held, 2, "'t3'", 100, 256),
		"held topics":        fill(sqlkit.SQLHeldTopics, 2, 0, 1024),
		"reason of a topic":  fill(sqlkit.SQLHeldReason, 2, "'t3'"),
		"a count of parked":  fill(sqlkit.SQLParkedCount, 2, 4, 1000000),
		"dead messages":      fill(dialect.Dead, 2, 100, 1000),
		"a dead message":     fill(sqlkit.SQLExpire, 2, 2, 100, 4, 50),
		"is it parked":       fill(sqlkit.SQLIsParked, 2, 100),
		"pending commands":   fill(dialect.In("outbox", dialect.Pending), 2),
		"parked commands":    fill(dialect.In("outbox", dialect.Commands), 2),
		"count of pending":   fill(dialect.CountPending, 2),
		"past rows":          fill(fmt.Sprintf(sqlPast, many), 2),
		"pending discards":   fill(fmt.Sprintf(sqlDiscardedPending, table, many), 2),
		"erasing":            fill(fmt.Sprintf(sqlBlank, table), "''", 100),
		"resolving":          fill(fmt.Sprintf(sqlResolve, many), 2),
		"what is parked":     fill(fmt.Sprintf(sqlParkedOf, many), 2),
		"what the log has":   fmt.Sprintf(sqlInLog, table, many),
		"marked":             markedText("c1", []store.Mark{{ID: "17"}, {ID: "900"}, {ID: "none"}}),
		"a page of marks":    fill(sqlkit.SQLMarksPage, 1, "'c1'", "'17'", 1000),
		"the next consumer":  fill(sqlkit.SQLNextConsumer, "'c1'"),
		"old marks":          fill(sqlOldMarks, "'c1'", "'17'", "'900'", 1),
		"forgetting marks":   fmt.Sprintf(sqlForgetMarks, `"3137","3138"`, "c1"),
		"a lane":             fmt.Sprintf(sqlOpenedLane, "lane"),
		"writing a lane":     fmt.Sprintf(sqlWriteLane, "0x01", "lane", 1),
		"waiting rows":       fill(dialect.WaitingBelow, 2, 7, 5000, 0, 4096, 1001),
		"the newest waiting": fill(sqlkit.SQLWaitingNewest, 2, 7, 0, 4096),
		"what waits":         fill(sqlkit.SQLWaiting, 2, 0, 4096),
		"closing commands":   fill(fmt.Sprintf(sqlCloseCommands, many), 2),
	}
}

// RemoveKept deletes what nothing keeps of a range below the beginning of box outbox, as
// housekeeping does once it has looked there.
func (s *Store) RemoveKept(ctx context.Context, lease store.Lease, after, end int64) error {
	m := maintenance{Maintenance: sqlkit.NewMaintenance(&s.base, store.Retention{Lease: lease, Keep: time.Hour}), s: s}
	return m.removeKept(ctx, after, end)
}

package mysqlstore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

// What a settlement says of many rows travels as few statements: each costs more than
// the row it is about.
const (
	// rowsAtOnce bounds a list of rows. MariaDB makes a table of one with 1,000 values.
	rowsAtOnce = 500
	// bytesAtOnce bounds the text of a statement, in a server that takes as much.
	bytesAtOnce = 512 << 10
)

// park writes parked rows, those whose messages the log has.
func (t *transaction) park(s *settling) error {
	for rest := s.Park; len(rest) > 0; {
		n := t.parkedTogether(rest)
		if err := t.parkSome(s, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// parkedTogether returns how many rows of parks fit one statement: one at least.
func (t *transaction) parkedTogether(parks []store.Park) int {
	size, most := 0, min(bytesAtOnce, t.room)
	for i := range min(len(parks), rowsAtOnce) {
		// Numbers, and texts that may double where they are quoted; the reason twice.
		size += 300 + 4*len(parks[i].Reason) + 2*len(parks[i].Topic)
		if size > most {
			return max(i, 1)
		}
	}
	return min(len(parks), rowsAtOnce)
}

func (t *transaction) parkSome(s *settling, parks []store.Park) error {
	seqs := make([]int64, len(parks))
	for i := range parks {
		seqs[i] = parks[i].Seq
	}
	there, err := sqlkit.Numbers(t.Query, fmt.Sprintf(sqlInLog, tableOf(s.Box), list(seqs)), nil)
	if err != nil || len(there) == 0 {
		return err
	}
	slices.Sort(there)
	args := make([]any, 0, 15*len(there))
	for i := range parks {
		if _, ok := slices.BinarySearch(there, parks[i].Seq); ok {
			args = append(args, t.parkArgs(s.id, &parks[i])...)
		}
	}
	_, err = t.Exec(fmt.Sprintf(sqlPark, repeated(sqlParkRow, len(there))), args...)
	return err
}

// parkArgs are those of a parked row, and of the update of one that is there.
func (t *transaction) parkArgs(id int64, p *store.Park) []any {
	return append(sqlkit.ParkArgs(t.Now, id, p), t.Now, int(p.State), storekit.Reason(p.Reason))
}

// resolve removes parked rows and the commands for them. What failed of them is
// kept.
func (t *transaction) resolve(id int64, all []store.Resolved, discarding map[int64]bool) error {
	for some := range slices.Chunk(all, rowsAtOnce) {
		seqs := make([]int64, len(some))
		for i := range some {
			seqs[i] = some[i].Seq
		}
		gone, err := sqlkit.Numbers(t.Query, fmt.Sprintf(sqlParkedOf, list(seqs)), []any{id})
		if err != nil {
			return err
		}
		if len(gone) == 0 {
			continue
		}
		orders := []sqlkit.Order{
			{Text: fmt.Sprintf(sqlPast, list(gone)), Args: []any{id}},
			{Text: fmt.Sprintf(sqlResolve, list(gone)), Args: []any{id}},
			{Text: fmt.Sprintf(sqlCloseCommands, list(gone)), Args: []any{id}},
		}
		discarded := slices.DeleteFunc(gone, func(seq int64) bool { return !discarding[seq] })
		if len(discarded) > 0 {
			args := make([]any, 0, 2*len(discarded))
			for _, seq := range discarded {
				args = append(args, id, seq)
			}
			orders = append(orders, sqlkit.Order{Text: fmt.Sprintf(sqlDiscarded, repeated("(?, ?)", len(discarded))), Args: args})
		}
		if _, err := t.All(orders); err != nil {
			return err
		}
	}
	return nil
}

// discardPending notes messages that were discarded without being parked.
func (t *transaction) discardPending(s *settling, seqs []int64) error {
	for some := range slices.Chunk(seqs, rowsAtOnce) {
		if _, err := t.Exec(fmt.Sprintf(sqlDiscardedPending, tableOf(s.Box), list(some)), s.id); err != nil {
			return err
		}
	}
	return nil
}

// done closes commands.
func (t *transaction) done(id int64, all []store.Done) error {
	for some := range slices.Chunk(all, rowsAtOnce) {
		ids, args := make([]int64, len(some)), []any{id}
		for i, d := range some {
			ids[i] = int64(d.ID)
			args = append(args, int64(d.ID), int(d.Kind), d.Seq)
		}
		if _, err := t.Exec(fmt.Sprintf(sqlDone, list(ids), repeated("(?, ?, ?)", len(some))), args...); err != nil {
			return err
		}
	}
	return nil
}

// repeated is a row of a statement, so many times.
func repeated(row string, n int) string { return strings.Repeat(row+", ", n-1) + row }

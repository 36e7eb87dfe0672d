package mysqlstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// plainly says whether settlements touch nothing but their shards and the ledger.
func plainly(all []store.Settlement) bool {
	return !slices.ContainsFunc(all, func(s store.Settlement) bool {
		return len(s.Park) > 0 || len(s.Resolve) > 0 || len(s.Done) > 0 || len(s.Supersede) > 0
	})
}

// settlePlainly applies settlements that only move shards on, in one round trip of
// few statements: each shard is found under its lease, or the whole transaction
// fails and is made again with a look at each.
func (s *Store) settlePlainly(ctx context.Context, life *serverState, all []store.Settlement) ([]store.Verdict, error) {
	work, err := s.inOrder(ctx, all)
	verdicts := make([]store.Verdict, len(all))
	if err != nil || len(work) == 0 {
		return verdicts, err
	}
	text, args, most := s.plainText(work, life)
	whole := false
	err = retry(ctx, "settle", func() error {
		conn, err := s.db.Conn(ctx)
		if err != nil {
			return err
		}
		changed, err := execMany(ctx, conn, text, args)
		if err != nil { // the transaction is open
			err = joinRelease(err, s.newTransaction(ctx, conn).release())
			if codeOf(err) == codeNull {
				return nil
			}
			return err
		}
		whole = moved(changed, most)
		return conn.Close()
	})
	if err != nil {
		return nil, err
	}
	if !whole {
		return s.settle(ctx, life, all)
	}
	for i := range work {
		verdicts[work[i].at].Applied = true
	}
	return verdicts, nil
}

func joinRelease(err, release error) error {
	if release != nil {
		return fmt.Errorf("%w (and it could not be ended: %w)", err, release)
	}
	return err
}

// moved says whether each UPDATE has changed as many rows as it was to.
func moved(changed []int64, want []int64) bool {
	if len(changed) != len(want) {
		return false
	}
	for i, n := range want {
		if n > 0 && changed[i] != n {
			return false
		}
	}
	return true
}

// plainText is the transaction of settlements that only move shards on, and how
// many rows each of its statements must change; zero: any. Shards that go to one
// position are one UPDATE. It is judged by the INSERT behind it, which fails
// unless all were found, and ends the transaction. One that counts nothing can be
// made again, and needs no judge.
func (s *Store) plainText(work []settling, life *serverState) (text string, args []any, want []int64) {
	var b strings.Builder
	b.WriteString("START TRANSACTION")
	want = append(want, 0)
	for len(work) > 0 {
		n := 1
		for n < len(work) && work[n].id == work[0].id && work[n].To == work[0].To {
			n++
		}
		set, sums := "", storekit.Tallies{}
		if work[0].To != "" {
			set, args = "position = ?, ", append(args, []byte(work[0].To))
		}
		fmt.Fprintf(&b, ";\n"+sqlAdvanceAll, set, leasesText(work[:n]), s.server.Load().id, work[0].id)
		b.WriteString(s.comment)
		args, want = append(args, life.full()), append(want, int64(n))
		for i := range work[:n] { // one line for all of them: only who holds the first shard writes it
			sums.Add(work[0].id, int64(work[0].Lo), work[i].Tally)
		}
		if len(sums) > 0 {
			b.WriteString(";\n" + ledgerText(sums, fmt.Sprintf("IF(ROW_COUNT() = %d, %d, NULL)", n, work[0].id)) + s.comment)
			want = append(want, 0)
		}
		work = work[n:]
	}
	b.WriteString(";\nCOMMIT")
	return b.String(), args, append(want, 0)
}

// leasesText is the condition that finds shards under their leases.
func leasesText(work []settling) string {
	b := make([]byte, 0, 64*len(work))
	for i := range work {
		if i > 0 {
			b = append(b, " OR "...)
		}
		b = strconv.AppendInt(append(b, "lo = "...), int64(work[i].Lo), 10)
		b = strconv.AppendInt(append(b, " AND hi = "...), int64(work[i].Hi), 10)
		b = strconv.AppendInt(append(b, " AND token = "...), work[i].Token, 10)
		b = strconv.AppendInt(append(b, " AND version = "...), work[i].Version, 10)
	}
	return string(b)
}

// ledgerText adds sums to the ledger. subscription, unless empty, stands for that
// of the first line.
func ledgerText(sums storekit.Tallies, subscription string) string {
	var b []byte
	for i, at := range sums.Lines() {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, '(')
		if i == 0 && subscription != "" {
			b = append(b, subscription...)
		} else {
			b = strconv.AppendInt(b, at.Subscription, 10)
		}
		sum := sums[at]
		for _, n := range [...]int64{
			at.Span, int64(at.Fate), at.Shard, sum.Count,
			int64(sum.SeqSum >> 32), int64(sum.SeqSum & 0xffffffff), int64(sum.IDSum >> 32), int64(sum.IDSum & 0xffffffff),
		} {
			b = strconv.AppendInt(append(b, ", "...), n, 10)
		}
		b = append(b, ')')
	}
	return fmt.Sprintf(sqlLedgerAdd, b)
}

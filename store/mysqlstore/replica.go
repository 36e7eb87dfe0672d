package mysqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Reader reads boxes on a replica. It implements [store.Reader] and is made by [OpenReader]. It may be used concurrently until
// Close. The replica must have read_only or super_read_only on, and replicate whole databases. Primary and replica must have GTIDs:
// MySQL with gtid_mode=ON, MariaDB with a binary log on the primary.
type Reader struct {
	s       *Store
	reached storekit.Reached
}

var (
	_               = store.Reader((*Reader)(nil))
	_ store.Primary = (*Store)(nil)
)

// OpenReader opens the boxes of a replica, for reading. Of o it takes Connections, SQLComments and OnFault; Create, Unmigrated,
// Boxes, Slots and Partition must be zero. It needs the rights that GrantConsole gives. On a primary the error is store.ErrNoReplica.
func OpenReader(ctx context.Context, dsn string, o Options) (*Reader, error) {
	if o.Create || o.Unmigrated || o.Partition != 0 || len(o.Boxes)+len(o.Slots) > 0 {
		return nil, errors.New("mysqlstore: open a reader: a reader writes nothing; leave Create, Unmigrated, Boxes, Slots and Partition out of Options")
	}
	r := &Reader{}
	s, err := open(ctx, dsn, o, &r.reached)
	if err != nil {
		return nil, err
	}
	r.s = s
	return r, nil
}

// Close ends the sessions.
func (r *Reader) Close() error { return r.s.Close() }

// Overview implements store.Inspector. Which relays live, and ages, are as of the time that Reached returned last.
func (r *Reader) Overview(ctx context.Context) (store.Overview, error) { return r.s.Overview(ctx) }

// List implements store.Inspector.
func (r *Reader) List(ctx context.Context, q store.Query) ([]store.Item, string, error) {
	return r.s.List(ctx, q)
}

// Show implements store.Inspector.
func (r *Reader) Show(ctx context.Context, box string, id postbag.ID) ([]store.Item, error) {
	return r.s.Show(ctx, box, id)
}

// Audited implements store.Reader.
func (r *Reader) Audited(ctx context.Context, limit int) ([]store.AuditEntry, error) {
	return r.s.Audited(ctx, limit)
}

// Clock implements store.Reader.
func (r *Reader) Clock(ctx context.Context) (time.Time, error) { return r.s.Clock(ctx) }

// Operation implements store.Reader.
func (r *Reader) Operation(ctx context.Context, id store.OperationID) (store.Operation, error) {
	return r.s.Operation(ctx, id)
}

// Operations implements store.Reader.
func (r *Reader) Operations(ctx context.Context, limit int) ([]store.Operation, error) {
	return r.s.Operations(ctx, limit)
}

// SeqBefore implements store.Reader.
func (r *Reader) SeqBefore(ctx context.Context, box string, at time.Time) (int64, error) {
	return r.s.SeqBefore(ctx, box, at)
}

// Floor implements store.Reader.
func (r *Reader) Floor(p store.Position) (int64, error) { return r.s.Floor(p) }

// Due implements store.Reader.
func (r *Reader) Due(ctx context.Context, d store.Due) ([]store.Parked, error) {
	return r.s.Due(ctx, d)
}

// Reached implements store.Reader.
func (r *Reader) Reached(ctx context.Context, m store.Watermark) (time.Time, error) {
	at, err := r.reached.Ask(ctx, m, r.s.reached)
	return at, translateError("look how far the replica is", err)
}

// errNoGTID says why nobody knows how far a database is.
var errNoGTID = errors.New("the primary has no GTIDs, so nobody knows how far a replica is; set gtid_mode=ON on MySQL, or log_bin on MariaDB")

// Watermark implements store.Primary.
func (s *Store) Watermark(ctx context.Context) (store.Watermark, error) {
	m := store.Watermark{At: time.Now()}
	text := sqlExecutedMySQL
	if s.server.Load().mariadb {
		text = sqlLoggedMariaDB
	}
	there, err := s.row(ctx, text, nil, &m.Database, &m.Place)
	switch {
	case err != nil:
	case !there:
		err = store.ErrSchema
	case m.Place == "":
		err = errNoGTID
	}
	return m, translateError("mark how far the database is", err)
}

// reached looks how many marks the replica has reached.
func (s *Store) reached(ctx context.Context, marks []store.Watermark) (int, error) {
	var v serverState
	if _, err := s.row(ctx, s.serverStateText(), nil, v.dest()...); err != nil {
		return 0, err
	}
	if err := s.acceptReplica(&v); err != nil {
		return 0, err
	}
	text := sqlExecutedMySQL
	if s.server.Load().mariadb {
		text = sqlAppliedMariaDB
	}
	var database, place string
	if _, err := s.row(ctx, text, nil, &database, &place); err != nil {
		return 0, err
	}
	for i, mark := range slices.Backward(marks) {
		if mark.Database != database {
			return 0, store.ErrOtherDatabase
		}
		has, err := s.has(ctx, place, mark.Place)
		if has || err != nil {
			return i + 1, err
		}
	}
	return 0, nil
}

// has says whether a replica that has applied one place has all of another.
func (s *Store) has(ctx context.Context, applied, of string) (has bool, err error) {
	if s.server.Load().mariadb {
		return hasGTIDs(applied, of)
	}
	_, err = s.row(ctx, sqlHasMySQL, []any{of, applied}, &has)
	return has, err
}

// hasGTIDs compares two positions of MariaDB: of each domain the last sequence number.
func hasGTIDs(applied, of string) (bool, error) {
	have, err := domainsOf(applied)
	if err != nil {
		return false, err
	}
	want, err := domainsOf(of)
	for domain, n := range want {
		if have[domain] < n {
			return false, err
		}
	}
	return err == nil, err
}

func domainsOf(position string) (map[string]uint64, error) {
	all := make(map[string]uint64)
	for one := range strings.SplitSeq(position, ",") {
		parts := strings.Split(strings.TrimSpace(one), "-")
		if len(parts) != 3 {
			if position == "" {
				break
			}
			return nil, fmt.Errorf("a position of GTIDs cannot be read: %.80q", position)
		}
		n, err := strconv.ParseUint(parts[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("a position of GTIDs cannot be read: %.80q", position)
		}
		all[parts[0]] = max(all[parts[0]], n)
	}
	return all, nil
}

// acceptReplica refuses what is no replica. How far another one was, or the same before a restart, says nothing of it.
func (s *Store) acceptReplica(v *serverState) error {
	switch {
	case v.identity == "":
		return fmt.Errorf("the schema is half made: %w", store.ErrSchema)
	case !v.readOnly:
		return store.ErrNoReplica
	}
	full := v.full()
	if was := s.replica.Swap(&full); was != nil && *was != full {
		s.reading.Forget()
	}
	return nil
}

// behind is how long ago the answers of a reader were of now, in microseconds. Of a store it is zero.
func (s *Store) behind() int64 {
	if s.reading == nil {
		return 0
	}
	return s.reading.Behind().Microseconds()
}

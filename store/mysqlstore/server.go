package mysqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

// server is what the store knows of the server and the database.
type server struct {
	mariadb bool
	version string
	// id is how statements ask for the server's identity.
	id string
	// packet is the largest statement, in bytes.
	packet int64
	// identity is the database that Check has accepted; empty: none yet.
	identity string
	// warnings are settings that weaken a promise.
	warnings []string
}

// recogniseServer looks at the server, and refuses one that the store cannot
// work with.
func (s *Store) recogniseServer(ctx context.Context) error {
	const doing = "look at the server"
	var version string
	if _, err := s.row(ctx, sqlVersionText, nil, &version); err != nil {
		return translateError(doing, err)
	}
	v := &server{mariadb: strings.Contains(strings.ToLower(version), "mariadb"), id: sqlServerIDMySQL}
	text := sqlServerMySQL
	if v.mariadb {
		v.id, text = sqlServerIDMariaDB, sqlServerMariaDB
	}
	var comment, id, format string
	var logs, flush, sync sql.NullInt64
	if _, err := s.row(ctx, text, nil, &v.version, &comment, &id, &v.packet, &format, &logs, &flush, &sync); err != nil {
		return translateError(doing, err)
	}
	if err := v.supported(format, logs.Int64 == 1); err != nil {
		return translateError(doing, err)
	}
	if flush.Int64 != 1 {
		v.warnings = append(v.warnings, fmt.Sprintf("innodb_flush_log_at_trx_commit is %d: a crash of the host can lose messages "+
			"that were sent already; set it to 1", flush.Int64))
	}
	if logs.Int64 == 1 && sync.Int64 != 1 {
		v.warnings = append(v.warnings, fmt.Sprintf("sync_binlog is %d: after a crash of the host the binary log can lack what the "+
			"database has, or the reverse; set it to 1", sync.Int64))
	}
	if old := s.server.Load(); old != nil {
		v.identity = old.identity
	}
	s.server.Store(v)
	s.producer.packet.Store(v.packet)
	return nil
}

// supported refuses what would lose messages or fail later.
func (v *server) supported(format string, logs bool) error {
	var major, minor int
	if _, err := fmt.Sscanf(v.version, "%d.%d", &major, &minor); err != nil {
		return fmt.Errorf("the server's version is %q; use MySQL 8.0.19 or newer, or MariaDB 10.11 or newer", v.version)
	}
	switch {
	case v.mariadb && (major < 10 || major == 10 && minor < 11):
		return fmt.Errorf("the server is MariaDB %d.%d; use 10.11 or newer", major, minor)
	case !v.mariadb && major < 8:
		return fmt.Errorf("the server is MySQL %d.%d; use 8.0.19 or newer", major, minor)
	case logs && strings.EqualFold(format, "STATEMENT"):
		return errStatementLog
	}
	return nil
}

// serverState is what the database says of itself at one moment.
type serverState struct {
	identity string
	epoch    int64
	// life is the number that was drawn since the server's start, zero if none
	// was, and host the server's identity.
	life int64
	host string
	// readOnly: a standby, or a server that was made so.
	readOnly bool
	// step is the distance of two seqs that the server gives out.
	step int64
	// now is the database's clock, in microseconds since 1970.
	now int64
	at  time.Time // this process's clock when it came
}

// dest is where to scan the columns of sqlServerState.
func (v *serverState) dest() []any {
	v.at = time.Now()
	return []any{&v.identity, &v.epoch, &v.life, &v.host, &v.readOnly, &v.step, &v.now}
}

func (v *serverState) scan(rows *sql.Rows) error { return rows.Scan(v.dest()...) }

// full names the life as sqlAdvanceAll does.
func (v *serverState) full() string { return fmt.Sprintf("%s/%d/%s", v.identity, v.life, v.host) }

// tag is what positions say of the life they were read in.
func (v *serverState) tag() uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(v.full()))
	return max(h.Sum32(), 1)
}

func (s *Store) serverStateText() string { return fmt.Sprintf(sqlServerState, s.server.Load().id) }

// accept refuses a session on another database than the one that Check accepted,
// or on one that cannot be written.
func (s *Store) accept(v *serverState) error {
	if s.reading != nil {
		if err := s.acceptReplica(v); err != nil {
			return err
		}
		s.known.saw(v.epoch)
		return nil
	}
	known := s.server.Load()
	switch {
	case v.identity == "":
		return fmt.Errorf("the schema is half made: %w", store.ErrSchema)
	case v.readOnly:
		return store.ErrStandby
	case known.identity != "" && known.identity != v.identity:
		return fmt.Errorf("found database %s where %s was: %w", v.identity, known.identity, store.ErrMoved)
	}
	s.seen.note(v)
	s.known.saw(v.epoch)
	s.producer.clock(v.now, v.at)
	return nil
}

// beginLife draws the number of the server's life, if nobody has.
func (s *Store) beginLife(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, sqlBeginLife+s.comment)
	return err
}

// subscribed is what is known of a subscription. It changes only with the epoch.
type subscribed struct {
	store.Ref

	id     int64
	asks   store.Filter
	filter storekit.Filter // the same, ready to be asked
	fault  error           // of a filter that cannot be read
	epoch  int64           // it was asked for, or read, under this one
}

// same says whether a read would not tell two subscriptions apart.
func (s *subscribed) same(other *subscribed) bool {
	return s.id == other.id && s.fault == nil && other.fault == nil && slices.Equal(s.asks.Types, other.asks.Types) && s.filter.Same(&other.filter)
}

// subscriptions remembers those that were asked for under one epoch.
type subscriptions struct {
	mu    sync.Mutex
	epoch int64
	all   map[store.Ref]subscribed
}

// get returns what is remembered. If it is nothing, the answer has only the name and the epoch.
func (k *subscriptions) get(r store.Ref) (sub subscribed, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if sub, ok = k.all[r]; !ok {
		sub = subscribed{Ref: r, epoch: k.epoch}
	}
	return sub, ok
}

// put remembers a subscription that was read after get, unless another epoch was seen meanwhile.
func (k *subscriptions) put(sub subscribed) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.epoch != sub.epoch {
		return
	}
	if k.all == nil {
		k.all = make(map[store.Ref]subscribed)
	}
	k.all[sub.Ref] = sub
}

// saw takes the epoch that a statement has seen. If it is another one, what is remembered may have
// changed, and is forgotten.
func (k *subscriptions) saw(epoch int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if epoch != 0 && k.epoch != epoch {
		k.epoch, k.all = epoch, nil
	}
}

func (k *subscriptions) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = nil
}

// subscription returns a subscription; one that does not exist has the id zero.
func (s *Store) subscription(ctx context.Context, r store.Ref) (subscribed, error) {
	sub, ok := s.known.get(r)
	if ok {
		return sub, nil
	}
	var types, takes []byte
	found, err := s.row(ctx, sqlkit.SQLSubscription, []any{r.Box, r.Subscription}, &sub.id, &types, &takes)
	if err != nil || !found {
		return sub, err
	}
	sub.asks, sub.fault = sqlkit.FilterOf(types, takes)
	sub.filter = storekit.FilterOf(sub.asks)
	s.known.put(sub)
	return sub, nil
}

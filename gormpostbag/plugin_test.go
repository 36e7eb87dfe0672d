package gormpostbag_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/gormpostbag"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/pgstore"
)

// Order is an aggregate with an association that is one too.
type Order struct {
	ID      string `gorm:"primaryKey"`
	Version int
	Lines   []Line
	postbag.DomainEvents
}

// Line is an aggregate of its own.
type Line struct {
	ID      int64
	OrderID string
	Item    string
	postbag.DomainEvents
}

// Plain has no events.
type Plain struct{ ID int64 }

func (o *Order) say(what string) *Order {
	o.Raise(postbag.Message{Topic: "orders", Key: o.ID, Payload: []byte(what)})
	return o
}

type shop struct {
	*testing.T
	db    *gorm.DB
	store *pgstore.Store
	woken atomic.Int64
}

func newShop(t *testing.T, config gorm.Config) *shop {
	t.Helper()
	s := &shop{T: t}
	pg := servertest.Postgres(t, testserver.PostgresOptions{NoSync: true})
	pool, err := pgxpool.New(t.Context(), pg.DSN("postgres"))
	s.must(err)
	t.Cleanup(pool.Close)
	s.store, err = pgstore.Open(t.Context(), pool, pgstore.Options{Create: true})
	s.must(err)
	t.Cleanup(func() { _ = s.store.Close() })
	db, err := sql.Open("pgx", pg.DSN("postgres"))
	s.must(err)
	t.Cleanup(func() { _ = db.Close() })
	appender, err := pgstore.OpenAppender(t.Context(), db, pgstore.AppenderOptions{Wake: func(string) { s.woken.Add(1) }})
	s.must(err)
	pub, err := postbag.NewPublisher(appender, postbag.PublisherOptions{})
	s.must(err)
	config.Logger = logger.Discard
	s.db, err = gorm.Open(postgres.New(postgres.Config{Conn: db}), &config)
	s.must(err)
	s.must(s.db.AutoMigrate(&Order{}, &Line{}, &Plain{}))
	s.must(s.db.Use(gormpostbag.New(pub)))
	return s
}

func (s *shop) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// wants drains the box and compares what came.
func (s *shop) wants(want ...string) {
	s.Helper()
	to := membroker.New(membroker.Options{})
	r, err := relay.New(s.store, relay.Options{Subscriptions: []relay.Subscription{{To: to}}, Logger: slog.New(slog.DiscardHandler)})
	s.must(err)
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	s.must(r.Drain(ctx))
	var got []string
	for _, m := range to.Taken() {
		got = append(got, m.Key+" "+string(m.Payload))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		s.Errorf("delivered %q, want %q", got, want)
	}
}

func (s *shop) rows(want int64) {
	s.Helper()
	var n int64
	if err := s.db.Model(&Order{}).Count(&n).Error; err != nil || n != want {
		s.Errorf("there are %d orders, want %d: %v", n, want, err)
	}
}

func TestEventsArePublishedWithTheRowsOfTheirModels(t *testing.T) {
	t.Parallel()
	s := newShop(t, gorm.Config{})
	a := (&Order{ID: "a"}).say("1 created")
	s.must(s.db.Create(a).Error)
	if n := s.woken.Load(); n != 1 {
		t.Errorf("relays were woken %d times, want once", n)
	}
	s.must(s.db.Model(a.say("2 updated")).Update("version", 1).Error)
	s.must(s.db.Save(a.say("3 saved")).Error)
	s.must(s.db.Save((&Order{ID: "b"}).say("1 saved as new")).Error)
	s.must(s.db.Delete(a.say("4 deleted")).Error)
	s.must(s.db.CreateInBatches([]*Order{(&Order{ID: "c"}).say("1"), {ID: "d"}, (&Order{ID: "e"}).say("1")}, 2).Error)
	f := Order{ID: "f", Lines: []Line{{Item: "tea"}}}
	f.say("order")
	f.Lines[0].Raise(postbag.Message{Key: "f", Payload: []byte("line")})
	s.must(s.db.Create(&f).Error)
	s.must(s.db.Create(&Plain{}).Error)
	s.wants("a 1 created", "a 2 updated", "a 3 saved", "a 4 deleted", "b 1 saved as new", "c 1", "e 1", "f line", "f order")
	if n := len(a.Raised()) + len(f.Raised()); n != 0 {
		t.Errorf("%d events are left", n)
	}
}

func TestNothingIsPublishedOfATransactionThatIsRolledBack(t *testing.T) {
	t.Parallel()
	s := newShop(t, gorm.Config{})
	sorry := errors.New("sorry")
	err := s.db.Transaction(func(tx *gorm.DB) error {
		s.must(tx.Create((&Order{ID: "a"}).say("never")).Error)
		return sorry
	})
	if !errors.Is(err, sorry) {
		t.Fatal(err)
	}
	s.must(s.db.Transaction(func(tx *gorm.DB) error {
		s.must(tx.Create((&Order{ID: "b"}).say("kept")).Error)
		_ = tx.Transaction(func(tx *gorm.DB) error { // a savepoint
			s.must(tx.Create((&Order{ID: "c"}).say("never")).Error)
			return sorry
		})
		return nil
	}))
	if n := s.woken.Load(); n != 0 {
		t.Errorf("relays were woken %d times before the transaction committed", n)
	}
	s.rows(1)
	s.wants("b kept")
}

func TestAnEventThatCannotBePublishedTakesTheRowWithIt(t *testing.T) {
	t.Parallel()
	s := newShop(t, gorm.Config{})
	long := &Order{ID: strings.Repeat("k", postbag.MaxKey+1)}
	err := s.db.Create(long.say("too long")).Error
	var fault *postbag.MessageError
	if !errors.As(err, &fault) || fault.Field != "Key" {
		t.Errorf("the error is %v, want one of the key", err)
	}
	s.rows(0)
	s.wants()
}

func TestAModelWithEventsIsSavedInATransactionOnly(t *testing.T) {
	t.Parallel()
	for _, prepare := range []bool{false, true} {
		t.Run(fmt.Sprintf("prepared=%v", prepare), func(t *testing.T) {
			t.Parallel()
			s := newShop(t, gorm.Config{SkipDefaultTransaction: true, PrepareStmt: prepare})
			a := &Order{ID: "a"}
			if err := s.db.Create(a.say("1")).Error; err == nil || !strings.Contains(err.Error(), "save and publish inside db.Transaction") {
				t.Errorf("the error is %v", err)
			}
			s.rows(0)
			s.must(s.db.Transaction(func(tx *gorm.DB) error { return tx.Create(a).Error }))
			s.must(s.db.Create(&Plain{}).Error)
			s.wants("a 1")
		})
	}
}

func TestAStatementThatChangesNoRowPublishesNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t, gorm.Config{})
	s.must(s.db.Create(&Order{ID: "a", Version: 5}).Error)
	for name, try := range map[string]func(o *Order) error{
		"a version that is not there": func(o *Order) error { return s.db.Model(o).Where("version = ?", 4).Update("version", 5).Error },
		"a row that is there already": func(o *Order) error { return s.db.Clauses(clause.OnConflict{DoNothing: true}).Create(o).Error },
		"a delete of what is gone":    func(o *Order) error { o.ID = "gone"; return s.db.Delete(o).Error },
	} {
		o := (&Order{ID: "a"}).say(name)
		if err := try(o); !errors.Is(err, gormpostbag.ErrNoRow) {
			t.Errorf("%s: the error is %v, want ErrNoRow", name, err)
		}
		if len(o.Raised()) != 1 {
			t.Errorf("%s: the event is gone", name)
		}
	}
	s.must(s.db.Model(&Order{ID: "gone"}).Update("version", 6).Error) // no events, no error
	s.wants()
}

func TestADryRunPublishesNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t, gorm.Config{})
	o := (&Order{ID: "a"}).say("1")
	s.must(s.db.Session(&gorm.Session{DryRun: true}).Create(o).Error)
	s.wants()
	if len(o.Raised()) != 1 {
		t.Error("the event is gone")
	}
}

func TestAPluginWithoutAPublisherIsRefused(t *testing.T) {
	t.Parallel()
	db, err := gorm.Open(postgres.New(postgres.Config{DSN: "host=127.0.0.1"}), &gorm.Config{DisableAutomaticPing: true, Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Use(gormpostbag.New(nil)); err == nil || !strings.Contains(err.Error(), "the publisher is nil") {
		t.Errorf("the error is %v", err)
	}
}

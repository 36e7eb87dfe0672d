package examples_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	_ "github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/mysqldialect"
	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/examples/buntx"
	"github.com/postbag/postbag/examples/enttx"
	"github.com/postbag/postbag/examples/enttx/ent"
	"github.com/postbag/postbag/examples/gormtx"
	"github.com/postbag/postbag/examples/internal/shop"
	"github.com/postbag/postbag/examples/sqlxtx"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store/mysqlstore"
)

// The same transactions on MySQL and MariaDB, with the driver's settings as they are
// and with those that change how a statement travels.
func TestEachLibrarysTransactionCommitsRowAndMessageTogetherOnMySQL(t *testing.T) {
	t.Parallel()
	for name, oracle := range map[string]bool{"MariaDB": false, "MySQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := servertest.MySQL(t, testserver.MySQLOptions{Oracle: oracle, NoSync: true})
			for params, database := range map[string]string{"": "plain", "?interpolateParams=true&multiStatements=true": "packed"} {
				t.Run(database, func(t *testing.T) {
					t.Parallel()
					if err := run(t, server.DSN(""), "create database "+database); err != nil {
						t.Fatal(err)
					}
					placesOnMySQL(t, server.DSN(database)+params)
				})
			}
		})
	}
}

func run(t *testing.T, dsn, statement string) error {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(t.Context(), statement)
	return errors.Join(err, db.Close())
}

func placesOnMySQL(t *testing.T, dsn string) {
	t.Helper()
	store, err := mysqlstore.Open(t.Context(), dsn, mysqlstore.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), "create table orders (id bigint auto_increment primary key, customer text not null, cents bigint not null)"); err != nil {
		t.Fatal(err)
	}
	appender, err := mysqlstore.OpenAppender(t.Context(), db, mysqlstore.AppenderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pub, err := postbag.NewPublisher[postbag.SQLTx](appender, postbag.PublisherOptions{})
	if err != nil {
		t.Fatal(err)
	}
	bunDB := bun.NewDB(db, mysqldialect.New())
	client := ent.NewClient(ent.Driver(entsql.OpenDB(dialect.MySQL, db)))
	places := map[string]func(context.Context, shop.Order) error{
		"database/sql": func(ctx context.Context, o shop.Order) error {
			return pub.InTx(ctx, func(ctx context.Context, tx postbag.SQLTx) error {
				if _, err := tx.ExecContext(ctx, "insert into orders (customer, cents) values (?, ?)", o.Customer, o.Cents); err != nil {
					return err
				}
				return pub.Publish(ctx, tx, shop.Placed.Message(o))
			})
		},
		"sqlx": func(ctx context.Context, o shop.Order) error {
			return sqlxtx.Place(ctx, sqlx.NewDb(db, "mysql"), pub, o)
		},
		"bun": func(ctx context.Context, o shop.Order) error { return buntx.Place(ctx, bunDB, pub, o) },
		"ent": func(ctx context.Context, o shop.Order) error { return enttx.Place(ctx, client, pub, o) },
	}
	for name, prepare := range map[string]bool{"gorm": false, "gorm with prepared statements": true} {
		g, err := gorm.Open(gormmysql.New(gormmysql.Config{Conn: db}), &gorm.Config{Logger: logger.Discard, PrepareStmt: prepare})
		if err != nil {
			t.Fatal(err)
		}
		places[name] = func(ctx context.Context, o shop.Order) error { return gormtx.Place(ctx, g, pub, o) }
	}
	commitBothOrNeither(t, places, db, func() []membroker.Record { return drain(t, store) })
}

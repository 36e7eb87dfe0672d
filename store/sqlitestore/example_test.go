package sqlitestore_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store/sqlitestore"
)

// An application that has a *sql.DB on the file opens the store over it, and its
// own transactions are those that messages are published in.
func ExampleOpenDB() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // an example's folder
	fmt.Println(order(context.Background(), filepath.Join(dir, "shop.db")))
	// Output: 1 order and 1 message <nil>
}

func order(ctx context.Context, path string) (said string, err error) {
	db, err := sql.Open("sqlite", sqlitestore.DSN(path))
	if err != nil {
		return "", err
	}
	defer db.Close() //nolint:errcheck // everything is committed
	st, err := sqlitestore.OpenDB(ctx, db, sqlitestore.Options{Create: true})
	if err != nil {
		return "", err
	}
	defer st.Close() //nolint:errcheck // it ends with the program
	if _, err := db.ExecContext(ctx, `CREATE TABLE orders (id TEXT PRIMARY KEY)`); err != nil {
		return "", err
	}
	pub, err := postbag.NewPublisher(st.SQL(), postbag.PublisherOptions{})
	if err != nil {
		return "", err
	}
	err = pub.InTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO orders VALUES ('o1')`); err != nil {
			return err
		}
		return pub.Publish(ctx, tx, postbag.Message{Key: "o1", Type: "order.created", Payload: []byte(`{"id":"o1"}`)})
	})
	if err != nil {
		return "", err
	}
	var orders, messages int
	err = db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM postbag_outbox)`).Scan(&orders, &messages)
	return fmt.Sprintf("%d order and %d message", orders, messages), err
}

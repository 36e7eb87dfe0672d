package mysqlstore_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/mysqlstore"
)

// account makes a user with rights in the site's database, until the test ends, and returns a DSN for it. A right is what stands
// between GRANT and the end of the table's name.
func (s *site) account(k *kind, rights ...string) (dsn string) {
	user := "some_" + s.name
	s.exec("CREATE USER " + user + "@'%' IDENTIFIED BY 'one'")
	s.Cleanup(func() {
		if _, err := k.admin.ExecContext(context.Background(), "DROP USER "+user); err != nil {
			s.Error(err)
		}
	})
	for _, right := range rights {
		what, on, _ := strings.Cut(right, " ON ")
		s.exec("GRANT " + what + " ON " + s.name + "." + on + " TO " + user)
	}
	_, address, _ := strings.Cut(s.dsn, "@")
	return user + ":one@" + address
}

// The rights are those that docs/reference/mysql.md asks for.
func TestAProducerWithTheRightsOfThePageDoesWhateverProducersDo(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newSite(t, k)
		db := openSQL(t, s.account(k, "INSERT (id, topic, `key`, shard_key, type, headers, payload) ON postbag_outbox",
			"SELECT ON postbag__meta", "SELECT ON postbag__life", "SELECT, INSERT, DELETE ON postbag__scheduled",
			"SELECT (seq) ON postbag_outbox", "SELECT, UPDATE ON postbag__lock"))
		d, err := mysqlstore.OpenAppender(t.Context(), db, mysqlstore.AppenderOptions{})
		s.Must(err)
		later := postbag.Message{ID: postbag.NewID(), Topic: "t", Key: "a", NotBefore: time.Now().Add(time.Hour)}
		now := postbag.Message{ID: postbag.NewID(), Topic: "t", Key: "a"}
		s.Must(d.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
			if err := d.Lock(ctx, tx, "outbox", []string{"a"}); err != nil {
				return err
			}
			return d.Append(ctx, tx, "outbox", []postbag.Message{now, later})
		}))
		s.Must(d.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
			gone, err := d.Cancel(ctx, tx, "outbox", later.ID)
			if err == nil && !gone {
				t.Error("what was scheduled is not there")
			}
			return err
		}))
		s.want(s.Deliver(), now)
	})
}

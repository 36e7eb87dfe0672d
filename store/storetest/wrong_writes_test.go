package storetest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store/memstore"
)

// wrongWrites are mistakes of the writing half.
func wrongWrites() []wrong {
	return []wrong{
		{"payloads end at a NUL", written(func(m *postbag.Message) {
			if i := bytes.IndexByte(m.Payload, 0); i >= 0 {
				m.Payload = m.Payload[:i]
			}
		}), []string{
			"Payloads of every byte value and of any size arrive as they were",
			"Hundreds of random messages arrive as they were",
		}},
		{"payloads are made valid text", written(func(m *postbag.Message) {
			m.Payload = bytes.ToValidUTF8(m.Payload, []byte("?"))
		}), []string{"Payloads of every byte value and of any size arrive as they were"}},
		{"keys lose their case", written(func(m *postbag.Message) { m.Key = strings.ToLower(m.Key) }), []string{
			"Keys that differ in case, accent or space are different keys",
		}},
		{"keys lose the space at their end", written(func(m *postbag.Message) { m.Key = strings.TrimRight(m.Key, " ") }), []string{
			"Keys that differ in case, accent or space are different keys",
			"Topics, keys, types and headers of any text arrive as they were",
		}},
		{"ids are text that ends at a NUL", written(func(m *postbag.Message) {
			if i := bytes.IndexByte(m.ID[:], 0); i > 0 {
				clear(m.ID[i:])
			}
		}), []string{"Ids are compared as bytes"}},
		{"headers without a value are dropped", written(func(m *postbag.Message) {
			for k, v := range m.Headers {
				if v == "" {
					delete(m.Headers, k)
				}
			}
		}), []string{"Topics, keys, types and headers of any text arrive as they were"}},
		{"topics are cut at 200 bytes", written(func(m *postbag.Message) { m.Topic = m.Topic[:min(200, len(m.Topic))] }), []string{
			"Texts as long as they may be arrive as they were",
		}},
		{"the shard key is not heeded", written(func(m *postbag.Message) { m.ShardKey = "" }), []string{
			"A shard key decides the slot in place of the key",
		}},
		{"messages are kept until the commit", keepUntilCommit, []string{"Append keeps nothing of what it was given"}},
		{"the order of an append is turned round", func(db *database) {
			c := neglect(db)
			c.append = func(ctx context.Context, tx *memstore.Tx, box string, msgs []postbag.Message) error {
				msgs = slices.Clone(msgs)
				slices.Reverse(msgs)
				return c.Store.Append(ctx, tx, box, msgs)
			}
		}, []string{
			"A transaction's messages come together, in its order",
			"Append takes thousands of messages at once, in order",
		}},
		{"a rollback commits", func(db *database) { db.Rollback = db.Commit }, []string{
			"Nothing of a transaction that was rolled back is read",
			"A cancel that is rolled back leaves the message",
		}},
		{"a savepoint undoes nothing", func(db *database) {
			db.RollbackTo = func(context.Context, *memstore.Tx, string) error { return nil }
		}, []string{
			"Nothing that a savepoint rolled back is read",
			"A cancel by a savepoint that is rolled back leaves the message",
		}},
		{"locks are not taken", func(db *database) {
			neglect(db).lock = func(context.Context, *memstore.Tx, string, []string) error { return nil }
		}, []string{
			"Lock makes writers of one key take turns, and no others",
			"Many writers, late commits: each message comes once along a chain, keys in order",
		}},
		{"scheduled messages come at once", written(func(m *postbag.Message) { m.NotBefore = time.Time{} }), []string{
			"A scheduled message comes when it is due, and not before",
		}},
		{"a cancel is not part of its transaction", func(db *database) {
			c := neglect(db)
			c.cancel = func(ctx context.Context, _ *memstore.Tx, box string, id postbag.ID) (found bool, err error) {
				err = c.Store.InTx(ctx, func(ctx context.Context, tx *memstore.Tx) error {
					found, err = c.Store.Cancel(ctx, tx, box, id)
					return err
				})
				return found, err
			}
		}, []string{"A cancel that is rolled back leaves the message"}},
		{"an unknown commit is a failed one", func(db *database) {
			c := neglect(db)
			c.inTx = func(ctx context.Context, fn func(context.Context, *memstore.Tx) error) error {
				if err := c.Store.InTx(ctx, fn); errors.Is(err, postbag.ErrCommitUnknown) {
					return context.DeadlineExceeded
				} else if err != nil {
					return err
				}
				return nil
			}
		}, []string{"InTx says so when the answer of a commit is lost"}},
		{"a missing box is another error", func(db *database) {
			c := neglect(db)
			c.append = func(ctx context.Context, tx *memstore.Tx, box string, msgs []postbag.Message) error {
				if c.Store.Append(ctx, tx, box, msgs) != nil {
					return errors.New("the database says no; look into its log")
				}
				return nil
			}
		}, []string{"Append to a missing box is ErrNoBox"}},
		{"a transaction that has ended is an outage", func(db *database) {
			c := neglect(db)
			c.append = func(ctx context.Context, tx *memstore.Tx, box string, msgs []postbag.Message) error {
				if err := c.Store.Append(ctx, tx, box, msgs); errors.Is(err, postbag.ErrTxEnded) {
					return errors.New("the connection failed; look whether the server runs")
				} else if err != nil {
					return err
				}
				return nil
			}
		}, []string{"Append in a transaction that has ended is ErrTxEnded"}},
		{"the harness lacks what is declared", func(db *database) { db.Prepare = nil }, []string{
			"The harness has what the features ask for, and no more",
		}},
	}
}

// written changes messages on their way in.
func written(change func(*postbag.Message)) func(*database) {
	return func(db *database) {
		c := neglect(db)
		c.append = func(ctx context.Context, tx *memstore.Tx, box string, msgs []postbag.Message) error {
			msgs = slices.Clone(msgs)
			for i := range msgs {
				msgs[i] = msgs[i].Clone()
				change(&msgs[i])
			}
			return c.Store.Append(ctx, tx, box, msgs)
		}
	}
}

// keepUntilCommit writes what a transaction appended when it ends.
func keepUntilCommit(db *database) {
	type kept struct {
		box  string
		msgs []postbag.Message
	}
	waiting := map[*memstore.Tx][]kept{}
	c := neglect(db)
	c.append = func(_ context.Context, tx *memstore.Tx, box string, msgs []postbag.Message) error {
		waiting[tx] = append(waiting[tx], kept{box, msgs})
		return nil
	}
	db.Commit = func(ctx context.Context, tx *memstore.Tx) error {
		for _, k := range waiting[tx] {
			if err := c.Store.Append(ctx, tx, k.box, k.msgs); err != nil {
				return err
			}
		}
		return tx.Commit(ctx)
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/internal/testserver"
)

const (
	debeziumTable = "debezium_outbox"
	debeziumTopic = "outbox.event.bench"
)

// tuned are the settings with which Debezium was found to be fastest.
var tuned = map[string]string{
	"poll.interval.ms": "5", "max.batch.size": "8192", "max.queue.size": "32768",
	"producer.override.linger.ms": "5", "producer.override.batch.size": "262144", "producer.override.compression.type": "lz4",
}

// debezium drains n rows of its own outbox table through Debezium's outbox event router: the time from their commit until the
// topic has all of them. It has warmed up before.
func debezium(n int, settings map[string]string) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (_ sample, err error) {
		brokers, err := l.freshTopic(ctx, debeziumTopic)
		if err != nil {
			return sample{}, err
		}
		d, err := l.startDebezium(ctx, settings)
		if err != nil {
			return sample{}, err
		}
		defer func() { err = errors.Join(err, d.Close(), l.dropDebezium(context.WithoutCancel(ctx))) }()
		warm, err := l.debeziumRows(ctx, n/3) // not earlier: a slot is made only when no transaction is open
		if err == nil {
			err = warm.Commit(ctx)
		}
		if err == nil {
			err = awaitRecords(ctx, brokers, debeziumTopic, n/3)
		}
		if err != nil {
			return sample{}, err
		}
		tx, err := l.debeziumRows(ctx, n)
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // after the commit it does nothing
		w := l.start()
		if err := tx.Commit(ctx); err != nil {
			return sample{}, err
		}
		if err := awaitRecords(ctx, brokers, debeziumTopic, n/3+n); err != nil {
			return sample{}, fmt.Errorf("%w:\n%s", err, d.LogTail(20))
		}
		return w.stop(n), nil
	}
}

// debeziumRows writes the rows in a transaction that stays open.
func (l *testbed) debeziumRows(ctx context.Context, n int) (pgx.Tx, error) {
	tx, err := l.pool.Begin(ctx)
	if err != nil {
		return nil, err
	}
	_, err = tx.Exec(ctx, `insert into `+debeziumTable+` (aggregatetype, aggregateid, type, payload, trace, tenant)
		select 'bench', 'key-' || i % 10000, 'bench', $1, '0af7651916cd43dd8448eb211c80319c', '7' from generate_series(1, $2::int) i`, string(payload), n)
	return tx, err
}

// startDebezium starts the connector, and returns when it streams.
func (l *testbed) startDebezium(ctx context.Context, settings map[string]string) (*testserver.Debezium, error) {
	k, err := l.startKafka(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := l.pool.Exec(ctx, `drop table if exists `+debeziumTable+`; create table `+debeziumTable+` (id uuid primary key default gen_random_uuid(),
		aggregatetype text not null, aggregateid text not null, type text not null, payload text not null, trace text not null, tenant text not null)`); err != nil {
		return nil, err
	}
	to := l.pool.Config().ConnConfig
	connector := map[string]string{
		"database.hostname": "127.0.0.1", "database.port": strconv.Itoa(int(to.Port)), "database.user": to.User, "database.password": to.Password,
		"database.dbname": to.Database, "topic.prefix": "bench", "plugin.name": "pgoutput", "slot.name": "bench", "snapshot.mode": "no_data",
		"publication.name": "bench", "publication.autocreate.mode": "filtered", "table.include.list": "public." + debeziumTable,
		"transforms": "outbox", "transforms.outbox.type": "io.debezium.transforms.outbox.EventRouter", "transforms.outbox.table.fields.additional.placement": "type:header:eventType,trace:header:trace,tenant:header:tenant",
	}
	maps.Copy(connector, settings)
	d, err := k.StartDebezium(ctx, nil, connector)
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(time.Minute); ; <-time.After(100 * time.Millisecond) {
		var active bool
		err := l.pool.QueryRow(ctx, `select active from pg_replication_slots where slot_name = 'bench'`).Scan(&active)
		if active {
			return d, nil
		}
		if time.Now().After(deadline) {
			return nil, errors.Join(fmt.Errorf("debezium does not stream: %w:\n%s", err, d.LogTail(20)), d.Close())
		}
	}
}

func (l *testbed) dropDebezium(ctx context.Context) error {
	for deadline := time.Now().Add(30 * time.Second); ; <-time.After(100 * time.Millisecond) {
		_, err := l.pool.Exec(ctx, `select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = 'bench'`)
		if err == nil || time.Now().After(deadline) {
			_, dropped := l.pool.Exec(ctx, `drop publication if exists bench; drop table if exists `+debeziumTable)
			return errors.Join(err, dropped)
		}
	}
}

// awaitRecords waits until a topic has n records.
func awaitRecords(ctx context.Context, brokers []string, topic string, n int) error {
	c, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		return err
	}
	defer c.Close()
	admin := kadm.NewClient(c)
	for deadline := time.Now().Add(5 * time.Minute); ; <-time.After(5 * time.Millisecond) {
		ends, err := admin.ListEndOffsets(ctx, topic)
		if err != nil {
			return err
		}
		have := int64(0)
		ends.Each(func(o kadm.ListedOffset) { have += o.Offset })
		if have >= int64(n) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the topic has %d of %d records", have, n)
		}
	}
}

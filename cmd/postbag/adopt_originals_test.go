package main

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"strings"
	"testing"
)

// foreign is an outbox table of another project, with the columns, types and keys
// that its own migration makes, written again.
type foreign struct {
	// from is what --from calls it, and flags what else a plan of it needs.
	from, table string
	flags       []string
	// schema makes the table.
	schema string
	// insert writes a row as the project's code does: $1 is the id, $2 the key, $3 the
	// payload.
	insert string
	// finish marks the row whose id is $1 as delivered; empty: the table cannot say it.
	finish string
	// give makes the parameters that insert has.
	give func(id, key string, payload []byte) []any
	// topic, typ and headers are what a message of it must have.
	topic, typ, headers string
	// keyless says that the table knows no key.
	keyless bool
	// opaque says that a database cannot read a row.
	opaque bool
	// jsonb says that the database rewrites a payload.
	jsonb bool
}

func giveBytes(id, key string, payload []byte) []any { return []any{id, key, payload} }

func giveText(id, key string, payload []byte) []any { return []any{id, key, string(payload)} }

// letterOfGoOutbox is what pkritiotis/go-outbox encodes with gob.
type letterOfGoOutbox struct {
	Key     string
	Headers map[string]string
	Body    []byte
	Topic   string
}

func giveGob(id, key string, payload []byte) []any {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(letterOfGoOutbox{Key: key, Headers: map[string]string{"trace": "t"}, Body: payload, Topic: "orders"})
	if err != nil {
		panic(err) // of a struct of strings there is none
	}
	return []any{id, b.Bytes()}
}

// foreigns are the originals on PostgreSQL.
func foreigns() map[string]*foreign {
	return map[string]*foreign{
		// The table that the documentation of Debezium 3's outbox event router asks for.
		"debezium": {
			from: "debezium", table: "outboxevent", flags: []string{"--all", "--column", "order=xmin"},
			schema: `CREATE TABLE outboxevent (id uuid PRIMARY KEY, aggregatetype varchar(255) NOT NULL, aggregateid varchar(255) NOT NULL,
				type varchar(255) NOT NULL, payload jsonb)`,
			insert: `INSERT INTO outboxevent (id, aggregatetype, aggregateid, type, payload) VALUES ($1, 'orders', $2, 'placed', $3)`,
			give:   giveText, topic: "orders", typ: "placed", jsonb: true,
		},
		// The one that Debezium 3's extension for Quarkus makes.
		"debezium quarkus": {
			from: "debezium", table: "outboxevent", flags: []string{"--all"},
			schema: `CREATE TABLE outboxevent (id uuid NOT NULL, aggregatetype varchar(255) NOT NULL, aggregateid varchar(255) NOT NULL,
				type varchar(255) NOT NULL, "timestamp" timestamp(6) with time zone NOT NULL, payload varchar(8000),
				tracingspancontext varchar(256), PRIMARY KEY (id))`,
			insert: `INSERT INTO outboxevent (id, aggregatetype, aggregateid, type, "timestamp", payload)
				VALUES ($1, 'orders', $2, 'placed', clock_timestamp(), $3)`,
			give: giveText, topic: "orders", typ: "placed",
		},
		// The migration that sbmt-outbox 6 generates, with the event_name that its README adds.
		"sbmt-outbox": {
			from: "sbmt-outbox", table: "order_outbox_items",
			schema: `CREATE TABLE order_outbox_items (id bigserial PRIMARY KEY, uuid uuid NOT NULL, event_name varchar NOT NULL,
				event_key varchar NOT NULL, bucket integer NOT NULL, status integer NOT NULL DEFAULT 0, options jsonb, payload bytea NOT NULL,
				errors_count integer NOT NULL DEFAULT 0, error_log text, processed_at timestamp(6), created_at timestamp(6) NOT NULL,
				updated_at timestamp(6) NOT NULL);
				CREATE UNIQUE INDEX ON order_outbox_items (uuid);
				CREATE INDEX ON order_outbox_items (status, bucket, errors_count);
				CREATE INDEX ON order_outbox_items (event_key, id)`,
			insert: `INSERT INTO order_outbox_items (uuid, event_name, event_key, bucket, options, payload, created_at, updated_at)
				VALUES ($1, 'placed', $2, 3, '{"headers": {"trace": "t"}}', $3, now() AT TIME ZONE 'UTC', now() AT TIME ZONE 'UTC')`,
			finish: `UPDATE order_outbox_items SET status = 2, processed_at = now() WHERE uuid = $1`,
			give:   giveBytes, topic: "outbox", typ: "placed", headers: `{"trace":"t"}`,
		},
		// The table of velmie/outbox 0.1, which is for MySQL, with the types that PostgreSQL has for the same.
		"velmie": {
			from: "velmie", table: "outbox",
			schema: `CREATE TABLE outbox (id uuid PRIMARY KEY, aggregate_type varchar(128) NOT NULL, aggregate_id varchar(128) NOT NULL,
				event_type varchar(128) NOT NULL, payload json NOT NULL, headers json, status smallint NOT NULL DEFAULT 0,
				attempt_count integer NOT NULL DEFAULT 0, last_error varchar(1024), created_at timestamptz(6) NOT NULL DEFAULT now(),
				updated_at timestamptz(6) NOT NULL DEFAULT now(), processed_at timestamptz(6));
				CREATE INDEX ON outbox (status, id)`,
			insert: `INSERT INTO outbox (id, aggregate_type, aggregate_id, event_type, payload, headers)
				VALUES ($1, 'orders', $2, 'placed', $3, '{"trace":"t"}')`,
			finish: `UPDATE outbox SET status = 1, processed_at = now() WHERE id = $1`,
			give:   giveText, topic: "orders", typ: "placed", headers: `{"trace":"t"}`,
		},
		// The table of pkritiotis/go-outbox's example, which is for MySQL, too.
		"go-outbox": {
			from: "go-outbox", table: "outbox",
			schema: `CREATE TABLE outbox (id varchar(100) NOT NULL, data bytea NOT NULL, state integer NOT NULL, created_on timestamp NOT NULL,
				locked_by varchar(100), locked_on timestamp, processed_on timestamp, number_of_attempts integer NOT NULL,
				last_attempted_on timestamp, error varchar(1000))`,
			insert: `INSERT INTO outbox (id, data, state, created_on, number_of_attempts) VALUES ($1, $2, 0, clock_timestamp() AT TIME ZONE 'UTC', 0)`,
			finish: `UPDATE outbox SET state = 1, processed_on = now() WHERE id = $1`,
			give:   giveGob, topic: "orders", headers: `{"trace":"t"}`, opaque: true,
		},
		// The usual schema of watermill-sql 3 and 4: offsets of consumer groups.
		"watermill": {
			from: "watermill", table: "watermill_orders", flags: []string{"--column", "key=metadata.customer"},
			schema: `CREATE TABLE watermill_orders ("offset" bigserial, uuid varchar(36) NOT NULL, created_at timestamp NOT NULL DEFAULT now(),
				payload json, metadata json, transaction_id xid8 NOT NULL, PRIMARY KEY (transaction_id, "offset"));
				CREATE TABLE watermill_offsets_orders (consumer_group varchar(255) NOT NULL, offset_acked bigint,
				last_processed_transaction_id xid8 NOT NULL, PRIMARY KEY (consumer_group))`,
			insert: `INSERT INTO watermill_orders (uuid, payload, metadata, transaction_id)
				VALUES ($1, $3, json_build_object('customer', $2::text), pg_current_xact_id())`,
			finish: `INSERT INTO watermill_offsets_orders SELECT '', "offset", transaction_id FROM watermill_orders WHERE uuid = $1
				ON CONFLICT (consumer_group) DO UPDATE SET offset_acked = EXCLUDED.offset_acked,
				last_processed_transaction_id = EXCLUDED.last_processed_transaction_id`,
			give: giveText, topic: "orders", headers: `{"customer":"KEY"}`,
		},
		// The schema for queues of watermill-sql 4.1, with payloads of bytes.
		"watermill queue": {
			from: "watermill", table: "watermill_orders.placed", flags: []string{"--key", "all"},
			schema: `CREATE TABLE "watermill_orders.placed" ("offset" serial PRIMARY KEY, uuid varchar(36) NOT NULL, payload bytea,
				metadata json, acked boolean NOT NULL DEFAULT false, created_at timestamptz NOT NULL DEFAULT now())`,
			insert: `INSERT INTO "watermill_orders.placed" (uuid, payload, metadata) VALUES ($1, $2, 'null')`,
			finish: `UPDATE "watermill_orders.placed" SET acked = true WHERE uuid = $1`,
			give:   func(id, _ string, payload []byte) []any { return []any{id, payload} }, topic: "orders.placed", keyless: true,
		},
	}
}

// onEachForeign runs a test for each original, in a database of its own.
func onEachForeign(t *testing.T, f func(t *testing.T, x *adoption)) {
	t.Helper()
	for name, o := range foreigns() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, newAdoption(t, o))
		})
	}
}

// uuidOf is the id of the nth row.
func uuidOf(n int) string { return fmt.Sprintf("01900000-0000-7000-8000-%012x", n) }

func (o *foreign) wantHeaders(key string) string { return strings.ReplaceAll(o.headers, "KEY", key) }

package adopt_test

import (
	"bytes"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/postbag/postbag/cmd/postbag/internal/adopt"
)

// foreign is an outbox table of another project, with the columns, types and keys
// that its own migration makes on MySQL, written again.
type foreign struct {
	options adopt.Options
	schema  []string
	// insert writes a row as the project's code does, with what give makes of the id,
	// the key and the payload.
	insert string
	give   func(id, key, payload string) []any
	// finish marks a row as delivered, by the first of what give makes.
	finish              string
	topic, typ, headers string
	keyless, opaque     bool
}

func plain(id, key, payload string) []any { return []any{id, key, payload} }

func binary(id, key, payload string) []any {
	raw, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	if err != nil {
		panic(err) // ids are the tests' own
	}
	return []any{raw, key, payload}
}

func letter(id, key, payload string) []any {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(struct {
		Key     string
		Headers map[string]string
		Body    []byte
		Topic   string
	}{key, map[string]string{"trace": "t"}, []byte(payload), "orders"})
	if err != nil {
		panic(err) // of a struct of strings there is none
	}
	return []any{id, b.Bytes()}
}

// foreigns are the originals on MySQL and MariaDB.
func foreigns() map[string]*foreign {
	return map[string]*foreign{
		// Debezium's outbox event router, over MySQL, with a time.
		"debezium": {
			options: adopt.Options{From: "debezium", Table: "outbox", All: true},
			schema: []string{`CREATE TABLE outbox (id CHAR(36) NOT NULL PRIMARY KEY, aggregatetype VARCHAR(255) NOT NULL, aggregateid VARCHAR(255) NOT NULL,
				type VARCHAR(255) NOT NULL, payload JSON, created_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6))`},
			insert: `INSERT INTO outbox (id, aggregatetype, aggregateid, type, payload) VALUES (?, 'orders', ?, 'placed', ?)`,
			give:   plain, topic: "orders", typ: "placed",
		},
		// The migration that sbmt-outbox 6 generates for MySQL, where its payload is a mediumblob.
		"sbmt-outbox": {
			options: adopt.Options{From: "sbmt-outbox", Table: "order_outbox_items", Topic: "orders"},
			schema: []string{`CREATE TABLE order_outbox_items (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, uuid VARCHAR(36) NOT NULL, event_name VARCHAR(255) NOT NULL,
				event_key VARCHAR(255) NOT NULL, bucket INT NOT NULL, status INT NOT NULL DEFAULT 0, options JSON, payload MEDIUMBLOB NOT NULL,
				errors_count INT NOT NULL DEFAULT 0, error_log TEXT, processed_at DATETIME(6), created_at DATETIME(6) NOT NULL, updated_at DATETIME(6) NOT NULL,
				UNIQUE (uuid), KEY (status, bucket, errors_count), KEY (event_key, id))`},
			insert: `INSERT INTO order_outbox_items (uuid, event_name, event_key, bucket, options, payload, created_at, updated_at)
				VALUES (?, 'placed', ?, 3, '{"headers": {"trace": "t"}}', ?, NOW(6), NOW(6))`,
			give: plain, finish: `UPDATE order_outbox_items SET status = 2 WHERE uuid = ?`, topic: "orders", typ: "placed", headers: `{"trace": "t"}`,
		},
		// The table of velmie/outbox 0.1, which is for MySQL, with payloads of bytes.
		"velmie": {
			options: adopt.Options{From: "velmie", Table: "outbox"},
			schema: []string{
				`CREATE TABLE outbox (id BINARY(16) NOT NULL, aggregate_type VARCHAR(128) NOT NULL, aggregate_id VARCHAR(128) NOT NULL,
				event_type VARCHAR(128) NOT NULL, payload LONGBLOB NOT NULL, headers JSON NULL, status SMALLINT NOT NULL DEFAULT 0,
				attempt_count INT NOT NULL DEFAULT 0, last_error VARCHAR(1024) NULL, created_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
				updated_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), processed_at TIMESTAMP(6) NULL,
				created_ts BIGINT GENERATED ALWAYS AS (CONV(SUBSTR(HEX(id), 1, 12), 16, 10) DIV 1000) STORED, KEY idx_status_id (status, id))`,
				`ALTER TABLE outbox ADD PRIMARY KEY (id, created_ts)`,
			},
			insert: `INSERT INTO outbox (id, aggregate_type, aggregate_id, event_type, payload, headers) VALUES (?, 'orders', ?, 'placed', ?, '{"trace": "t"}')`,
			give:   binary, finish: `UPDATE outbox SET status = 1 WHERE id = ?`, topic: "orders", typ: "placed", headers: `{"trace": "t"}`,
		},
		// The table of pkritiotis/go-outbox's example: without a key.
		"go-outbox": {
			options: adopt.Options{From: "go-outbox", Table: "outbox", Columns: map[adopt.Role]adopt.Source{adopt.RoleOrder: {Column: "id"}}},
			schema: []string{`CREATE TABLE outbox (id VARCHAR(100) NOT NULL, data BLOB NOT NULL, state INT NOT NULL, created_on DATETIME NOT NULL,
				locked_by VARCHAR(100) NULL, locked_on DATETIME NULL, processed_on DATETIME NULL, number_of_attempts INT NOT NULL,
				last_attempted_on DATETIME NULL, error VARCHAR(1000) NULL)`},
			insert: `INSERT INTO outbox (id, data, state, created_on, number_of_attempts) VALUES (?, ?, 0, UTC_TIMESTAMP(), 0)`,
			give:   letter, finish: `UPDATE outbox SET state = 1 WHERE id = ?`, topic: "orders", headers: `{"trace": "t"}`, opaque: true,
		},
		// The usual schema of watermill-sql 3 and 4 for MySQL.
		"watermill": {
			options: adopt.Options{
				From: "watermill", Table: "watermill_orders", Group: "billing",
				Columns: map[adopt.Role]adopt.Source{adopt.RoleKey: {Column: "metadata", Member: "customer"}},
			},
			schema: []string{
				"CREATE TABLE watermill_orders (`offset` BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, `uuid` VARCHAR(36) NOT NULL, " +
					"`created_at` TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, `payload` JSON DEFAULT NULL, `metadata` JSON DEFAULT NULL)",
				`CREATE TABLE watermill_offsets_orders (consumer_group VARCHAR(255) NOT NULL, offset_acked BIGINT, offset_consumed BIGINT NOT NULL, PRIMARY KEY (consumer_group))`,
			},
			insert: "INSERT INTO watermill_orders (uuid, metadata, payload) VALUES (?, JSON_OBJECT('customer', ?), ?)",
			give:   plain, topic: "orders", headers: `{"customer": "KEY"}`,
			finish: "INSERT INTO watermill_offsets_orders SELECT 'billing', `offset`, `offset` FROM watermill_orders WHERE uuid = ? " +
				"ON DUPLICATE KEY UPDATE offset_acked = watermill_orders.`offset`",
		},
		// The schema for queues of watermill-sql 4.1.
		"watermill queue": {
			options: adopt.Options{From: "watermill", Table: "watermill_orders.placed", Key: "all"},
			schema: []string{"CREATE TABLE `watermill_orders.placed` (`offset` BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, `uuid` VARCHAR(36) NOT NULL, " +
				"`payload` LONGBLOB DEFAULT NULL, `metadata` JSON DEFAULT NULL, `acked` BOOLEAN NOT NULL DEFAULT FALSE, " +
				"`created_at` TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP)"},
			insert: "INSERT INTO `watermill_orders.placed` (uuid, payload, metadata) VALUES (?, ?, 'null')",
			give:   func(id, _, payload string) []any { return []any{id, payload} }, topic: "orders.placed", keyless: true,
			finish: "UPDATE `watermill_orders.placed` SET acked = TRUE WHERE uuid = ?",
		},
	}
}

func uuidOf(n int) string { return fmt.Sprintf("01900000-0000-7000-8000-%012x", n) }

func keyOf(n int) string { return fmt.Sprintf("customer-%d", n%7) }

func payloadOf(n int) string { return fmt.Sprintf(`{"n": %d, "text": "größe \\ ' \""}`, n) }

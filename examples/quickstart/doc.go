// Command quickstart is the README's program: an order and its message in one
// transaction, and a relay in the same process that delivers it to NATS JetStream.
//
// It reads DATABASE_URL and NATS_URL, and expects a stream that takes "orders.>"
// and a table orders (id bigint, total bigint):
//
//	psql "$DATABASE_URL" -c 'create table orders (id bigint, total bigint)'
//	nats stream add ORDERS --subjects 'orders.>' --defaults
package main

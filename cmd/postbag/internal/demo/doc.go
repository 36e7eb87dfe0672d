// Package demo shows what Postbag does, on one machine and with nothing to install. A
// shop commits orders together with their messages. A relay process delivers them to an
// in-process NATS JetStream server, and a consumer checks what arrives. The database is
// SQLite, or a private PostgreSQL server if the machine has its programs. Meanwhile the
// demo kills the relay twice without warning, and restarts the broker. At the end it
// prints a table: what was committed, what arrived, and what is lost, out of sequence or
// there twice.
//
// On the other side a billing service takes the orders from the stream, and applies each
// once to a SQLite database of its own. It is killed twice, too.
package demo

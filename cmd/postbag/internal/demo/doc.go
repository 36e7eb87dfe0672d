// Package demo is the job of Postbag in small, on one machine and with nothing to
// install: a shop commits orders together with their messages, a relay process
// delivers them to an in-process NATS JetStream server, and a consumer checks
// what arrives. The database is SQLite, or a private PostgreSQL server if the
// machine has its programs. Meanwhile the relay is killed twice without warning and the
// broker is restarted. At the end stands a table: what was committed, what
// arrived, what is lost, out of order, or there twice.
package demo

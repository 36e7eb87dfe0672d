// Package interop lets consumers by other authors read what Postbag's destinations send,
// in every format: confluent-kafka, pika, nats-py, redis-py, the CloudEvents SDK for
// Python, and Kafka's console consumer. It also has a receiver take in what others send: the
// CloudEvents SDK, and Debezium's outbox event router. It has tests only. "make interop"
// installs those programs and runs the tests.
package interop

// Package interop lets consumers by other authors read what Postbag's destinations send,
// in every format: confluent-kafka, pika, nats-py, redis-py, the CloudEvents SDK for
// Python, and Kafka's console consumer. It has tests only. "make interop" installs the
// consumers and runs the tests.
package interop

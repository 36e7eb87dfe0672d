// Package interop has consumers that others wrote read what Postbag's destinations
// send, in every format: confluent-kafka, pika, nats-py, redis-py, the CloudEvents
// SDK for Python, and Kafka's console consumer. It has tests only; "make interop"
// brings the consumers and runs them.
package interop

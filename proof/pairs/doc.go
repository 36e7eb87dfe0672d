// Package pairs puts two pairs of store and destination through every fault in one run: MariaDB to Kafka, and MySQL to RabbitMQ.
// It kills and freezes relays, and kills the database and the broker, while sixteen writers commit and roll back in two isolation
// levels. Then it compares what the writers know to be committed with what the broker holds. It runs in a short form by default
// and in full with POSTBAG_FULL=1.
package pairs

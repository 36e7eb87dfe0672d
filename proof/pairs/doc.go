// Package pairs lets two pairs of store and destination, MariaDB to Kafka and MySQL to RabbitMQ, go through every fault in one run: relays
// are killed and frozen, the database and the broker are killed, while sixteen writers commit and roll back in two isolation
// levels. What the writers know to be committed is compared with what lies in the broker. It runs in a short form by
// default and in full with POSTBAG_FULL=1.
package pairs

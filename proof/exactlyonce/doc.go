// Package exactlyonce delivers from PostgreSQL to Kafka in transactions, by relays in processes of their own that are
// killed, and stopped until others have taken over. A consumer of committed messages must see each once.
package exactlyonce

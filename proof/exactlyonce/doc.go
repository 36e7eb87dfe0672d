// Package exactlyonce delivers from PostgreSQL to Kafka in transactions. The relays are processes of their own. The tests
// kill them, and stop them until others have taken over. A consumer of committed messages must see each message once.
package exactlyonce

package adapters

import "github.com/postbag/postbag/proof/chaos"

// Stores are all stores of Postbag that a process can have to itself.
func Stores() []chaos.Store {
	return []chaos.Store{Postgres{}, Postgres{Pooled: true}, SQLite{}, MySQL{}, MySQL{MariaDB: true}}
}

// Brokers are its brokers.
func Brokers() []chaos.Broker {
	return []chaos.Broker{NATS{}, Webhook{}, Kafka{}, Kafka{Once: true}, RabbitMQ{}, RabbitMQ{Stream: true}, Redis{}, MQTT{}, Watermill{}}
}

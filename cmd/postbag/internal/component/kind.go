package component

import (
	"context"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
	"github.com/postbag/postbag/store/pgstore"
	"github.com/postbag/postbag/store/sqlitestore"
)

// storeKind is one row of the table of stores.
type storeKind struct {
	config.Kind

	module string
	open   func(ctx context.Context, dsn string, o StoreOptions) (*Store, error)
	// read opens a replica; nil: the kind has none.
	read func(ctx context.Context, dsn string, o StoreOptions) (*Reader, error)
	// script returns the SQL of the schema and of boxes.
	script scriptOf
}

// scriptOf returns the SQL of a kind's schema and of boxes: see Script.
type scriptOf func(partition time.Duration, slots map[string]store.SlotRule, boxes ...string) ([]store.Step, error)

// storeKinds are the kinds of stores that this program holds.
func storeKinds() []storeKind {
	return []storeKind{
		{
			Kind:   config.Kind{Name: "postgresql", Schemes: []string{"postgres://", "postgresql://"}, Settings: []string{"replica"}},
			module: "github.com/postbag/postbag/store/pgstore", open: openPostgres, read: readPostgres, script: undivided(pgstore.Script),
		},
		{
			Kind:   config.Kind{Name: "mysql", Schemes: []string{"mysql://"}, Settings: []string{"partition", "replica"}},
			module: "github.com/postbag/postbag/store/mysqlstore", open: openMySQL, read: readMySQL, script: mysqlstore.Script,
		},
		{
			Kind:   config.Kind{Name: "mariadb", Schemes: []string{"mariadb://"}, Settings: []string{"partition", "replica"}},
			module: "github.com/postbag/postbag/store/mysqlstore", open: openMySQL, read: readMySQL, script: mysqlstore.Script,
		},
		{
			Kind:   config.Kind{Name: "sqlite", Schemes: []string{"sqlite:", "file:"}},
			module: "github.com/postbag/postbag/store/sqlitestore", open: openSQLite, script: undivided(sqlitestore.Script),
		},
	}
}

// destinationKind is one row of the tables of destinations and sources.
type destinationKind struct {
	config.Kind

	module string
}

// destinationKinds are the kinds of destinations that this program holds.
func destinationKinds() []destinationKind {
	const root = "github.com/postbag/postbag"
	return []destinationKind{
		{kind(func() *NATS { return new(NATS) }, "nats", "nats://", "tls://", "ws://", "wss://"), root + "/broker/natsbroker"},
		{kind(func() *Kafka { return new(Kafka) }, "kafka", "kafka://"), root + "/broker/kafkabroker"},
		{kind(func() *RabbitMQ { return new(RabbitMQ) }, "rabbitmq", "amqp://", "amqps://"), root + "/broker/rabbitbroker"},
		{kind(func() *Redis { return new(Redis) }, "redis", "redis://", "rediss://"), root + "/broker/redisbroker"},
		{kind(func() *MQTT { return new(MQTT) }, "mqtt", "mqtt://", "mqtts://"), root + "/broker/mqttbroker"},
		{kind(func() *Webhook { return new(Webhook) }, "webhook", "https://", "http://"), root},
		{kind(func() *Stdout { return new(Stdout) }, "stdout", "stdout:"), root},
	}
}

// kind is a kind of destination whose URLs begin with one of schemes.
func kind[S opener](zero func() S, name string, schemes ...string) config.Kind {
	return config.Kind{Name: name, Schemes: schemes, New: func() config.Settings { return zero() }}
}

// sourceKinds are the kinds of sources that this program holds.
func sourceKinds() []destinationKind {
	const root = "github.com/postbag/postbag"
	return []destinationKind{
		{sourceKind(func() *NATSSource { return new(NATSSource) }, "nats"), root + "/broker/natsbroker"},
		{sourceKind(func() *KafkaSource { return new(KafkaSource) }, "kafka"), root + "/broker/kafkabroker"},
		{sourceKind(func() *RabbitMQSource { return new(RabbitMQSource) }, "rabbitmq"), root + "/broker/rabbitbroker"},
		{sourceKind(func() *RedisSource { return new(RedisSource) }, "redis"), root + "/broker/redisbroker"},
		{sourceKind(func() *MQTTSource { return new(MQTTSource) }, "mqtt"), root + "/broker/mqttbroker"},
		{sourceKind(func() *WebhookSource { return new(WebhookSource) }, "webhook"), root},
	}
}

// sourceKind is a kind of source.
func sourceKind[S sourceOpener](zero func() S, name string) config.Kind {
	return config.Kind{Name: name, New: func() config.Settings { return zero() }}
}

// Kinds returns the kinds of components, for checking a configuration.
func Kinds() config.Kinds {
	var k config.Kinds
	for _, one := range storeKinds() {
		k.Stores = append(k.Stores, one.Kind)
	}
	for _, one := range destinationKinds() {
		k.Destinations = append(k.Destinations, one.Kind)
	}
	for _, one := range sourceKinds() {
		k.Sources = append(k.Sources, one.Kind)
	}
	return k
}

// StoreKinds returns the names of the kinds of stores.
func StoreKinds() (names []string) {
	for _, k := range storeKinds() {
		names = append(names, k.Name)
	}
	return names
}

// Schemes returns what URLs of destinations begin with.
func Schemes() (all []string) {
	for _, k := range destinationKinds() {
		all = append(all, k.Schemes...)
	}
	return all
}

// Component is one of the parts of this program.
type Component struct {
	// What is "store", "destination" or "source".
	What string `json:"what"`
	// Kind is its name in a configuration.
	Kind string `json:"kind"`
	// Module is the Go module that it comes from.
	Module string `json:"module"`
}

// List returns all components, stores first.
func List() []Component {
	var out []Component
	for _, k := range storeKinds() {
		out = append(out, Component{"store", k.Name, k.module})
	}
	for _, k := range destinationKinds() {
		out = append(out, Component{"destination", k.Name, k.module})
	}
	for _, k := range sourceKinds() {
		out = append(out, Component{"source", k.Name, k.module})
	}
	return out
}

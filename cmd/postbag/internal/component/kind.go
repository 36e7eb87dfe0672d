package component

import (
	"context"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/console"
	"github.com/postbag/postbag/mysqlstore"
	"github.com/postbag/postbag/pgstore"
	"github.com/postbag/postbag/sqlitestore"
	"github.com/postbag/postbag/store"
)

// storeKind is one row of the table of stores.
type storeKind struct {
	config.Kind

	module string
	open   func(ctx context.Context, dsn string, o StoreOptions) (*Store, error)
	// script returns the SQL of the schema and of boxes.
	script func(partition time.Duration, boxes ...string) ([]store.Step, error)
}

// storeKinds are the kinds of stores that this program holds.
func storeKinds() []storeKind {
	return []storeKind{
		{
			Kind:   config.Kind{Name: "postgresql", Schemes: []string{"postgres://", "postgresql://"}},
			module: "github.com/postbag/postbag/pgstore", open: openPostgres, script: undivided(pgstore.Script),
		},
		{
			Kind:   config.Kind{Name: "mysql", Schemes: []string{"mysql://"}, Settings: []string{"partition"}},
			module: "github.com/postbag/postbag/mysqlstore", open: openMySQL, script: mysqlstore.Script,
		},
		{
			Kind:   config.Kind{Name: "mariadb", Schemes: []string{"mariadb://"}, Settings: []string{"partition"}},
			module: "github.com/postbag/postbag/mysqlstore", open: openMySQL, script: mysqlstore.Script,
		},
		{
			Kind:   config.Kind{Name: "sqlite", Schemes: []string{"sqlite:", "file:"}},
			module: "github.com/postbag/postbag/sqlitestore", open: openSQLite, script: undivided(sqlitestore.Script),
		},
	}
}

// destinationKind is one row of the table of destinations.
type destinationKind struct {
	config.Kind

	module string
	// open opens a destination without waiting for its server. With dry it only
	// looks whether it could, and returns nil.
	open func(ctx context.Context, d *config.Destination, url string, c *console.Console, dry bool) (broker.Destination, error)
}

// destinationKinds are the kinds of destinations that this program holds.
func destinationKinds() []destinationKind {
	return []destinationKind{
		{
			Kind: config.Kind{Name: "nats", Schemes: []string{"nats://", "tls://", "ws://", "wss://"}, Settings: []string{
				"stream", "prefix", "user_env", "password_env", "password_file", "token_env", "token_file",
				"credentials_file", "nkey_file", "ca_file", "cert_file", "key_file", "client_name", "max_pending", "pass_headers", "recheck",
			}},
			module: "github.com/postbag/postbag/natsbroker", open: openNATS,
		},
		{
			Kind: config.Kind{Name: "kafka", Schemes: []string{"kafka://"}, Settings: []string{
				"prefix", "compression", "linger", "batch_bytes", "send_time", "create", "transactions", "recheck", "mechanism", "tls",
				"user_env", "password_env", "password_file", "ca_file", "cert_file", "key_file", "client_name",
			}},
			module: "github.com/postbag/postbag/kafkabroker", open: openKafka,
		},
		{
			Kind: config.Kind{Name: "rabbitmq", Schemes: []string{"amqp://", "amqps://"}, Settings: []string{
				"exchange", "routing_key", "vhost", "topology", "channels", "retries", "heartbeat", "max_pending", "max_bytes",
				"user_env", "password_env", "password_file", "external", "ca_file", "cert_file", "key_file", "client_name",
			}},
			module: "github.com/postbag/postbag/rabbitbroker", open: openRabbitMQ,
		},
		{
			Kind: config.Kind{Name: "redis", Schemes: []string{"redis://", "rediss://"}, Settings: []string{
				"prefix", "shards", "existing", "fence", "epoch", "replicas", "replica_wait", "max_len", "max_age", "exact_trim", "max_bytes",
				"primary", "cluster", "sentinel_user_env", "sentinel_password_env", "sentinel_password_file",
				"user_env", "password_env", "password_file", "ca_file", "cert_file", "key_file", "client_name",
			}},
			module: "github.com/postbag/postbag/redisbroker", open: openRedis,
		},
		{
			Kind: config.Kind{Name: "mqtt", Schemes: []string{"mqtt://", "mqtts://"}, Settings: []string{
				"topic", "qos", "retain", "unheard", "max_pending", "keep_alive", "client_id",
				"user_env", "password_env", "password_file", "ca_file", "cert_file", "key_file",
			}},
			module: "github.com/postbag/postbag/mqttbroker", open: openMQTT,
		},
		{
			Kind: config.Kind{Name: "webhook", Schemes: []string{"https://", "http://"}, Settings: []string{
				"secrets_env", "secrets_file", "content_type", "allow_private", "timeout", "ca_file",
			}},
			module: "github.com/postbag/postbag", open: openWebhook,
		},
		{
			Kind:   config.Kind{Name: "stdout", Schemes: []string{"stdout:"}, NoPlace: true},
			module: "github.com/postbag/postbag", open: openStdout,
		},
	}
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
	// What is "store" or "destination".
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
	return out
}

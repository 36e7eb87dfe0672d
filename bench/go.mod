module github.com/postbag/postbag/bench

go 1.26.0

require (
	github.com/jackc/pgx/v5 v5.12.0
	github.com/nats-io/nats.go v1.55.0
	github.com/postbag/postbag v0.0.0
	github.com/postbag/postbag/kafkabroker v0.0.0-00010101000000-000000000000
	github.com/postbag/postbag/natsbroker v0.0.0-00010101000000-000000000000
	github.com/postbag/postbag/pgstore v0.0.0-00010101000000-000000000000
	github.com/postbag/postbag/rabbitbroker v0.0.0-00010101000000-000000000000
	github.com/postbag/postbag/redisbroker v0.0.0-00010101000000-000000000000
	github.com/rabbitmq/amqp091-go v1.16.0
	github.com/redis/go-redis/v9 v9.23.0
	github.com/twmb/franz-go v1.22.2
	github.com/twmb/franz-go/pkg/kadm v1.19.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/nats-io/nkeys v0.4.16 // indirect
	github.com/nats-io/nuid v1.0.1 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	github.com/twmb/franz-go/pkg/kmsg v1.15.0 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace (
	github.com/postbag/postbag => ../
	github.com/postbag/postbag/kafkabroker => ../kafkabroker
	github.com/postbag/postbag/mysqlstore => ../mysqlstore
	github.com/postbag/postbag/natsbroker => ../natsbroker
	github.com/postbag/postbag/pgstore => ../pgstore
	github.com/postbag/postbag/rabbitbroker => ../rabbitbroker
	github.com/postbag/postbag/redisbroker => ../redisbroker
)

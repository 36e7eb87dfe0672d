// Package testserver runs real servers, privately, for tests, benchmarks and the demo.
//
// Each server is a child process on a free port of 127.0.0.1 with a data directory of its own. A test of faults can stop,
// kill, freeze and restart it without harm to anything else on the machine:
//
//	pg, err := testserver.StartPostgres(ctx, testserver.PostgresOptions{})
//	if err != nil {
//		return err
//	}
//	defer pg.Close()
//	db := pg.DSN("postgres")
//	...
//	err = pg.Kill(ctx)  // like kill -9 of the server
//	err = pg.Start(ctx) // the same data, the same port
//
// There are:
//
//   - [Postgres]: PostgreSQL from the machine's own packages. [StartStandby] adds a streaming standby that can be
//     promoted, [StartPgBouncer] a pooler in transaction mode.
//   - [MySQL]: MariaDB from the machine's own packages, or MySQL 9, which scripts/setup unpacks beside them.
//   - [NATS]: a NATS server with JetStream, built from this repository (proof/cmd/natsd), as a process of its own.
//   - [RabbitMQ]: a RabbitMQ node from the machine's package, with a port mapper of its own, TLS and a memory alarm on demand.
//   - [Redis]: Redis from the machine's own packages, alone, as a replica, as a cluster ([StartRedisCluster]) or watched by a
//     sentinel ([StartRedisSentinel]).
//   - [Kafka]: Kafka, one node or three, which scripts/jars kafka downloads, and its own tools.
//   - [Mosquitto]: an MQTT 5 broker from the machine's own packages, with users, rights and TLS.
//   - [Chromium]: a browser without a window, from the machine's own packages, which tests of pages drive.
//   - [Program]: any program, such as a role of the test itself.
//   - [Proxy]: a TCP proxy that can cut, refuse, hold and delay connections, and cut one right after given bytes passed.
//   - [Tmpfs]: a small file system, to see what happens when the disk is full.
//
// A server that is not installed is a [MissingError]. Tests use the package servertest, which turns that into a skip on
// a laptop and a failure in continuous integration.
//
// No server outlives the process that started it, even if that process is killed without warning. On Linux the kernel
// ends the servers with their parent, and a guardian (a waiting shell) then removes their files. On other systems only
// Close does.
//
// The package imports only the standard library. It talks to PostgreSQL through psql.
package testserver

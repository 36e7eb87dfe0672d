// Command inbox has two services that share nothing but a broker. The service orders saves
// orders and publishes their messages from its outbox. The service billing takes the messages
// in and writes an invoice for each, once, in a database of its own.
//
//	go run ./inbox
//
// It brings its NATS JetStream server, and the databases are SQLite files in a temporary
// folder, so it needs nothing else. In your program each service is a process of its own.
package main

package main

import (
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

func TestTransactionsOfKafkaAreChecked(t *testing.T) {
	t.Setenv("POSTBAG_TEST_DSN", "postgres://127.0.0.1/none")
	file := func(transactions string) string {
		return write(t, "postbag.yaml", "store: {dsn_env: POSTBAG_TEST_DSN}\ndestinations:\n  there: {kafka: {url: 'kafka://127.0.0.1:9092', transactions: "+
			transactions+"}}\nsubscriptions: [{exactly_once: true}]\n")
	}
	cli(t, "config", "check", "-c", file("{}")).ok().says("is right")
	cli(t, "config", "check", "-c", file("{topic: lanes, replicas: 3, timeout: 20s}")).ok().says("is right")
	cli(t, "config", "check", "-c", file("{topic: 'a b', replicas: -1, timeout: 1ms}")).ends(exit.Usage,
		"transactions.topic", "transactions.replicas is", "transactions.timeout is")
}

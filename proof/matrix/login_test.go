package matrix

import (
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/proof/internal/daemon"
)

// A daemon whose Kafka wants a login that it does not have says so: of which destination, what is wrong, and what fixes it.
func TestADaemonWithoutALoginNamesTheDestinationThatNeedsOne(t *testing.T) {
	t.Parallel()
	kafka := servertest.Kafka(t, testserver.KafkaOptions{Secure: true})
	b := onSQLite(t)
	if err := b.write(t.Context(), true, []postbag.Message{{ID: postbag.NewID(), Topic: "t"}}); err != nil {
		t.Fatal(err)
	}
	process := daemon.Start(t, "stranger", "store: {dsn_env: POSTBAG_DSN}\ndestinations:\n"+
		"  there: {kafka: {url: 'kafka://"+strings.Join(kafka.SASLPlaintext(), ",")+"', transactions: {}}}\n"+
		"subscriptions: [{name: plain, to: there}, {name: once, to: there, exactly_once: true}]\n", "POSTBAG_DSN="+b.dsn)
	process.Ready()
	for _, name := range []string{"plain", "once"} {
		line := "subscription=outbox/" + name + " to=there " +
			`error="kafkabroker: the broker hangs up on the first request; check whether its listener expects TLS, a login`
		for until := time.Now().Add(patience); process.Lines(line) == 0; <-time.After(5 * time.Millisecond) { // reminders come once a minute
			if time.Now().After(until) {
				t.Fatalf("it does not say: %s", line)
			}
		}
	}
	process.Stop()
}

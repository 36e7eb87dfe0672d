package testserver_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// tool runs one of Kafka's own tools against a broker, again until it succeeds: a node answers some questions only a
// moment after its port is open.
func tool(t *testing.T, k *testserver.Kafka, input, class string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		once, cancel := context.WithTimeout(ctx, 40*time.Second)
		out, err := k.Run(once, input, class, append(args, "--bootstrap-server", strings.Join(k.Brokers(), ","))...)
		cancel()
		if err == nil {
			return out
		}
		if ctx.Err() != nil {
			t.Fatalf("%s: %v", class, err)
		}
	}
}

const (
	topicCommand    = "org.apache.kafka.tools.TopicCommand"
	consoleProducer = "org.apache.kafka.tools.ConsoleProducer"
	consoleConsumer = "org.apache.kafka.tools.consumer.ConsoleConsumer"
)

func TestKafkaKeepsItsDataOverAKill(t *testing.T) {
	t.Parallel()
	k := servertest.Kafka(t, testserver.KafkaOptions{})
	tool(t, k, "", topicCommand, "--create", "--if-not-exists", "--topic", "made", "--partitions", "1")
	tool(t, k, "one\ntwo\n", consoleProducer, "--topic", "made")
	address := k.Brokers()[0]
	if err := k.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if k.Nodes()[0].Running() {
		t.Error("it runs after a kill")
	}
	if err := k.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if k.Brokers()[0] != address {
		t.Errorf("it came back at %s, was at %s", k.Brokers()[0], address)
	}
	out := tool(t, k, "", consoleConsumer, "--topic", "made", "--from-beginning", "--max-messages", "2", "--timeout-ms", "30000")
	if out != "one\ntwo\n" {
		t.Errorf("it holds %q", out)
	}
}

func TestKafkaOfThreeNodesReplicates(t *testing.T) {
	t.Parallel()
	k := servertest.Kafka(t, testserver.KafkaOptions{Nodes: 3})
	tool(t, k, "", topicCommand, "--create", "--if-not-exists", "--topic", "made", "--partitions", "3")
	if err := k.Nodes()[0].Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	out := tool(t, k, "", topicCommand, "--describe", "--topic", "made")
	if !strings.Contains(out, "ReplicationFactor: 3") || !strings.Contains(out, "min.insync.replicas=2") {
		t.Errorf("the topic is %s", out)
	}
}

func TestASecureKafkaDemandsACertificateThatItsAuthoritySigned(t *testing.T) {
	t.Parallel()
	k := servertest.Kafka(t, testserver.KafkaOptions{Secure: true})
	ca, err := os.ReadFile(k.CAFile())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	pair, err := tls.LoadX509KeyPair(k.ClientCertFile(), k.ClientKeyFile())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		address string
		config  *tls.Config
		works   bool
	}{
		"a login's listener, without one": {k.SASLSSL()[0], &tls.Config{RootCAs: roots}, true},
		"unknown authority":               {k.SASLSSL()[0], &tls.Config{}, false},
		"with a certificate":              {k.SSL()[0], &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}}, true},
		"without a certificate":           {k.SSL()[0], &tls.Config{RootCAs: roots}, false},
	} {
		if err := handshake(c.address, c.config); (err == nil) != c.works {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// handshake connects and reads: by TLS 1.3 a server complains of a certificate only after the client is done.
func handshake(address string, config *tls.Config) error {
	conn, err := tls.Dial("tcp", address, config)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return err
	}
	request := []byte{0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 7, 255, 255} // which versions it knows
	if _, err := conn.Write(request); err != nil {
		return err
	}
	answer := make([]byte, 8)
	if _, err := conn.Read(answer); err != nil {
		return err
	}
	if answer[7] != 7 {
		return fmt.Errorf("the answer is %v", answer)
	}
	return nil
}

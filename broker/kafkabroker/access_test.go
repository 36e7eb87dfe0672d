package kafkabroker_test

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
)

// trusting is a TLS configuration that accepts the server's certificate.
func trusting(t testing.TB, k *testserver.Kafka) *tls.Config {
	t.Helper()
	text, err := os.ReadFile(k.CAFile())
	must(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// mutual is one that shows a client certificate too.
func mutual(t testing.TB, k *testserver.Kafka) *tls.Config {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(k.ClientCertFile(), k.ClientKeyFile())
	must(t, err)
	config := trusting(t, k)
	config.Certificates = []tls.Certificate{pair}
	return config
}

func login(mechanism string) kafkabroker.Login {
	return kafkabroker.Login{Mechanism: mechanism, User: testserver.KafkaUser, Password: testserver.KafkaUserPassword}
}

// grant gives the user rights on the topic.
func (p place) grant(t testing.TB, operations ...kadm.ACLOperation) {
	t.Helper()
	acl := kadm.NewACLs().Topics(p.topic).ResourcePatternType(kadm.ACLPatternLiteral).
		Allow("User:" + testserver.KafkaUser).AllowHosts("*").Operations(operations...)
	made, err := p.admin.CreateACLs(publishtest.Timeout(t, 30*time.Second), acl)
	must(t, err)
	for _, m := range made {
		must(t, m.Err)
	}
}

func TestEveryKindOfLoginWorks(t *testing.T) {
	t.Parallel()
	k := secureKafka.get(t)
	p := newPlace(t, k.Brokers()).create(t)
	p.grant(t, kadm.OpWrite, kadm.OpDescribeConfigs)
	withTLS := func(l kafkabroker.Login) kafkabroker.Login {
		l.TLS = trusting(t, k)
		return l
	}
	for name, c := range map[string]struct {
		brokers []string
		login   kafkabroker.Login
	}{
		"PLAIN":                  {k.SASLPlaintext(), login(kafkabroker.Plain)},
		"SCRAM-SHA-256":          {k.SASLPlaintext(), login(kafkabroker.ScramSHA256)},
		"SCRAM-SHA-512":          {k.SASLPlaintext(), login(kafkabroker.ScramSHA512)},
		"SCRAM-SHA-512, unsaid":  {k.SASLPlaintext(), login("")},
		"PLAIN with TLS":         {k.SASLSSL(), withTLS(login(kafkabroker.Plain))},
		"SCRAM-SHA-512 with TLS": {k.SASLSSL(), withTLS(login(kafkabroker.ScramSHA512))},
		"a client's certificate": {k.SSL(), kafkabroker.Login{TLS: mutual(t, k)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := publishtest.Closing(t, dial(t, c.brokers, kafkabroker.Options{Login: c.login}))
			if err := d.Probe(publishtest.Timeout(t, 30*time.Second)); err != nil {
				t.Errorf("Probe: %v", err)
			}
			publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, publishtest.Messages(p.topic, 10)...), broker.Accepted, "")
		})
	}
}

// None of these reaches a record's promise: they are found by asking first.
func TestALoginThatIsWrongIsMisconfigured(t *testing.T) {
	t.Parallel()
	k := secureKafka.get(t)
	wrong := login(kafkabroker.ScramSHA256)
	wrong.Password = "canary-wrong-password"
	overTLS := login(kafkabroker.Plain)
	overTLS.TLS = trusting(t, k)
	stranger := overTLS
	stranger.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	named := overTLS
	named.TLS = trusting(t, k)
	named.TLS.ServerName = "another.example"
	for name, c := range map[string]struct {
		brokers []string
		login   kafkabroker.Login
		word    string
	}{
		"SASL_AUTHENTICATION_FAILED, a wrong password": {k.SASLPlaintext(), wrong, "SASL_AUTHENTICATION_FAILED"},
		"no login where one is asked for":              {k.SASLPlaintext(), kafkabroker.Login{}, ""},
		"a login where none is asked for":              {k.Brokers(), login(kafkabroker.Plain), ""},
		"no TLS where it is asked for":                 {k.SASLSSL(), login(kafkabroker.Plain), ""},
		"TLS against a plain listener":                 {k.SASLPlaintext(), overTLS, ""},
		"an unknown authority":                         {k.SASLSSL(), stranger, "certificate is not accepted"},
		"a certificate for another name":               {k.SASLSSL(), named, "certificate is not accepted"},
		"no client's certificate":                      {k.SSL(), kafkabroker.Login{TLS: trusting(t, k)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := publishtest.Closing(t, dial(t, c.brokers, kafkabroker.Options{Login: c.login}))
			results := publishtest.Publish(t, d, 30*time.Second, publishtest.Messages("t", 2)...)
			publishtest.Wants(t, results, broker.Misconfigured, c.word)
			if text := results[0].Err.Error(); strings.Contains(text, "canary") {
				t.Errorf("the error tells a password: %v", text)
			}
			if err := d.Probe(publishtest.Timeout(t, 30*time.Second)); broker.OutcomeOf(err) != broker.Misconfigured {
				t.Errorf("Probe: %v", err)
			}
		})
	}
}

func TestAMechanismThatTheBrokerDoesNotKnowIsMisconfigured(t *testing.T) {
	t.Parallel()
	k, err := testserver.StartKafka(t.Context(), testserver.KafkaOptions{
		Secure: true, Properties: map[string]string{"sasl.enabled.mechanisms": "SCRAM-SHA-256"},
	})
	must(t, err)
	t.Cleanup(func() { must(t, k.Close()) })
	d := publishtest.Closing(t, dial(t, k.SASLPlaintext(), kafkabroker.Options{Login: login(kafkabroker.Plain)}))
	publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, publishtest.Messages("t", 1)...), broker.Misconfigured, "UNSUPPORTED_SASL_MECHANISM")
}

func TestATopicThatTheUserMayNotWriteIsMisconfiguredUntilHeMay(t *testing.T) {
	t.Parallel()
	k := secureKafka.get(t)
	newPlace(t, k.Brokers()).create(t).grant(t, kadm.OpWrite) // without the right to write anywhere nobody gets a producer
	p := newPlace(t, k.Brokers()).create(t)
	d := publishtest.Closing(t, dial(t, k.SASLPlaintext(), kafkabroker.Options{Login: login(kafkabroker.Plain)}))
	msgs := publishtest.Messages(p.topic, 5)
	publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, msgs...), broker.Misconfigured, "")
	p.grant(t, kadm.OpDescribe)
	publishtest.Eventually(t, "it may be described and not written", func() bool {
		results := publishtest.Publish(t, d, 30*time.Second, msgs...)
		return results[0].Outcome == broker.Misconfigured && strings.Contains(results[0].Err.Error(), "TOPIC_AUTHORIZATION_FAILED")
	})
	if held := p.read(t); len(held) != 0 {
		t.Errorf("%d messages were stored without a right", len(held))
	}
	p.grant(t, kadm.OpWrite)
	persist(t, d, msgs...)
}

// Without the right to ask for a topic's settings its limit is found out from the
// broker.
func TestAUserWhoMayNotAskForSettingsCanSend(t *testing.T) {
	t.Parallel()
	k := secureKafka.get(t)
	p := newPlace(t, k.Brokers())
	p.partitions = 1
	p.create(t, "max.message.bytes=3000")
	p.grant(t, kadm.OpWrite)
	d := publishtest.Closing(t, dial(t, k.SASLPlaintext(), kafkabroker.Options{Login: login(kafkabroker.Plain)}))
	msgs := publishtest.Messages(p.topic, 5)
	msgs[2].Payload = noise(4000)
	publishtest.Eventually(t, "the right to write counts", func() bool {
		return publishtest.Publish(t, d, 30*time.Second, publishtest.Messages(p.topic, 1)...)[0].Outcome == broker.Accepted
	})
	results := publishtest.Publish(t, d, 30*time.Second, msgs...)
	publishtest.Wants(t, results[2:3], broker.Rejected, "MESSAGE_TOO_LARGE")
	publishtest.Wants(t, append(results[:2:2], results[3:]...), broker.Accepted, "")
	g, err := d.Durability(publishtest.Timeout(t, 30*time.Second), p.topic)
	if err != nil || g.Grade != "?" {
		t.Errorf("the topic is graded %q, %v, want ?", g.Grade, err)
	}
}

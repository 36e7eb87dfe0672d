package testserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// properties is the text of the node's server.properties.
func (n *KafkaNode) properties() string {
	p := map[string]string{
		"process.roles": "broker,controller", "node.id": strconv.Itoa(n.number),
		"controller.listener.names": "CONTROLLER", "inter.broker.listener.name": "PLAINTEXT",
		"log.dirs": n.logDir(), "auto.create.topics.enable": "false",
		"offsets.topic.num.partitions": "4", "transaction.state.log.num.partitions": "4", "share.coordinator.state.topic.num.partitions": "4",
		"group.initial.rebalance.delay.ms": "0", "log.cleaner.dedupe.buffer.size": "10485760",
		// A node that was killed comes back only when its old session is over.
		"broker.session.timeout.ms": "2000", "broker.heartbeat.interval.ms": "300",
		"num.network.threads": "2", "num.io.threads": "4", "num.recovery.threads.per.data.dir": "2",
	}
	n.cluster.replicate(p)
	n.listen(p)
	maps.Copy(p, n.cluster.opts.Properties)
	return propertiesText(p)
}

// propertiesText is the text of a Java properties file.
func propertiesText(p map[string]string) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p)) {
		fmt.Fprintf(&text, "%s=%s\n", name, p[name])
	}
	return text.String()
}

// replicate sets what depends on the number of nodes.
func (k *Kafka) replicate(p map[string]string) {
	factor, inSync := "1", "1"
	var voters []string
	for _, n := range k.nodes {
		voters = append(voters, fmt.Sprintf("%d@%s", n.number, loopback(n.ports[kafkaController])))
	}
	p["controller.quorum.voters"] = strings.Join(voters, ",")
	if len(k.nodes) > 1 {
		factor, inSync = strconv.Itoa(len(k.nodes)), "2"
		maps.Copy(p, map[string]string{
			"broker.session.timeout.ms": "6000", "broker.heartbeat.interval.ms": "1000",
			"controller.quorum.election.timeout.ms": "500", "controller.quorum.fetch.timeout.ms": "1000",
			"replica.lag.time.max.ms": "5000", "default.replication.factor": factor, "min.insync.replicas": inSync,
		})
	}
	maps.Copy(p, map[string]string{
		"offsets.topic.replication.factor": factor, "transaction.state.log.replication.factor": factor,
		"transaction.state.log.min.isr": inSync, "share.coordinator.state.topic.replication.factor": factor,
		"share.coordinator.state.topic.min.isr": inSync,
	})
}

// listen sets the listeners, and who may come in by them.
func (n *KafkaNode) listen(p map[string]string) {
	listeners := map[string]int{"PLAINTEXT": kafkaPlain, "CONTROLLER": kafkaController}
	if n.cluster.opts.Secure {
		maps.Copy(listeners, map[string]int{"SASL_PLAINTEXT": kafkaSASLPlain, "SASL_SSL": kafkaSASLTLS, "SSL": kafkaTLS})
		n.secure(p)
	}
	var at, advertised, protocols []string
	for _, name := range slices.Sorted(maps.Keys(listeners)) {
		url := name + "://" + loopback(n.ports[listeners[name]])
		at = append(at, url)
		if name == "CONTROLLER" {
			protocols = append(protocols, "CONTROLLER:PLAINTEXT")
			continue
		}
		advertised = append(advertised, url)
		protocols = append(protocols, name+":"+name)
	}
	p["listeners"] = strings.Join(at, ",")
	p["advertised.listeners"] = strings.Join(advertised, ",")
	p["listener.security.protocol.map"] = strings.Join(protocols, ",")
}

func (n *KafkaNode) secure(p map[string]string) {
	maps.Copy(p, map[string]string{
		"sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
		"authorizer.class.name":   "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
		"super.users":             "User:ANONYMOUS;User:" + KafkaAdmin, "allow.everyone.if.no.acl.found": "false",
		"ssl.keystore.type": "PEM", "ssl.keystore.location": n.cluster.certs.server,
		"ssl.truststore.type": "PEM", "ssl.truststore.location": n.cluster.CAFile(),
		"listener.name.ssl.ssl.client.auth": "required",
		"ssl.principal.mapping.rules":       "RULE:^CN=([^,]+).*$/$1/",
	})
	plain := fmt.Sprintf("org.apache.kafka.common.security.plain.PlainLoginModule required user_%s=\"%s\" user_%s=\"%s\";",
		KafkaAdmin, KafkaAdminPassword, KafkaUser, KafkaUserPassword)
	for _, listener := range []string{"sasl_plaintext", "sasl_ssl"} {
		p["listener.name."+listener+".plain.sasl.jaas.config"] = plain
		for _, mechanism := range []string{"scram-sha-256", "scram-sha-512"} {
			p["listener.name."+listener+"."+mechanism+".sasl.jaas.config"] = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
		}
	}
}

// kafkaCerts are the files of a secure Kafka's own authority.
type kafkaCerts struct {
	server string // key and certificate of the nodes
}

// makeKafkaCerts writes an authority's certificate, the nodes' and a client's, good for a day.
func makeKafkaCerts(dir string) (*kafkaCerts, error) {
	ca, caKey, err := certificate("test authority", nil, nil)
	if err != nil {
		return nil, err
	}
	server, serverKey, err := certificate("localhost", ca, caKey)
	if err != nil {
		return nil, err
	}
	client, clientKey, err := certificate(KafkaUser, ca, caKey)
	if err != nil {
		return nil, err
	}
	serverPEM, err := keyPEM(serverKey)
	clientPEM, err2 := keyPEM(clientKey)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	c := &kafkaCerts{server: filepath.Join(dir, "server.pem")}
	for file, text := range map[string][]byte{
		filepath.Join(dir, "ca.pem"):         certPEM(ca),
		filepath.Join(dir, "client.pem"):     certPEM(client),
		filepath.Join(dir, "client-key.pem"): clientPEM,
		c.server:                             slices.Concat(serverPEM, certPEM(server), certPEM(ca)),
	} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// certificate makes one for 127.0.0.1, signed by an authority, or by itself without one.
func certificate(name string, ca *x509.Certificate, caKey *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true, IsCA: ca == nil,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	if ca == nil {
		ca, caKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca, &key.PublicKey, caKey)
	if err != nil {
		return nil, nil, err
	}
	made, err := x509.ParseCertificate(der)
	return made, key, err
}

func certPEM(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

func keyPEM(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

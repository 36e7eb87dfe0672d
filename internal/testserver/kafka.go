package testserver

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// kafkaVersion is what scripts/jars kafka downloads.
const kafkaVersion = "4.1.1"

// KafkaOptions says what Kafka to start. The zero value is one node, open to all of this machine.
type KafkaOptions struct {
	// Nodes is 1 or 3, each broker and controller in one. Defaults to 1.
	Nodes int
	// Secure adds the listeners SASLPlaintext, SASLSSL and SSL, for the users [KafkaAdmin], who may do all, and
	// [KafkaUser], who may do nothing until ACLs say otherwise. The plain listener stays open to all.
	Secure bool
	// Properties are settings of the broker, over those of this package.
	Properties map[string]string
	// LogDirs take what the nodes store, one folder a node, and are not removed at the end. Missing and empty ones are
	// temporary folders.
	LogDirs []string
	// HeapMB is the most a node's heap takes, in MiB. Defaults to 256. From 512 on the node is set up for speed.
	HeapMB int
	// StartTimeout is how long all nodes may take to start. Defaults to 2 min.
	StartTimeout time.Duration
}

// The users of a secure Kafka. Both may log in with PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512; KafkaUser is also who the
// client certificate names.
const (
	KafkaAdmin         = "admin"
	KafkaAdminPassword = "admin-password-of-the-test"
	KafkaUser          = "app"
	KafkaUserPassword  = "canary-password-of-the-test"
)

// Kafka is a private Kafka (KRaft, without ZooKeeper), one process a node. Its methods may be called concurrently;
// commands to one node wait for each other.
type Kafka struct {
	opts  KafkaOptions
	java  string
	libs  string
	home  *folder
	id    string
	nodes []*KafkaNode
	certs *kafkaCerts
	// archive is the file of classes that Java begins with: see kafkaArchive. Empty is none.
	archive string
	// record is the archive that a node writes as it ends. Empty is none.
	record string
}

// StartKafka starts the nodes and returns when each accepts connections. That a topic can be written to is a moment
// later: clients try again.
func StartKafka(ctx context.Context, opts KafkaOptions) (*Kafka, error) {
	java, libs, err := findKafka()
	if err != nil {
		return nil, err
	}
	if opts.Nodes == 0 {
		opts.Nodes = 1
	}
	if opts.HeapMB == 0 {
		opts.HeapMB = 256
	}
	if opts.StartTimeout == 0 {
		opts.StartTimeout = 2 * time.Minute
	}
	archive, err := kafkaArchive(ctx, java, libs)
	if err != nil {
		return nil, err
	}
	home, err := newFolder("kafka", false)
	if err != nil {
		return nil, err
	}
	k := &Kafka{opts: opts, java: java, libs: libs, home: home, id: newKafkaID(), archive: archive}
	if opts.Secure {
		if k.certs, err = makeKafkaCerts(home.path); err != nil {
			return nil, errors.Join(err, home.Close())
		}
	}
	if err := k.firstStart(ctx); err != nil {
		return nil, errors.Join(err, k.Close())
	}
	return k, nil
}

// findKafka returns the paths of java and of Kafka's jars.
func findKafka() (java, libs string, err error) {
	if java, err = exec.LookPath("java"); err != nil {
		return "", "", &MissingError{What: "java, which runs Kafka,", Fix: "run scripts/setup"}
	}
	cache, err := cacheFolder()
	if err != nil {
		return "", "", err
	}
	home := filepath.Join(cache, "kafka-"+kafkaVersion)
	if _, err := os.Stat(filepath.Join(home, "complete")); err != nil {
		return "", "", &MissingError{What: "Kafka " + kafkaVersion, Fix: "run scripts/jars kafka"}
	}
	return java, filepath.Join(home, "libs", "*"), nil
}

// newKafkaID makes an id of a cluster: 16 bytes in base64.
func newKafkaID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[0] &= 0x7f           // a dash in front would look like an option
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func (k *Kafka) firstStart(ctx context.Context) error {
	var err error
	for range startAttempts {
		if err = k.layOut(); err != nil {
			return err
		}
		if err = k.format(ctx); err != nil {
			return err
		}
		if err = k.Start(ctx); err == nil {
			return nil
		}
		taken := k.portsTaken()
		if err = errors.Join(err, k.Kill(context.WithoutCancel(ctx))); !taken {
			return err
		}
	}
	return err
}

// layOut gives each node its ports and its folder.
func (k *Kafka) layOut() error {
	k.nodes = nil
	for i := range k.opts.Nodes {
		n := newKafkaNode(k, i+1)
		if err := errors.Join(os.RemoveAll(n.home), os.Mkdir(n.home, 0o700)); err != nil {
			return err
		}
		for p := range n.ports {
			port, err := freePort()
			if err != nil {
				return err
			}
			n.ports[p] = port
		}
		k.nodes = append(k.nodes, n)
	}
	for _, n := range k.nodes {
		if err := os.WriteFile(n.file(), []byte(n.properties()), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// format prepares the folders of all nodes, with the users that log in by SCRAM.
func (k *Kafka) format(ctx context.Context) error {
	return k.each(func(n *KafkaNode) error {
		args := []string{"format", "-t", k.id, "-c", n.file(), "--ignore-formatted"}
		if k.opts.Secure {
			for user, password := range map[string]string{KafkaAdmin: KafkaAdminPassword, KafkaUser: KafkaUserPassword} {
				for _, mechanism := range []string{"SCRAM-SHA-256", "SCRAM-SHA-512"} {
					args = append(args, "--add-scram", fmt.Sprintf("%s=[name=%s,password=%s]", mechanism, user, password))
				}
			}
		}
		_, err := k.Run(ctx, "", "kafka.tools.StorageTool", args...)
		return err
	})
}

// Run runs one of Kafka's own tools, a Java class with a main method such as
// org.apache.kafka.tools.consumer.ConsoleConsumer, and returns its standard output. input is its standard input.
func (k *Kafka) Run(ctx context.Context, input, class string, args ...string) (string, error) {
	c := command{
		name: class, path: k.java, input: input, death: os.Kill,
		args: slices.Concat([]string{"-Xmx128m"}, k.small(), []string{"-cp", k.libs, class}, args),
	}
	return c.run(ctx)
}

// small are Java's options for a program that starts quickly and does little. Warnings go to standard error, since standard
// output may be an answer.
func (k *Kafka) small() []string {
	args := []string{"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xlog:disable", "-Xlog:all=warning:stderr"}
	if k.archive != "" {
		args = append(args, "-XX:SharedArchiveFile="+k.archive)
	}
	return args
}

func (k *Kafka) portsTaken() bool {
	for _, n := range k.nodes {
		for _, port := range n.ports {
			if portTaken(port) && !n.Running() {
				return true
			}
		}
	}
	return false
}

// each does something with all nodes side by side: one that waits for the others would wait for ever otherwise.
func (k *Kafka) each(do func(n *KafkaNode) error) error {
	var group sync.WaitGroup
	faults := make([]error, len(k.nodes))
	for i, n := range k.nodes {
		group.Go(func() { faults[i] = do(n) })
	}
	group.Wait()
	return errors.Join(faults...)
}

// Start starts all nodes that do not run, again on their ports and with their data.
func (k *Kafka) Start(ctx context.Context) error {
	return k.each(func(n *KafkaNode) error {
		if n.Running() {
			return nil
		}
		return n.Start(ctx)
	})
}

// Stop ends all nodes in order (SIGTERM) and waits for them.
func (k *Kafka) Stop(ctx context.Context) error {
	return k.each(func(n *KafkaNode) error { return n.Stop(ctx) })
}

// Kill is kill -9 of all nodes. What they stored stays for the next Start.
func (k *Kafka) Kill(ctx context.Context) error {
	return k.each(func(n *KafkaNode) error { return n.Kill(ctx) })
}

// Restart is Stop and Start.
func (k *Kafka) Restart(ctx context.Context) error {
	if err := k.Stop(ctx); err != nil {
		return err
	}
	return k.Start(ctx)
}

// Wipe kills all nodes and starts them again with nothing but their users: no topic, no rule.
func (k *Kafka) Wipe(ctx context.Context) error {
	err := k.Kill(ctx)
	if err == nil {
		err = k.each(func(n *KafkaNode) error { return os.RemoveAll(n.logDir()) })
	}
	if err == nil {
		err = k.format(ctx)
	}
	if err != nil {
		return err
	}
	return k.Start(ctx)
}

// Close kills all nodes and removes their files. It may be called twice.
func (k *Kafka) Close() error {
	return errors.Join(k.each(func(n *KafkaNode) error { return n.retire() }), k.home.Close())
}

// Nodes are the nodes; node i has the id i+1.
func (k *Kafka) Nodes() []*KafkaNode { return k.nodes }

// Brokers are the addresses of the plain listeners, one a node.
func (k *Kafka) Brokers() []string { return k.addresses(kafkaPlain) }

// SASLPlaintext are the addresses of the listeners with a login and without TLS.
func (k *Kafka) SASLPlaintext() []string { return k.addresses(kafkaSASLPlain) }

// SASLSSL are the addresses of the listeners with a login and TLS.
func (k *Kafka) SASLSSL() []string { return k.addresses(kafkaSASLTLS) }

// SSL are the addresses of the listeners that demand a client's certificate.
func (k *Kafka) SSL() []string { return k.addresses(kafkaTLS) }

func (k *Kafka) addresses(listener int) []string {
	all := make([]string, len(k.nodes))
	for i, n := range k.nodes {
		all[i] = loopback(n.ports[listener])
	}
	return all
}

// CAFile is a PEM file for clients of a secure Kafka: the certificate of who signed those of the nodes.
func (k *Kafka) CAFile() string { return filepath.Join(k.home.path, "ca.pem") }

// ClientCertFile is a PEM file for clients of a secure Kafka: a certificate that names [KafkaUser].
func (k *Kafka) ClientCertFile() string { return filepath.Join(k.home.path, "client.pem") }

// ClientKeyFile is the PEM file of the key to ClientCertFile.
func (k *Kafka) ClientKeyFile() string { return filepath.Join(k.home.path, "client-key.pem") }

// LogTail returns the last lines of each node's log.
func (k *Kafka) LogTail(lines int) string {
	var text strings.Builder
	for _, n := range k.nodes {
		fmt.Fprintf(&text, "node %d:\n%s\n", n.number, n.LogTail(max(1, lines/len(k.nodes))))
	}
	return text.String()
}

package testserver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Listeners of a node, by the place of their port.
const (
	kafkaPlain = iota
	kafkaController
	kafkaSASLPlain
	kafkaSASLTLS
	kafkaTLS
	kafkaListeners
)

// KafkaNode is one node of a [Kafka]. Its methods may be called concurrently; commands wait for each other. Stop waits for
// half a minute at most: a node whose cluster has no majority left would wait for it.
type KafkaNode struct {
	server

	cluster *Kafka
	number  int
	home    string
	ports   [kafkaListeners]int
}

// ID is the node's id in the cluster, from 1 on.
func (n *KafkaNode) ID() int { return n.number }

// Addr is the address of the node's plain listener. It stays the same over restarts.
func (n *KafkaNode) Addr() string { return loopback(n.ports[kafkaPlain]) }

func newKafkaNode(k *Kafka, number int) *KafkaNode {
	n := &KafkaNode{cluster: k, number: number, home: filepath.Join(k.home.path, fmt.Sprintf("node-%d", number))}
	n.name, n.begin, n.patience = "Kafka", n.start, 30*time.Second
	return n
}

func (n *KafkaNode) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, n.cluster.opts.StartTimeout)
	defer cancel()
	return n.launch(ctx, command{
		name: fmt.Sprintf("Kafka node %d", n.number), path: n.cluster.java, args: n.args(), death: os.Kill, log: n.logFile(),
	}, n.ready)
}

func (n *KafkaNode) args() []string {
	heap := n.cluster.opts.HeapMB
	args := []string{"-Xms64m", fmt.Sprintf("-Xmx%dm", heap)}
	if heap < 512 {
		args = append(args, n.cluster.small()...)
	}
	if n.cluster.record != "" {
		args = append(args, "-Xlog:all=error:stderr", "-XX:ArchiveClassesAtExit="+n.cluster.record)
	}
	return append(args, "-Dlog4j2.level=WARN", "-cp", n.cluster.libs, "kafka.Kafka", n.file())
}

// ready looks whether the listeners are open, which is the last that a node does.
func (n *KafkaNode) ready(ctx context.Context) bool {
	listeners := []int{kafkaPlain}
	if n.cluster.opts.Secure {
		listeners = append(listeners, kafkaSASLPlain, kafkaSASLTLS, kafkaTLS)
	}
	for _, listener := range listeners {
		conn, err := dial(ctx, n.ports[listener])
		if err != nil || conn.Close() != nil {
			return false
		}
	}
	return true
}

// logDir takes what the node stores.
func (n *KafkaNode) logDir() string {
	if dirs := n.cluster.opts.LogDirs; n.number <= len(dirs) && dirs[n.number-1] != "" {
		return dirs[n.number-1]
	}
	return filepath.Join(n.home, "data")
}

// LogTail returns the last lines of the node's log.
func (n *KafkaNode) LogTail(lines int) string { return fileTail(n.logFile(), lines) }

func (n *KafkaNode) file() string { return filepath.Join(n.home, "server.properties") }

func (n *KafkaNode) logFile() string { return filepath.Join(n.home, "log") }

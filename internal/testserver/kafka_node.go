package testserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
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

// KafkaNode is one node of a [Kafka]. Its methods may be called concurrently; orders wait for each other.
type KafkaNode struct {
	cluster *Kafka
	number  int
	home    string
	ports   [kafkaListeners]int

	mu     sync.Mutex
	proc   *process
	closed bool
}

// ID is the node's id in the cluster, from 1 on.
func (n *KafkaNode) ID() int { return n.number }

// Addr is the address of the node's plain listener. It stays the same over restarts.
func (n *KafkaNode) Addr() string { return loopback(n.ports[kafkaPlain]) }

// Running says whether the node's process is there.
func (n *KafkaNode) Running() bool { return n.running() }

// Start starts the node, again after Stop or Kill, on the same ports and with the data it stored.
func (n *KafkaNode) Start(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || n.lockedRunning() {
		return errState("Kafka", "start", "it runs already or is closed: Stop or Kill it first, or make a new one")
	}
	ctx, cancel := context.WithTimeout(ctx, n.cluster.opts.StartTimeout)
	defer cancel()
	c := command{name: fmt.Sprintf("Kafka node %d", n.number), path: n.cluster.java, args: n.args(), death: os.Kill, log: n.logFile()}
	proc, err := c.start()
	if err != nil {
		return err
	}
	n.proc = proc
	if err := proc.until(ctx, func() bool { return n.ready(ctx) }); err != nil {
		return errors.Join(err, proc.stop(context.WithoutCancel(ctx), os.Kill))
	}
	return nil
}

func (n *KafkaNode) args() []string {
	heap := n.cluster.opts.HeapMB
	args := []string{"-Xms64m", fmt.Sprintf("-Xmx%dm", heap)}
	if heap < 512 {
		args = append(args, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
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

func (n *KafkaNode) running() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lockedRunning()
}

func (n *KafkaNode) lockedRunning() bool { return n.proc != nil && !n.proc.ended() }

// Stop ends the node in order (SIGTERM) and waits for it, half a minute at most: a node whose cluster has no majority
// left would wait for it. A node that does not run is no error.
func (n *KafkaNode) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	err := n.end(ctx, sigTerm)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil // it was killed then
	}
	return err
}

// Kill is kill -9. What the node stored stays for the next Start.
func (n *KafkaNode) Kill(ctx context.Context) error { return n.end(ctx, os.Kill) }

func (n *KafkaNode) end(ctx context.Context, sig os.Signal) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.lockedRunning() {
		return nil
	}
	if err := n.proc.signal(sigContinue); err != nil {
		return err
	}
	return n.proc.stop(ctx, sig)
}

// Restart is Stop and Start.
func (n *KafkaNode) Restart(ctx context.Context) error {
	if err := n.Stop(ctx); err != nil {
		return err
	}
	return n.Start(ctx)
}

// Pause freezes the node (SIGSTOP): connections stay open and nothing answers.
func (n *KafkaNode) Pause() error { return n.order("pause", (*process).freeze) }

// Resume ends a Pause. Without one it does nothing.
func (n *KafkaNode) Resume() error {
	return n.order("resume", func(p *process) error { return p.signal(sigContinue) })
}

func (n *KafkaNode) order(word string, do func(*process) error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.lockedRunning() {
		return errState("Kafka", word, "it does not run: Start it first")
	}
	return do(n.proc)
}

func (n *KafkaNode) close() error {
	err := n.end(context.Background(), os.Kill)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	return err
}

// LogTail returns the last lines of the node's log.
func (n *KafkaNode) LogTail(lines int) string { return fileTail(n.logFile(), lines) }

func (n *KafkaNode) file() string { return filepath.Join(n.home, "server.properties") }

func (n *KafkaNode) logFile() string { return filepath.Join(n.home, "log") }

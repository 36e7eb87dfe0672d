package testserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// kafkaArchiving lets the goroutines of a process make one archive. Other processes may make their own at the same time: the
// first to rename it into place wins.
var kafkaArchiving sync.Mutex

// kafkaArchive returns the file of Kafka's classes as Java has them in memory, kept in the user's cache folder. With it a node
// takes half of the processor's time to start. It is made by a node that starts, serves for a moment and ends in order. Java
// starts without an archive that does not fit, and says nothing. So a new Java, and new jars, get a new name.
func kafkaArchive(ctx context.Context, java, libs string) (string, error) {
	kafkaArchiving.Lock()
	defer kafkaArchiving.Unlock()
	cache, err := cacheFolder()
	if err != nil {
		return "", err
	}
	version, err := kafkaStamp(java, filepath.Join(filepath.Dir(filepath.Dir(libs)), "complete"))
	if err != nil {
		return "", err
	}
	archive := filepath.Join(cache, "kafka-classes-"+version+".jsa")
	if _, err := os.Stat(archive); err == nil {
		return archive, nil
	}
	return archive, makeKafkaArchive(ctx, java, libs, archive)
}

// kafkaStamp tells one Java, and one set of jars, from others.
func kafkaStamp(java, jars string) (string, error) {
	sum := sha256.New()
	for _, path := range []string{java, jars} {
		file, err := filepath.EvalSymlinks(path)
		if err != nil {
			return "", err
		}
		info, err := os.Stat(file)
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintln(sum, file, info.Size(), info.ModTime().UnixNano()) // it never fails
	}
	return hex.EncodeToString(sum.Sum(nil)[:6]), nil
}

// makeKafkaArchive has a secure node, which loads the most classes, write the archive as it ends.
func makeKafkaArchive(ctx context.Context, java, libs, archive string) (err error) {
	home, err := newFolder("kafka-classes", false)
	if err != nil {
		return err
	}
	k := &Kafka{
		opts: KafkaOptions{Nodes: 1, HeapMB: 256, Secure: true, StartTimeout: 2 * time.Minute},
		java: java, libs: libs, home: home, id: newKafkaID(), record: filepath.Join(home.path, "classes.jsa"),
	}
	defer func() { err = errors.Join(err, k.Close()) }()
	if k.certs, err = makeKafkaCerts(home.path); err != nil {
		return err
	}
	if err := k.firstStart(ctx); err != nil {
		return err
	}
	// A client that makes a topic, writes to it and reads from it has the node load what serves it. Without, the archive is
	// good, too.
	_, _ = k.Run(ctx, "", "org.apache.kafka.tools.EndToEndLatency", k.Brokers()[0], "warm", "10", "all", "100")
	node := k.nodes[0]
	node.patience = 2 * time.Minute // it writes the archive after all else
	if err := node.Stop(ctx); err != nil {
		return err
	}
	return keepKafkaArchive(k, archive)
}

// keepKafkaArchive copies the new archive beside its place and renames it there.
func keepKafkaArchive(k *Kafka, archive string) error {
	beside, err := os.MkdirTemp(filepath.Dir(archive), "new-")
	if err != nil {
		return err
	}
	made := filepath.Join(beside, "classes.jsa")
	if err := copyFile(k.record, made, 0o600); err != nil {
		return errors.Join(fmt.Errorf("testserver: Java wrote no archive of Kafka's classes: %w: run java -Xshare:dump if Java has none of its own: %s",
			err, k.LogTail(12)), os.RemoveAll(beside))
	}
	return errors.Join(os.Rename(made, archive), os.RemoveAll(beside))
}

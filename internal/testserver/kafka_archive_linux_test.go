package testserver_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func TestAKafkaNodeBeginsWithTheArchiveOfItsClasses(t *testing.T) {
	t.Parallel()
	slow(t)
	k := servertest.Kafka(t, testserver.KafkaOptions{})
	settings := filepath.Join(filepath.Dir(k.CAFile()), "node-1", "server.properties")
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	nodes := 0
	for _, process := range all {
		if command, err := os.ReadFile(filepath.Join(process, "cmdline")); err != nil || !strings.Contains(string(command), settings) {
			continue // it ended, or is not the node
		}
		nodes++
		memory, err := os.ReadFile(filepath.Join(process, "maps"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(memory), "/kafka-classes-") {
			t.Errorf("Java did not take the archive:\n%s", k.LogTail(20))
		}
	}
	if nodes != 1 {
		t.Errorf("%d processes are nodes, want 1", nodes)
	}
}

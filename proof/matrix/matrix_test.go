package matrix

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/proof/internal/daemon"
)

// keys is how many keys the messages of a pair have.
const keys = 500

// messages is how many messages a pair delivers.
func messages() int {
	if servertest.Full() {
		return 20_000
	}
	return 2000
}

func TestMain(m *testing.M) {
	code := m.Run()
	daemon.Remove()
	os.Exit(code)
}

// Each pair: messages of 500 keys by eight writers, some of whose transactions roll back; in the middle the relay is killed
// and another takes over, and the broker restarts.
func TestEveryStoreDeliversToEveryDestination(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	found := map[string]*history.Report{}
	t.Cleanup(func() { t.Log("\n" + table(found)) })
	daemon.Program(t)
	for _, b := range brokers() {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			server := b.start(t)
			for _, s := range stores() {
				t.Run(s.name, func(t *testing.T) {
					v := deliver(t, s.open(t), server)
					mu.Lock()
					found[s.name+" "+b.name] = v
					mu.Unlock()
				})
			}
		})
	}
}

// table shows a line for each store and a column for each kind of destination.
func table(found map[string]*history.Report) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%d messages a pair, %d keys, one relay killed, one restart of the broker: lost/phantoms/inversions (duplicates)\n", messages(), keys)
	fmt.Fprintf(&out, "%-12s", "")
	for _, b := range brokers() {
		fmt.Fprintf(&out, "%-18s", b.name)
	}
	for _, s := range stores() {
		fmt.Fprintf(&out, "\n%-12s", s.name)
		for _, b := range brokers() {
			cell := "-"
			if v, ran := found[s.name+" "+b.name]; ran {
				cell = fmt.Sprintf("%d/%d/%d (%d)", v.Of(history.Lost).Broken, v.Of(history.Phantom).Broken,
					v.Of(history.Order).Broken, v.Of(history.Duplicates).N("duplicates"))
			}
			fmt.Fprintf(&out, "%-18s", cell)
		}
	}
	return out.String()
}

package main

import (
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

func TestHousekeepingFromCron(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		config := write(t, "postbag.yaml", "store: "+at.yaml+"\nkeep: 1s\nmaintenance: false\ndestinations: {out: {stdout: {}}}\n")
		cliWith(t, `{"key":"a","payload":1}`+"\n"+`{"key":"b","payload":2}`+"\n", "publish", "-c", config, "--ndjson").ok()
		cli(t, "relay", "-c", config, "--drain").ok()
		var done struct {
			Box     string
			Busy    bool
			Deleted int64
			Faults  []string
		}
		sum := int64(0)
		await(t, "messages go", func() bool {
			cli(t, "maintain", "-c", config, "--until-done", "--json").ok().json(&done)
			sum += done.Deleted
			return sum > 0
		})
		if done.Box != "outbox" || done.Busy || done.Faults == nil {
			t.Errorf("it says %+v", done)
		}
		cli(t, "maintain", "-c", config).ok().says("box outbox: ", "deleted")
		cli(t, "maintain", "-c", config, "--box", "other").ends(exit.NotFound, "other")
		keeps := write(t, "keeps.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\n")
		start(t, "relay", "-c", keeps)
		await(t, "a relay does it", func() bool {
			cli(t, "maintain", "-c", config, "--json").ok().json(&done)
			return done.Busy
		})
		cli(t, "maintain", "-c", config).ok().says("another process does the housekeeping of box outbox")
	})
}

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

func TestStatusShowsWhatWaitsAndWhoWorks(t *testing.T) {
	t.Parallel()
	path := newStore(t)
	cli(t, "status", "--store", path).ok().says("BOX outbox: 0 messages", "no subscription yet", "no relay is running")
	arrived(t, path)
	cliWith(t, strings.Repeat(`{"payload":1}`+"\n", 5), "publish", "--store", path, "--ndjson").ok()
	cli(t, "publish", "--store", path, "--payload", "x", "--not-before", "1h").ok()
	var v statusView
	cli(t, "status", "--store", path, "--json").ok().json(&v)
	s := v.Boxes[0].Subscriptions[0]
	if v.Boxes[0].Messages != 5 || v.Boxes[0].Scheduled != 1 || s.Backlog != 5 || s.Oldest <= 0 || s.Owned != 0 || s.Shards != 1 || s.Rate != nil {
		t.Errorf("the status is %+v", v)
	}
	cli(t, "status", "--store", path).ok().says("1 scheduled", "0/1", "no relay")
	cli(t, "status", "--store", path, "--shards").ok().says("SHARD OF", "0-4095")
	cli(t, "status", "--store", path, "--box", "other").ends(exit.NotFound, "there is no box other")
}

func TestWatchShowsRates(t *testing.T) {
	t.Parallel()
	path := newStore(t)
	arrived(t, path)
	watch := start(t, "status", "--store", path, "--watch", "--every", "200ms", "--json")
	published := false
	await(t, "a look shows a rate", func() bool {
		for d := json.NewDecoder(strings.NewReader(watch.out.String())); ; {
			var v statusView
			if d.Decode(&v) != nil {
				return false
			}
			if !published { // behind the first look
				published = true
				cliWith(t, strings.Repeat(`{"payload":1}`+"\n", 50), "publish", "--store", path, "--ndjson").ok()
				arrived(t, path)
			}
			b := &v.Boxes[0]
			if b.Rate != nil && *b.Rate > 0 && b.Subscriptions[0].Rate != nil {
				return true
			}
		}
	})
	if code := watch.end(); code != exit.OK {
		t.Errorf("the end of a watch is %d, want 0", code)
	}
}

func TestWatchForPeopleIsATableEachTime(t *testing.T) {
	t.Parallel()
	path := newStore(t)
	watch := start(t, "status", "--store", path, "--watch", "--every", "100ms")
	await(t, "there were three looks", func() bool { return strings.Count(watch.out.String(), "BOX outbox") >= 3 })
	if strings.Contains(watch.out.String(), "\x1b") {
		t.Error("it draws where there is no terminal")
	}
}

func TestShardsAreChangedByARelay(t *testing.T) {
	t.Parallel()
	path := newStore(t)
	cli(t, "shards", "set", "4", "--store", path, "--why", "test").ends(exit.NotFound)
	arrived(t, path)
	cli(t, "shards", "set", "4", "--store", path, "--why", "more relays").ok().says("asked for 4 shards of outbox/default")
	cli(t, "status", "--store", path).ok().says("becoming 4 shards")
	start(t, "relay", "--store", path, "--to", "stdout:")
	await(t, "there are four shards", func() bool {
		var v statusView
		cli(t, "status", "--store", path, "--json").ok().json(&v)
		s := v.Boxes[0].Subscriptions[0]
		return s.Shards == 4 && s.Owned == 4 && s.Owners == 1
	})
	cli(t, "audit", "--store", path, "--json").ok().says(`"what":"shards outbox/default 4"`, `"why":"more relays"`)
}

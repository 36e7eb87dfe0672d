package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/store"
)

func TestStatusShowsWhatWaitsAndWhoWorks(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		cli(t, "status", at.flag, at.where).ok().says("BOX outbox: 0 messages", "no subscription yet", "no relay is running")
		arrived(t, at)
		cliWith(t, strings.Repeat(`{"payload":1}`+"\n", 5), "publish", at.flag, at.where, "--ndjson").ok()
		cli(t, "publish", at.flag, at.where, "--payload", "x", "--not-before", "1h").ok()
		var v statusView
		cli(t, "status", at.flag, at.where, "--json").ok().json(&v)
		s := v.Boxes[0].Subscriptions[0]
		if v.Boxes[0].Messages != 5 || v.Boxes[0].Scheduled != 1 || s.Backlog != 5 || s.Oldest <= 0 || s.Owned != 0 || s.Shards != at.shards || s.Rate != nil {
			t.Errorf("the status is %+v", v)
		}
		cli(t, "status", at.flag, at.where).ok().says("1 scheduled", fmt.Sprintf("0/%d", at.shards), "no relay")
		cli(t, "status", at.flag, at.where, "--shards").ok().says("SHARD OF", fmt.Sprintf("0-%d", store.SlotCount/at.shards-1))
		cli(t, "status", at.flag, at.where, "--box", "other").ends(exit.NotFound, "there is no box other")
	})
}

func TestWatchShowsRates(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		arrived(t, at)
		watch := start(t, "status", at.flag, at.where, "--watch", "--every", "200ms", "--json")
		published := false
		await(t, "a look shows a rate", func() bool {
			for d := json.NewDecoder(strings.NewReader(watch.out.String())); ; {
				var v statusView
				if d.Decode(&v) != nil {
					return false
				}
				if !published { // behind the first look
					published = true
					cliWith(t, strings.Repeat(`{"payload":1}`+"\n", 50), "publish", at.flag, at.where, "--ndjson").ok()
					arrived(t, at)
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
	})
}

func TestWatchForPeopleIsATableEachTime(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		watch := start(t, "status", at.flag, at.where, "--watch", "--every", "100ms")
		await(t, "there were three looks", func() bool { return strings.Count(watch.out.String(), "BOX outbox") >= 3 })
		if strings.Contains(watch.out.String(), "\x1b") {
			t.Error("it draws where there is no terminal")
		}
	})
}

func TestShardsAreChangedByARelay(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		cli(t, "shards", "set", "6", at.flag, at.where, "--why", "test").ends(exit.NotFound)
		arrived(t, at)
		cli(t, "shards", "set", "6", at.flag, at.where, "--why", "more relays").ok().says("asked for 6 shards of outbox/default")
		cli(t, "status", at.flag, at.where).ok().says("becoming 6 shards")
		start(t, "relay", at.flag, at.where, "--to", "stdout:")
		await(t, "there are six shards", func() bool {
			var v statusView
			cli(t, "status", at.flag, at.where, "--json").ok().json(&v)
			s := v.Boxes[0].Subscriptions[0]
			return s.Shards == 6 && s.Owned == 6 && s.Owners == 1
		})
		cli(t, "audit", at.flag, at.where, "--json").ok().says(`"what":"shards outbox/default 6"`, `"why":"more relays"`)
	})
}

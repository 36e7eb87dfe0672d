package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/display"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

func TestStatusShowsWhatWaitsAndWhoWorks(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		cli(t, "status", at.flag, at.where).ok().says("BOX outbox: 0 messages", "no subscription yet", "no relay is running")
		arrived(t, at)
		cliWith(t, strings.Repeat(`{"payload":1}`+"\n", 5), "publish", at.flag, at.where, "--ndjson").ok()
		cli(t, "publish", at.flag, at.where, "--payload", "x", "--not-before", "1h").ok()
		var v operations.Status
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

func TestStatusCheckExitsUnhealthyForADeadMessage(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		cli(t, "status", "--check", at.flag, at.where).ok()
		cli(t, "status", "--check", "--watch", at.flag, at.where).ends(exit.Usage, "use one of them")
		config, _, _ := ordersBehindADeadOne(t, at)
		cli(t, "status", "--check", "-c", config).ends(exit.Unhealthy, "1 message of outbox/default is dead")
		cli(t, "messages", "discard", "--all", "-c", config, "--why", "x").ok()
		await(t, "all is well", func() bool { return cli(t, "status", "--check", "-c", config).code == exit.OK })
	})
}

func TestStatusShowsTheConditionOfDestinationsAndTopics(t *testing.T) {
	t.Parallel()
	ref := store.Ref{Box: "outbox", Subscription: "default"}
	slots := store.Split(2)
	one := func(i int, owner string) store.ShardState {
		return store.ShardState{Lease: store.Lease{Shard: store.Shard{Ref: ref, Slots: slots[i]}}, Owner: owner}
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	o := store.Overview{
		Now: now,
		Boxes: []store.BoxView{{Name: "outbox", Rows: 3, Last: 4, Notices: []store.Notice{
			{Ago: time.Hour, What: "look through outbox again", Why: "its numbering was begun again"},
		}, Subscriptions: []store.SubscriptionView{{
			SubscriptionState: store.SubscriptionState{Ref: ref, Wanted: 2, Shards: []store.ShardState{one(0, "a"), one(1, "b")}},
			Backlog:           7, Parked: map[store.ParkState]int64{store.ParkHeld: 2, store.ParkDead: store.CountedParked},
			Held: []store.HeldTopic{{Topic: "orders\x1b", Messages: 2}},
		}}}},
		Relays: []store.RelayState{
			{ID: "a", Name: "first", Conditions: []store.Condition{{Ref: ref, State: "closed", Since: time.Hour, Unsettled: 3}}},
			{ID: "b", Name: "second", Conditions: []store.Condition{
				{Ref: store.Ref{Box: "outbox", Subscription: "other"}, State: "open", Unsettled: 100},
				{
					Ref: ref, State: "open", Since: 5 * time.Second, Error: "nobody answers", Unsettled: 2,
					Topics: []store.TopicCondition{{Topic: "orders\x1b", Since: time.Minute, Error: "no stream"}},
				},
			}},
		},
	}
	v := operations.StatusOf(&o, nil)
	s := v.Boxes[0].Subscriptions[0]
	if d := s.Destination; d == nil || *d != (operations.Destination{State: "open", Since: 5, Error: "nobody answers", Relay: "second"}) || s.Unsettled != 5 {
		t.Errorf("the destination is %+v, %d unsettled", s.Destination, s.Unsettled)
	}
	if len(s.Held) != 1 || s.Held[0] != (operations.HeldTopic{Topic: "orders\x1b", Messages: 2, Since: 60, Error: "no stream"}) || len(s.AtLeast) != 1 {
		t.Errorf("held are %+v, counted at least %q", s.Held, s.AtLeast)
	}
	var out strings.Builder
	if err := display.Status(&terminal.Terminal{Out: &out, Err: &out}, v, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"3 messages in the log", "seqs up to 4", "1000000+", "away 5.0s", "takes no messages, now for 5.0s, says relay second: nobody answers", "does not work; 2 messages held for it", "no stream",
		"look through outbox again: its numbering was begun again", "postbag ledger accept --box outbox",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the status lacks %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("a topic can control the terminal")
	}
	if got := v.Troubles(); len(got) != 4 {
		t.Errorf("the troubles are %q, not those of the notice, the destination, the topic and the dead", got)
	}
	o.Boxes[0].Subscriptions[0].Backlog = 1
	if got := operations.StatusOf(&o, nil).Boxes[0].Subscriptions[0].Unsettled; got != 1 {
		t.Errorf("%d messages of a backlog of 1 are unsettled", got)
	}
	o.Boxes[0].Subscriptions[0].Shards = []store.ShardState{one(0, ""), one(1, "")}
	if got := operations.StatusOf(&o, nil).Troubles(); len(got) != 5 || !strings.Contains(got[1], "no relay works outbox/default") {
		t.Errorf("without an owner the troubles are %q", got)
	}
}

func TestStatusWatchShowsRates(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		arrived(t, at)
		watch := start(t, "status", at.flag, at.where, "--watch", "--every", "200ms", "--json")
		published := false
		await(t, "a look shows a rate", func() bool {
			for d := json.NewDecoder(strings.NewReader(watch.out.String())); ; {
				var v operations.Status
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

func TestStatusWatchPrintsATableEachTime(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		watch := start(t, "status", at.flag, at.where, "--watch", "--every", "100ms")
		await(t, "there were three looks", func() bool { return strings.Count(watch.out.String(), "BOX outbox") >= 3 })
		if strings.Contains(watch.out.String(), "\x1b") {
			t.Error("it draws where there is no terminal")
		}
	})
}

func TestARelayCarriesOutAChangeOfShards(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		cli(t, "shards", "set", "6", at.flag, at.where, "--why", "test").ends(exit.NotFound)
		arrived(t, at)
		cli(t, "shards", "set", "6", at.flag, at.where, "--why", "more relays").ok().says("asked for 6 shards of outbox/default")
		cli(t, "status", at.flag, at.where).ok().says("becoming 6 shards")
		start(t, "relay", at.flag, at.where, "--to", "stdout:")
		await(t, "there are six shards", func() bool {
			var v operations.Status
			cli(t, "status", at.flag, at.where, "--json").ok().json(&v)
			s := v.Boxes[0].Subscriptions[0]
			return s.Shards == 6 && s.Owned == 6 && s.Owners == 1
		})
		cli(t, "audit", at.flag, at.where, "--json").ok().says(`"what":"shards outbox/default 6"`, `"why":"more relays"`)
	})
}

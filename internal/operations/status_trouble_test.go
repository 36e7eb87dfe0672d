package operations_test

import (
	"slices"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// What people are told to look at is what keeps messages from being delivered, each by its name, and nothing else.
func TestTroublesNameWhatKeepsMessagesFromBeingDelivered(t *testing.T) {
	t.Parallel()
	ref := store.Ref{Box: "outbox", Subscription: "default"}
	at := func(state string) []store.Condition {
		c := store.Condition{Ref: ref, State: state, Since: 5 * time.Second, Lease: time.Minute}
		if state != "closed" {
			c.Error = "nobody answers"
		}
		return []store.Condition{c}
	}
	for name, c := range map[string]struct {
		change func(*store.Overview, *store.SubscriptionView)
		want   []string
	}{
		"healthy":   {func(*store.Overview, *store.SubscriptionView) {}, nil},
		"a backlog": {func(_ *store.Overview, s *store.SubscriptionView) { s.Backlog, s.Oldest = 1000, time.Hour }, nil},
		"retrying":  {func(_ *store.Overview, s *store.SubscriptionView) { s.Parked[store.ParkRetrying] = 3 }, nil},
		"no relay":  {func(_ *store.Overview, s *store.SubscriptionView) { s.Shards[0].Owner = "" }, []string{"no relay works outbox/default; start one"}},
		"a replay that nobody works": {
			func(_ *store.Overview, s *store.SubscriptionView) {
				s.Shards[0].Owner, s.Replay = "", &store.Replay{Of: "other"}
			},
			[]string{"nobody works the replay outbox/default; go on with it, or end it with postbag replay cancel; run postbag replay resume default --box outbox --why WHY"},
		},
		"no subscription": {
			func(o *store.Overview, _ *store.SubscriptionView) { o.Boxes[0].Subscriptions = nil },
			[]string{"box outbox has messages and no subscription; start a relay"},
		},
		"paused": {
			func(_ *store.Overview, s *store.SubscriptionView) { s.Paused = true },
			[]string{"outbox/default is paused by an operator; nothing of it is delivered until it is resumed; run postbag subscriptions resume --box outbox --subscription default --why WHY"},
		},
		"paused by somebody": {
			func(o *store.Overview, s *store.SubscriptionView) {
				s.Paused = true
				o.Pauses = []store.Pause{{Ref: ref, Scope: store.PauseSubscription, Who: "ann", Why: "a move", Since: time.Unix(0, 0)}}
			},
			[]string{"outbox/default is paused by ann since 1970-01-01T00:00:00Z until it is resumed: a move; run postbag subscriptions resume --box outbox --subscription default --why WHY"},
		},
		"away without a word": {
			func(o *store.Overview, _ *store.SubscriptionView) {
				o.Relays[0].Conditions = at("open")
				o.Relays[0].Conditions[0].Error = ""
			},
			[]string{"the destination of outbox/default takes no messages, now for 5.0s"},
		},
		"away": {
			func(o *store.Overview, _ *store.SubscriptionView) { o.Relays[0].Conditions = at("open") },
			[]string{"the destination of outbox/default takes no messages, now for 5.0s: nobody answers"},
		},
		"away and tried again": {
			func(o *store.Overview, _ *store.SubscriptionView) { o.Relays[0].Conditions = at("probing") },
			[]string{"the destination of outbox/default takes no messages, now for 5.0s: nobody answers"},
		},
		"full": {
			func(o *store.Overview, _ *store.SubscriptionView) { o.Relays[0].Conditions = at("held") },
			[]string{"the destination of outbox/default waits for topics that do not work, or for the end of a pause, now for 5.0s: nobody answers"},
		},
		"dead": {
			func(_ *store.Overview, s *store.SubscriptionView) { s.Parked[store.ParkDead] = 3 },
			[]string{"3 messages of outbox/default are dead; see postbag messages list --box outbox --subscription default --state dead"},
		},
		"a topic": {
			func(_ *store.Overview, s *store.SubscriptionView) {
				s.Held = []store.HeldTopic{{Topic: "orders", Messages: 2}}
			},
			[]string{"topic orders of outbox/default does not work, messages held: 2; see postbag messages list --box outbox --subscription default --state held"},
		},
		"no table": {
			func(o *store.Overview, _ *store.SubscriptionView) { o.Boxes[0].Missing = true },
			[]string{"box outbox: somebody dropped its table; restore it from a backup, or make it again empty; run postbag migrate up --box outbox"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := store.Overview{
				Boxes: []store.BoxView{{Name: "outbox", Rows: 5, Subscriptions: []store.SubscriptionView{{
					SubscriptionState: store.SubscriptionState{Ref: ref, Shards: []store.ShardState{{Owner: "a"}}},
					Parked:            map[store.ParkState]int64{},
				}}}},
				Relays: []store.RelayState{{ID: "a", Name: "first", Expires: time.Minute, Conditions: at("closed")}},
			}
			c.change(&o, &o.Boxes[0].Subscriptions[0])
			if got := operations.StatusOf(&o, nil).Troubles(); !slices.Equal(got, c.want) {
				t.Errorf("the troubles are %q, want %q", got, c.want)
			}
		})
	}
}

// What stands on a page is pasted into a shell, so it must be whole, and mean what it says.
func TestACommandAgainstATroubleCanBePasted(t *testing.T) {
	t.Parallel()
	paused := func(scope, value string) *operations.Status {
		return &operations.Status{Boxes: []operations.Box{{Name: "outbox", Subscriptions: []operations.Subscription{{
			Name: "a.b", Owned: 1, Pauses: []operations.Pause{{Scope: scope, Value: value, Box: "outbox", Subscription: "a.b", Who: "ann"}},
		}}}}}
	}
	for _, c := range []struct{ scope, value, want string }{
		{"subscription", "", "postbag subscriptions resume -c postbag.yaml --box outbox --subscription a.b --why "},
		{"key", "a b;c", "postbag subscriptions resume -c postbag.yaml --box outbox --subscription a.b --key 'a b;c' --why "},
		{"key", "it's", ""},
		{"key", "a\x1bb", ""},
	} {
		found := paused(c.scope, c.value).Found()
		if len(found) != 1 || found[0].Shell("-c postbag.yaml") != c.want || found[0].Box != "outbox" || found[0].Subscription != "a.b" {
			t.Errorf("%s %q: the troubles are %+v, not with the command %q", c.scope, c.value, found, c.want)
		}
	}
}

func TestASpanOfTimeKeepsItsDigits(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		80 * time.Second: "1m20s", 62 * time.Second: "1m2s", time.Minute: "1m", 10 * time.Minute: "10m", 70 * time.Minute: "1h10m", time.Hour: "1h", 10 * time.Hour: "10h",
		time.Hour + 10*time.Second: "1h0m10s", time.Hour + 20*time.Minute + 30*time.Second: "1h20m30s", 48 * time.Hour: "2.0d", 5 * time.Second: "5.0s", 0: "-",
	} {
		if got := operations.Span(d); got != want {
			t.Errorf("%v is written as %s, want %s", d, got, want)
		}
	}
}

package operations_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// parked is one message of a test, and how it is parked.
type parked struct {
	key, reason string
	state       store.ParkState
}

// withParked is a box with messages that are parked in these ways, in this sequence.
func withParked(t *testing.T, all ...parked) operations.Store {
	t.Helper()
	m := memstore.New(memstore.Options{})
	if err := m.CreateBox(t.Context(), boxtest.Outbox.Box); err != nil {
		t.Fatal(err)
	}
	d := boxtest.New(t, m)
	msgs := make([]postbag.Message, len(all))
	for i := range all {
		msgs[i] = postbag.Message{ID: postbag.NewID(), Topic: "orders", Key: all[i].key}
	}
	d.Must(m.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error { return m.Append(ctx, tx, boxtest.Outbox.Box, msgs) }))
	records := d.Read()
	parks := make([]store.Park, len(records))
	for i, r := range records {
		parks[i] = store.Park{Seq: r.Seq, Slot: r.Slot, Hash: r.Hash, State: all[i].state, Attempts: 1, Reason: all[i].reason}
		parks[i].Blocking = all[i].state == store.ParkRetrying
		if all[i].state == store.ParkHeld {
			parks[i].Topic = "orders"
		}
	}
	d.Settle(&d.Lease, store.Settlement{To: d.At, Park: parks, Tally: boxtest.Tally(store.TallyParked, records...)})
	s, err := operations.Of(m)
	d.Must(err)
	return s
}

func TestTheKindOfAnErrorIsWhatAllOfItsKindSay(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"refused":                                      "refused",
		"order 17 of 2,304 is unknown":                 "order N of N is unknown",
		"dial 10.0.0.7:5672: refused":                  "dial N: refused",
		`no user "Ann \o/" here`:                       `no user "…" here`,
		"no user 'Ann' here, can't go on":              "no user '…' here, can't go on",
		"field `a`, field `b`":                         "field `…`, field `…`",
		"HTTP 503: try later":                          "HTTP 503: try later",
		"status=404 for 17":                            "status=404 for N",
		"code: 23505":                                  "code: 23505",
		"http://h:81 answered 422 (no 7)":              "http://h:N answered 422 (no N)",
		"error: 17 of 20":                              "error: N of N",
		"dial tcp db1.example.com:5672: refused":       "dial tcp db1.example.com:N: refused",
		"kafka-2:9092 is away, 3 tries":                "kafka-2:N is away, N tries",
		"lookup q7.example on 10.0.0.2:53: no host":    "lookup q7.example on N: no host",
		`Post "https://a1.example:81/7": EOF 9`:        `Post "https://a1.example…": EOF N`,
		`dial "b2.example:81": refused`:                `dial "b2.example:N": refused`,
		"amqp://ann:17@10.0.0.7:5672/ is away":         "amqp://ann:N@10.0.0.7:N/ is away",
		"a1b2c3d4e5:17 is no offset":                   "ID:N is no offset",
		"read 10.0.0.5:51234->10.0.0.7:443: reset":     "read N->N: reset",
		"message 01234567-89ab-7cde-8f01-23456789abcd": "message ID",
		"commit 5f0a3c99d1 failed":                     "commit ID failed",
		"defaced facade deadbeef":                      "defaced facade deadbeef",
		`"`:                                            `"`,
		"":                                             "",
	} {
		if got := operations.ErrorKind(reason); got != want {
			t.Errorf("the kind of %q is %q, want %q", reason, got, want)
		}
	}
}

func TestErrorsAreGroupedByStateAndKind(t *testing.T) {
	t.Parallel()
	s := withParked(t,
		parked{"a", "order 1 is unknown", store.ParkDead}, parked{"", "HTTP 503", store.ParkRetrying}, parked{"b", "order 2 is unknown", store.ParkDead},
		parked{"c", "HTTP 503", store.ParkDead}, parked{"", "", store.ParkBlocked}, parked{"", "order 33 is unknown", store.ParkDead},
	)
	groups, err := s.ErrorGroups(t.Context(), store.Ref{Box: "outbox"})
	if err != nil || len(groups) != 3 {
		t.Fatalf("the groups are %+v: %v", groups, err)
	}
	first := groups[0]
	if first.Kind != "order N is unknown" || first.Messages != 3 || first.State != store.StateDead || first.AtLeast || first.Search != "is unknown" ||
		first.Example != "order 33 is unknown" || first.First.IsZero() || first.Last.Before(first.First) {
		t.Errorf("the first group is %+v", first)
	}
	if first.Same || !groups[1].Same || first.Topic != "orders" || first.Type != "" || first.Key != "" || groups[1].Key+groups[2].Key != "c" {
		t.Errorf("the messages of the groups have in common: %+v", groups)
	}
	for _, g := range groups[1:] {
		if g.Kind != "HTTP 503" || g.Messages != 1 || g.Search != "HTTP 503" {
			t.Errorf("a group is %+v", g)
		}
	}
}

func TestACountOfErrorsThatWasCutShortSaysSo(t *testing.T) {
	t.Parallel()
	s, _ := withDead(t, operations.MostParked+1)
	groups, err := s.ErrorGroups(t.Context(), boxtest.Outbox)
	if err != nil || len(groups) != 1 || groups[0].Messages != operations.MostParked || !groups[0].AtLeast {
		t.Errorf("the groups are %+v: %v", groups, err)
	}
}

func TestBlockedKeysSayHowManyWaitAndBehindWhat(t *testing.T) {
	t.Parallel()
	s := withParked(t,
		parked{"a", "refused", store.ParkRetrying}, parked{"b", "no topic", store.ParkHeld}, parked{"a", "", store.ParkBlocked},
		parked{"b", "", store.ParkBlocked}, parked{"b", "", store.ParkBlocked}, parked{"c", "alone", store.ParkRetrying},
	)
	keys, err := s.BlockedKeys(t.Context(), boxtest.Outbox)
	if err != nil || len(keys) != 2 {
		t.Fatalf("the keys are %+v: %v", keys, err)
	}
	for i, want := range []struct {
		key     string
		waiting int
		state   store.State
		reason  string
	}{{"b", 2, store.StateHeld, "no topic"}, {"a", 1, store.StateRetrying, "refused"}} {
		got := keys[i]
		if got.Key != want.key || got.Waiting != want.waiting || got.AtLeast || got.Since.IsZero() || got.Behind == nil || got.Behind.State != want.state || got.Behind.Error != want.reason {
			t.Errorf("key %d is %+v, behind %+v", i, got, got.Behind)
		}
	}
}

func TestAMessageKnowsWhatIsParkedBeforeAndBehindItInItsKey(t *testing.T) {
	t.Parallel()
	all := []parked{{"a", "refused", store.ParkRetrying}, {"b", "other", store.ParkRetrying}}
	for range 3 {
		all = append(all, parked{"a", "", store.ParkBlocked})
	}
	s := withParked(t, all...)
	items, _, err := s.List(t.Context(), store.Query{Ref: boxtest.Outbox, Key: "a", Oldest: true})
	if err != nil || len(items) != 4 {
		t.Fatalf("the messages are %+v: %v", items, err)
	}
	for i := range items {
		around, err := s.Around(t.Context(), store.Ref{Box: "outbox"}, items[i].ID)
		if err != nil || len(around) != 1 || around[0].Key != "a" || len(around[0].Before) != i || len(around[0].Behind) != 3-i || around[0].AtLeast {
			t.Fatalf("around message %d is %+v: %v", i, around, err)
		}
		others := slices.Delete(slices.Clone(items), i, i+1)
		for j, m := range append(around[0].Before, around[0].Behind...) {
			if m.Seq != others[j].Seq {
				t.Errorf("around message %d, message %d has seq %d, want %d", i, j, m.Seq, others[j].Seq)
			}
		}
	}
	alone := withParked(t, parked{"", "refused", store.ParkDead})
	items, _, err = alone.List(t.Context(), store.Query{Ref: boxtest.Outbox})
	if err != nil {
		t.Fatal(err)
	}
	around, err := alone.Around(t.Context(), boxtest.Outbox, items[0].ID)
	if err != nil || len(around) != 1 || around[0].Key != "" || len(around[0].Before)+len(around[0].Behind) != 0 {
		t.Errorf("around a message without a key is %+v: %v", around, err)
	}
	if _, err := alone.Around(t.Context(), boxtest.Outbox, postbag.NewID()); err == nil {
		t.Error("a message that is not there has a place in its key")
	}
}

func TestALookAtErrorsAndKeysOfABoxThatIsNotThereFails(t *testing.T) {
	t.Parallel()
	s := withParked(t, parked{"a", "refused", store.ParkDead})
	for _, r := range []store.Ref{{Box: "none"}, {Box: "outbox", Subscription: "nobody"}} {
		_, errors := s.ErrorGroups(t.Context(), r)
		_, keys := s.BlockedKeys(t.Context(), r)
		if errors == nil || keys == nil {
			t.Errorf("%s shows errors and keys: %s", r, fmt.Sprint(errors, keys))
		}
	}
}

// group is one of the subscription of withParked.
func group(state store.State, kind string) operations.ErrorGroup {
	return operations.ErrorGroup{Subscription: boxtest.Outbox.Subscription, State: state, Kind: kind}
}

func TestACommandIsForTheGroupThatWasCounted(t *testing.T) {
	t.Parallel()
	s := withParked(t, parked{"a", "order 1 is unknown", store.ParkDead}, parked{"b", "refused", store.ParkDead}, parked{"c", "order 2 is unknown", store.ParkDead})
	all, err := s.ErrorGroups(t.Context(), store.Ref{Box: "outbox"})
	if err != nil || all[0].Messages != 2 {
		t.Fatalf("the groups are %+v, %v", all, err)
	}
	if p, err := s.PreviewGroup(t.Context(), store.Ref{Box: "outbox"}, store.Discard, all[0]); err != nil || p.Size() != 2 {
		t.Errorf("of what was counted it finds %+v, %v", p, err)
	}
	more, other := all[0], all[0]
	more.Messages++
	other.ID = all[1].ID
	for _, g := range []operations.ErrorGroup{more, other} {
		if p, err := s.PreviewGroup(t.Context(), store.Ref{Box: "outbox"}, store.Discard, g); !errors.Is(err, operations.ErrInvalid) {
			t.Errorf("of another group it finds %+v, %v", p, err)
		}
	}
}

func TestAGroupOfErrorsTakesACommand(t *testing.T) {
	t.Parallel()
	s := withParked(t, parked{"a", "order 1 is unknown", store.ParkDead}, parked{"b", "refused", store.ParkDead}, parked{"c", "order 2 is unknown", store.ParkDead}, parked{"d", "order 3 is unknown", store.ParkRetrying})
	p, err := s.PreviewGroup(t.Context(), store.Ref{Box: "outbox"}, store.Discard, group(store.StateDead, "order N is unknown"))
	if err != nil || p.Size() != 2 || p.First[0].Reason != "order 1 is unknown" || p.First[1].Reason != "order 2 is unknown" {
		t.Fatalf("the group is %+v, %v", p, err)
	}
	did, err := s.Run(p, store.Audit{Who: "ann", Why: "a test"}).Do(t.Context())
	if err != nil || did.Queued != 2 {
		t.Errorf("it did %+v, %v", did, err)
	}
	for _, none := range []struct {
		state store.State
		kind  string
		want  error
	}{
		{store.StateDead, "order 1 is unknown", operations.ErrNotFound},
		{store.StateHeld, "order N is unknown", operations.ErrNotFound},
		{store.StatePending, "order N is unknown", operations.ErrInvalid},
	} {
		if p, err := s.PreviewGroup(t.Context(), boxtest.Outbox, store.Retry, group(none.state, none.kind)); !errors.Is(err, none.want) {
			t.Errorf("of %s %q it finds %+v, %v", none.state, none.kind, p, err)
		}
	}
	if _, err := s.PreviewGroup(t.Context(), store.Ref{Box: "outbox", Subscription: "none"}, store.Retry, group(store.StateDead, "refused")); !errors.Is(err, store.ErrNoSubscription) {
		t.Errorf("of a subscription that is not there it says %v", err)
	}
}

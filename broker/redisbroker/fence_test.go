package redisbroker_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/redisbroker"
	"github.com/postbag/postbag/internal/publishtest"
)

// fenced is a fenced destination on the shared server, and n messages of one key.
func fenced(t *testing.T, o redisbroker.Options, n int) (*redisbroker.Destination, place, []broker.Delivery) {
	t.Helper()
	o.Fence = true
	p := newPlace(admin(t, sharedServer(t)))
	m := publishtest.Messages(p.topic, n)
	for i := range m {
		m[i].Key = "customer"
	}
	return dial(t, "redis://"+sharedServer(t).Addr(), o), p, m
}

func ids(t *testing.T, p place) string {
	t.Helper()
	var all []string
	for _, x := range p.entries(t) {
		all = append(all, x.ID)
	}
	return strings.Join(all, " ")
}

func TestARepeatIsStoredOnceInAKeysOwnStream(t *testing.T) {
	t.Parallel()
	d, p, m := fenced(t, redisbroker.Options{}, 3)
	for i := range m {
		wants(t, publishtest.Publish(t, d, 10*time.Second, m[i]), broker.Accepted, "")
	}
	for i := range m {
		wants(t, publishtest.Publish(t, d, 10*time.Second, m[i]), broker.Accepted, "duplicate")
	}
	if got := ids(t, p); got != "1-65536 1-131072 1-196608" {
		t.Errorf("the entries are %s", got)
	}
	if got := p.streams(t); len(got) != 1 || got[0] != "{"+p.topic+":customer}" {
		t.Errorf("the streams are %q", got)
	}
}

// A relay that lost its shard without knowing sends what another has sent long ago.
func TestAZombieRelayStoresNothing(t *testing.T) {
	t.Parallel()
	d, p, m := fenced(t, redisbroker.Options{}, 50)
	zombie := dial(t, "redis://"+sharedServer(t).Addr(), redisbroker.Options{Fence: true})
	for i := range m {
		wants(t, publishtest.Publish(t, d, 10*time.Second, m[i]), broker.Accepted, "")
		wants(t, publishtest.Publish(t, zombie, 10*time.Second, m[i/2]), broker.Accepted, "duplicate")
	}
	if held := p.entries(t); len(held) != len(m) {
		t.Errorf("%d entries of %d messages", len(held), len(m))
	}
}

// A promoted standby gives out seqs again that were lost: another life, another id.
func TestEntriesAfterADatabaseFailoverHaveDifferentIDs(t *testing.T) {
	t.Parallel()
	d, p, m := fenced(t, redisbroker.Options{}, 3)
	for i := range m {
		wants(t, publishtest.Publish(t, d, 10*time.Second, m[i]), broker.Accepted, "")
	}
	next := m[2]
	next.ID, next.Life = postbag.NewID(), 2
	wants(t, publishtest.Publish(t, d, 10*time.Second, next), broker.Accepted, "")
	if got := ids(t, p); got != "1-65536 1-131072 1-196608 2-196608" {
		t.Errorf("the entries are %s", got)
	}
}

func TestAnotherMessageUnderTheSameIDIsRejected(t *testing.T) {
	t.Parallel()
	d, p, m := fenced(t, redisbroker.Options{}, 2)
	wants(t, publishtest.Publish(t, d, 10*time.Second, m[0]), broker.Accepted, "")
	other := m[0]
	other.ID = postbag.NewID()
	wants(t, publishtest.Publish(t, d, 10*time.Second, other), broker.Rejected, "another message is stored")
	raised := dial(t, "redis://"+sharedServer(t).Addr(), redisbroker.Options{Fence: true, Epoch: 1})
	wants(t, publishtest.Publish(t, raised, 10*time.Second, other), broker.Accepted, "")
	if got := ids(t, p); got != "1-65536 4294967297-65536" {
		t.Errorf("the entries are %s", got)
	}
}

// Two subscriptions of one box fence one stream. What the second would store is not
// there, and its message is not taken for stored.
func TestAnEntryOfAnotherSubscriptionIsNotADuplicate(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(m *broker.Delivery){
		"topic":   func(m *broker.Delivery) { m.Topic += ".b" },
		"header":  func(m *broker.Delivery) { m.Headers = map[string]string{"made": "by b"} },
		"payload": func(m *broker.Delivery) { m.Payload = []byte("by b") },
		"encoder": func(m *broker.Delivery) { m.Wire = &broker.Wire{Headers: map[string]string{"ce-id": "1"}} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			into := newPlace(admin(t, sharedServer(t)))
			o := redisbroker.Options{Stream: func(broker.Delivery) string { return "{" + into.topic + ":customer}" }}
			a, _, m := fenced(t, o, 1)
			b, _, _ := fenced(t, o, 0)
			m[0].Subscription = "a"
			other := m[0]
			other.Subscription = "b"
			change(&other)
			wants(t, publishtest.Publish(t, a, 10*time.Second, m[0]), broker.Accepted, "")
			for range 2 {
				wants(t, publishtest.Publish(t, b, 10*time.Second, other), broker.Rejected, "Options.Stream")
			}
			wants(t, publishtest.Publish(t, a, 10*time.Second, m[0]), broker.Accepted, "duplicate")
			if held := into.entries(t); len(held) != 1 {
				t.Errorf("%d entries, want that of the first subscription", len(held))
			}
		})
	}
}

// Two prefixes make one stream's name of two topics.
func TestTwoPrefixesThatMakeOneStreamNameAreReported(t *testing.T) {
	t.Parallel()
	a, p, m := fenced(t, redisbroker.Options{}, 1)
	cut := len(p.topic) / 2
	b, _, _ := fenced(t, redisbroker.Options{Prefix: p.topic[:cut]}, 0)
	other := m[0]
	other.Subscription, other.Topic = "b", p.topic[cut:]
	wants(t, publishtest.Publish(t, a, 10*time.Second, m[0]), broker.Accepted, "")
	r := publishtest.Publish(t, b, 10*time.Second, other)
	wants(t, r, broker.Rejected, "another subscription or writer fences the same stream")
	if text := r[0].Err.Error(); !strings.Contains(text, "{"+p.topic+":KEY}") || strings.Contains(text, "customer") {
		t.Errorf("the error is %q, want the stream in it without its key", text)
	}
	if held := p.entries(t); len(held) != 1 {
		t.Errorf("%d entries, want one", len(held))
	}
}

func TestAMessageWhoseEntryWasDeletedIsRejected(t *testing.T) {
	t.Parallel()
	d, p, m := fenced(t, redisbroker.Options{}, 2)
	for i := range m {
		wants(t, publishtest.Publish(t, d, 10*time.Second, m[i]), broker.Accepted, "")
	}
	do(t, sharedServer(t), "XDEL", p.streams(t)[0], "1-65536")
	wants(t, publishtest.Publish(t, d, 10*time.Second, m[0]), broker.Rejected, "has no entry of that id")
}

// Two transactions write to a key, and the one with the higher seq commits first.
func TestAMessageThatCommitsLateIsStoredOnceBehindTheOthers(t *testing.T) {
	t.Parallel()
	d, p, m := fenced(t, redisbroker.Options{}, 6)
	zombie := dial(t, "redis://"+sharedServer(t).Addr(), redisbroker.Options{Fence: true})
	delivered := []int{1, 0, 4, 3, 2, 5}
	for _, i := range delivered {
		wants(t, publishtest.Publish(t, d, 10*time.Second, m[i]), broker.Accepted, "")
		for _, again := range delivered {
			if again == i {
				break
			}
			wants(t, publishtest.Publish(t, zombie, 10*time.Second, m[again]), broker.Accepted, "duplicate")
		}
	}
	var got []int
	for _, x := range p.entries(t) {
		for i := range m {
			if x.Values[broker.HeaderID] == m[i].ID.String() {
				got = append(got, i)
			}
		}
	}
	if !slices.Equal(got, delivered) {
		t.Errorf("the stream holds %v, want %v", got, delivered)
	}
}

func TestALateMessageSentByManyIsStoredOnce(t *testing.T) {
	t.Parallel()
	d, p, m := fenced(t, redisbroker.Options{}, 30)
	last := len(m) - 1
	wants(t, publishtest.Publish(t, d, 10*time.Second, m[last]), broker.Accepted, "")
	var senders sync.WaitGroup
	for range 4 {
		other := dial(t, "redis://"+sharedServer(t).Addr(), redisbroker.Options{Fence: true})
		senders.Go(func() {
			for i := range last {
				for publishtest.Publish(t, other, 10*time.Second, m[i])[0].Outcome == broker.Unknown {
					continue
				}
			}
		})
	}
	senders.Wait()
	if held := p.entries(t); len(held) != len(m) {
		t.Errorf("%d entries of %d messages", len(held), len(m))
	}
}

// What was trimmed may have been stored: nobody can tell it from what came late.
func TestALateMessageIsRejectedWhereEntriesWereTrimmedOrDeleted(t *testing.T) {
	t.Parallel()
	d, p, m := fenced(t, redisbroker.Options{}, 4)
	for i := range m[1:] {
		wants(t, publishtest.Publish(t, d, 10*time.Second, m[i+1]), broker.Accepted, "")
	}
	do(t, sharedServer(t), "XTRIM", p.streams(t)[0], "MAXLEN", "2")
	wants(t, publishtest.Publish(t, d, 10*time.Second, m[0]), broker.Rejected, "cannot be told")
	wants(t, publishtest.Publish(t, d, 10*time.Second, m[1]), broker.Rejected, "cannot be told")
}

func TestAMessageWhoseSeqExceedsTheEntryIDIsRejected(t *testing.T) {
	t.Parallel()
	d, _, m := fenced(t, redisbroker.Options{}, 2)
	m[0].Seq, m[1].Seq = 1<<47-1, 1<<47
	wants(t, publishtest.Publish(t, d, 10*time.Second, m[0]), broker.Accepted, "")
	wants(t, publishtest.Publish(t, d, 10*time.Second, m[1]), broker.Rejected, "too large for an entry's id")
}

func TestTheFenceComparesTheWholeEncodedMessage(t *testing.T) {
	t.Parallel()
	d, p, m := fenced(t, redisbroker.Options{}, 1)
	m[0].Wire = &broker.Wire{Headers: map[string]string{"ce-id": "1"}, ContentType: "text/plain"}
	wants(t, publishtest.Publish(t, d, 10*time.Second, m[0]), broker.Accepted, "")
	wants(t, publishtest.Publish(t, d, 10*time.Second, m[0]), broker.Accepted, "duplicate")
	for name, change := range map[string]func(m *broker.Delivery){
		"value": func(m *broker.Delivery) {
			m.Wire = &broker.Wire{Headers: map[string]string{"ce-id": "2"}, ContentType: "text/plain"}
		},
		"fewer":   func(m *broker.Delivery) { m.Wire = &broker.Wire{Headers: map[string]string{"ce-id": "1"}} },
		"payload": func(m *broker.Delivery) { m.Payload = []byte("another") },
	} {
		other := m[0]
		change(&other)
		if r := publishtest.Publish(t, d, 10*time.Second, other)[0]; r.Outcome != broker.Rejected {
			t.Errorf("%s differs: %v (%v)", name, r.Outcome, r.Err)
		}
	}
	if held := p.entries(t); len(held) != 1 {
		t.Errorf("%d entries", len(held))
	}
}

func TestMessagesWithoutAKeyOrASeqAreNotFenced(t *testing.T) {
	t.Parallel()
	d, p, m := fenced(t, redisbroker.Options{}, 2)
	m[0].Key, m[1].Seq = "", 0
	for range 2 {
		wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Accepted, "")
	}
	if held := p.entries(t); len(held) != 4 {
		t.Errorf("%d entries, want 4", len(held))
	}
}

func TestAFencedRepeatWithoutTheRightToReadIsMisconfigured(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	do(t, s, "ACL", "SETUSER", "relay", "on", ">"+password, "~*", "+xadd")
	d := to(t, s, redisbroker.Options{Fence: true, Login: redisbroker.Login{User: "relay", Password: password}})
	m := publishtest.Messages("orders", 2)
	wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Accepted, "")
	wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Misconfigured, "XRANGE")
}

func TestReplicasAreWaitedFor(t *testing.T) {
	t.Parallel()
	primary := start(t, nil)
	options := redisbroker.Options{Replicas: 1, ReplicaWait: 300 * time.Millisecond}
	d := to(t, primary, options)
	options.Fence = true
	strict := to(t, primary, options)
	m := publishtest.Messages("orders", 3)
	wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Unknown, "0 of 1 replicas had it within 300ms")
	wants(t, publishtest.Publish(t, strict, 10*time.Second, m...), broker.Unknown, "0 of 1 replicas")
	wants(t, publishtest.Publish(t, strict, 10*time.Second, m...), broker.Unknown, "0 of 1 replicas") // there, and compared
	replica := replicaOf(t, primary)
	publishtest.Eventually(t, "the replica answers", func() bool { return publishtest.Publish(t, strict, 10*time.Second, m...)[0].Note == "duplicate" })
	wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Accepted, "")
	if got := do(t, replica, "XLEN", "orders"); got != "6" {
		t.Errorf("the replica holds %s entries, want 6", got)
	}
	if err := replica.Pause(); err != nil {
		t.Fatal(err)
	}
	wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Unknown, "0 of 1 replicas")
	if err := replica.Resume(); err != nil {
		t.Fatal(err)
	}
	publishtest.Eventually(t, "the replica is back", func() bool { return publishtest.Publish(t, d, 10*time.Second, m...)[0].Outcome == broker.Accepted })
	do(t, primary, "ACL", "SETUSER", "relay", "on", ">"+password, "~*", "+xadd")
	options = redisbroker.Options{Replicas: 1, Login: redisbroker.Login{User: "relay", Password: password}}
	wants(t, publishtest.Publish(t, to(t, primary, options), 10*time.Second, m...), broker.Misconfigured, "grant WAIT")
}

func TestStreamsAreTrimmedOnlyWhenAskedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options     redisbroker.Options
		least, most int // that are left of 60 old ones and 200 new ones
	}{
		"not at all":  {redisbroker.Options{}, 260, 260},
		"to a number": {redisbroker.Options{MaxLen: 5, ExactTrim: true}, 5, 5},
		"to about it": {redisbroker.Options{MaxLen: 5}, 6, 199}, // whole nodes of a stream go, which hold a few KiB
		"by age":      {redisbroker.Options{MaxAge: time.Hour, ExactTrim: true}, 200, 200},
		"by about it": {redisbroker.Options{MaxAge: time.Hour}, 201, 260},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(admin(t, sharedServer(t)))
			for range 60 {
				do(t, sharedServer(t), "XADD", p.topic, "1-*", "old", "1")
			}
			d := dial(t, "redis://"+sharedServer(t).Addr(), c.options)
			wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic, 200)...), broker.Accepted, "")
			if held := len(p.entries(t)); held < c.least || held > c.most {
				t.Errorf("%d entries are left, want %d to %d", held, c.least, c.most)
			}
		})
	}
}

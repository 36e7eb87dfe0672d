package engine_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// heavy makes messages that weigh so much.
func heavy(size int, msgs ...store.Record) []store.Record {
	for i := range msgs {
		msgs[i].Payload = make([]byte, size-weight)
	}
	return msgs
}

// inHand checks what the messages in hand weigh.
func (d *desk) inHand(bytes int) {
	d.t.Helper()
	d.audit()
	if got := d.f.Stats().Bytes; got != bytes {
		d.t.Fatalf("%d bytes are in hand, want %d", got, bytes)
	}
}

// asks makes the turn, whose only read must be of so many bytes.
func (d *desk) asks(bytes int) store.Turn {
	d.t.Helper()
	t := d.turn()
	if len(t.Read) != 1 || t.Read[0].Limit == 0 || t.Read[0].Bytes != bytes {
		d.t.Fatalf("the turn reads %+v, want %d bytes", t.Read, bytes)
	}
	return t
}

// noRead checks that nothing is read now.
func (d *desk) noRead() {
	d.t.Helper()
	t := d.f.Turn(d.now)
	for _, r := range t.Read {
		if r.Limit > 0 {
			d.t.Fatalf("%d bytes are read with %d in hand", r.Bytes, d.f.Stats().Bytes)
		}
	}
	if !t.Empty() {
		d.land(t)
	}
}

func TestWhatIsReadIsBoundedByBytes(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Buffer: 4000, PageBytes: 1 << 20, Calls: 1, Batch: 1}) // windows have 3000
	d.land(d.asks(3000), part("1", heavy(500, messages(1, 1, 2, 3)...)...))
	d.inHand(1500)
	d.noRead() // 1000 are left for what comes and the message that crosses
	d.now += 50 * ms
	c := d.call(1)
	d.noRead()
	d.answer(c, broker.Accepted)
	d.inHand(1000) // nobody needs the bytes of what was accepted
	d.land(d.asks(1500), part("2", heavy(500, messages(4, 4, 5)...)...))
	d.inHand(2000)
	d.noRead()
}

func TestOneMessageGoesHoweverLargeItIs(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{Buffer: 4, Calls: 1})
	d.land(d.asks(3), part("1", heavy(5000, messages(1, 1)...)...))
	d.inHand(5000)
	d.noRead()
	d.deliver(1)
	d.inHand(0)
	d.land(d.asks(3), part("2", heavy(5000, messages(2, 1)...)...))
	d.deliver(2)
	d.inHand(0)
}

// The bytes of a message whose call goes on are needed, although its row is parked.
func TestASlowCallStillCountsInTheBuffer(t *testing.T) {
	t.Parallel()
	d, slow := late(t, engine.Config{})
	d.audit()
	before := d.f.Stats().Bytes
	if before == 0 {
		t.Fatal("a call is out, and nothing is in hand")
	}
	d.answer(slow, broker.Accepted)
	d.inHand(before - weight)
}

func TestAPayloadIsFreedAsSoonAsNobodyNeedsIt(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.feed("1", heavy(1000, messages(1, 1, 2)...)...)
	c := d.call(1, 2)
	d.f.Lost(0)
	d.audit()
	if c.Items[0].Payload == nil || c.Items[1].Payload == nil {
		t.Fatal("a payload is let go while a call has it")
	}
	d.answer(c, broker.Accepted)
	d.inHand(0)
	if c.Items[0].Payload != nil || c.Items[1].Payload != nil || c.Items[0].ID != idOf(1) {
		t.Fatalf("a payload is kept, or an id is not: %+v", c.Items)
	}
}

// What was parked has a part of the buffer for itself: a window that is full does not
// keep it from being tried, nor the other way round.
func TestParkedMessagesHaveTheirOwnPartOfTheBuffer(t *testing.T) {
	t.Parallel()
	d := blocked(t, engine.Config{Buffer: 400, Calls: 1, Batch: 1})
	d.f.DueLanded(d.now, nil)
	d.feed("1", heavy(600, message(100, 4))...)
	d.inHand(600)
	d.noRead()
	d.f.NextDue(d.now, 0)
	equal(t, "bytes that are asked for", d.due().Bytes, 100)
	d.f.DueLanded(d.now, []store.Parked{parkedOf(heavy(700, message(1, 1))[0], store.Park{State: store.ParkRetrying, Blocking: true})})
	d.inHand(1300)
	d.now += time.Minute
	d.noDue()
	d.deliver(100)
	d.inHand(700)
	d.deliver(1)
	d.inHand(0)
}

// A group that waits reads before those that have read since.
func TestNoGroupStopsAnotherFromReading(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{Buffer: 4, Calls: 1, PageBytes: 100})
	d.f.Add(lease(0, 2048, 1, 1), "a", store.Blocks{})
	d.f.Add(lease(2048, 4096, 2, 1), "b", store.Blocks{})
	read := map[store.Position]int{}
	for seq := int64(1); seq < 60; seq++ {
		turn := d.turn()
		var pages []store.Batch
		for _, r := range turn.Read {
			if r.Limit == 0 {
				pages = append(pages, store.Batch{Next: r.From})
				continue
			}
			key := 2
			if r.Slots[0].Lo > 0 {
				key = 1
			}
			read[r.From[:1]]++
			p := part(r.From+"+", heavy(1000, message(seq, key))...)
			p.Whole = true
			pages = append(pages, p)
		}
		d.land(turn, pages...)
		for c := d.f.Next(d.now); c != nil; c = d.f.Next(d.now) {
			d.answer(c, broker.Accepted)
		}
		d.now += 1100 * ms
	}
	if read["a"] < 10 || read["b"] < 10 {
		t.Fatalf("the groups read %v times", read)
	}
}

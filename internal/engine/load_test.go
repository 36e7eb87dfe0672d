package engine_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
)

// heavy makes messages that weigh so much.
func heavy(size int, msgs ...engine.Message) []engine.Message {
	for i := range msgs {
		msgs[i].Size = size
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
func (d *desk) asks(bytes int) engine.Turn {
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
	d := oneShard(t, engine.Config{Buffer: 400, PageBytes: 1 << 20, Calls: 1, Batch: 1}) // windows have 300
	d.land(d.asks(300), part("1", heavy(50, messages(1, 1, 2, 3)...)...))
	d.inHand(150)
	d.noRead() // 100 are left for what comes and the message that crosses
	d.now += 50 * ms
	c := d.call(1)
	d.noRead()
	d.answer(c, broker.Accepted)
	d.inHand(100) // nobody needs the bytes of what was accepted
	d.land(d.asks(150), part("2", heavy(50, messages(4, 4, 5)...)...))
	d.inHand(200)
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
func TestASlowCallKeepsItsBytes(t *testing.T) {
	t.Parallel()
	d, slow := late(t, engine.Config{})
	d.audit()
	before := d.f.Stats().Bytes
	if before == 0 {
		t.Fatal("a call is out, and nothing is in hand")
	}
	d.answer(slow, broker.Accepted)
	d.inHand(before - 10)
}

func TestBytesAreLetGoOnce(t *testing.T) {
	t.Parallel()
	var tags []any
	d := oneShard(t, engine.Config{LetGo: func(tag any) { tags = append(tags, tag) }})
	d.feed("1", messages(1, 1, 2)...)
	c := d.call(1, 2)
	d.f.Lost(0)
	d.audit()
	if len(tags) != 0 {
		t.Fatalf("%v are let go while a call has them", tags)
	}
	d.answer(c, broker.Accepted)
	d.inHand(0)
	if len(tags) != 2 {
		t.Fatalf("%v are let go", tags)
	}
}

// What was parked has a part of the buffer for itself: a window that is full does not
// keep it from being tried, nor the other way round.
func TestParkedMessagesHaveTheirOwnRoom(t *testing.T) {
	t.Parallel()
	d := blocked(t, engine.Config{Buffer: 40, Calls: 1, Batch: 1})
	d.f.DueLanded(d.now, nil)
	d.feed("1", heavy(60, message(100, 4))...)
	d.inHand(60)
	d.noRead()
	d.f.NextDue(d.now, 0)
	equal(t, "bytes that are asked for", d.due().Bytes, 10)
	d.f.DueLanded(d.now, []engine.DueMessage{{Message: heavy(70, message(1, 1))[0], Blocking: true}})
	d.inHand(130)
	d.now += time.Minute
	d.noDue()
	d.deliver(100)
	d.inHand(70)
	d.deliver(1)
	d.inHand(0)
}

// A lane that waits reads before those that have read since.
func TestNoLaneKeepsAnotherFromReading(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{Buffer: 4, Calls: 1, PageBytes: 100})
	d.f.Add(engine.Lease{Lo: 0, Hi: 2048, Token: 1, Version: 1}, "a", nil)
	d.f.Add(engine.Lease{Lo: 2048, Hi: 4096, Token: 2, Version: 1}, "b", nil)
	read := map[string]int{}
	for seq := int64(1); seq < 60; seq++ {
		turn := d.turn()
		var pages []engine.Page
		for _, r := range turn.Read {
			if r.Limit == 0 {
				pages = append(pages, engine.Page{Next: r.From})
				continue
			}
			key := 2
			if r.Slots[0][0] > 0 {
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
		t.Fatalf("the lanes read %v times", read)
	}
}

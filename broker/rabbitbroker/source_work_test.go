package rabbitbroker

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// server is what RabbitMQ does with the commands of one channel.
type server map[uint64]string // by tag: open, acked, back

func (s server) obey(t *testing.T, c commands) {
	t.Helper()
	for _, tag := range c.backs {
		s.settle(t, tag, "back")
	}
	if c.upTo > 0 {
		if s[c.upTo] != "open" {
			t.Fatalf("an ack of all up to %d, which is %s: the server closes the channel", c.upTo, s[c.upTo])
		}
		for tag, state := range s {
			if tag <= c.upTo && state == "open" {
				s[tag] = "acked"
			}
		}
	}
	for _, tag := range c.acks {
		s.settle(t, tag, "acked")
	}
}

func (s server) settle(t *testing.T, tag uint64, as string) {
	t.Helper()
	if s[tag] != "open" {
		t.Fatalf("a command for tag %d, which is %s: the server closes the channel", tag, s[tag])
	}
	s[tag] = as
}

// Whatever is acked and released in whatever sequence: the server does to each message what its caller said, and to no other.
func TestCommandsDoToEachMessageWhatWasAskedAndToNoOther(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 7))
		now := time.Unix(1000, 0)
		tags, srv, want := newTags(), server{}, map[uint64]string{}
		next := uint64(1)
		due := map[uint64]time.Time{}
		for range 200 {
			switch n := random.IntN(10); {
			case n < 4:
				tags.arrive(next)
				srv[next], want[next] = "open", "open"
				next++
			case n < 6:
				for tag, state := range tags.open {
					if state == tagAhead {
						tags.hand(tag)
					}
				}
			case n < 8 && next > 1:
				tag := random.Uint64N(next-1) + 1
				handed := tags.atWork(tag)
				if lost := tags.ack(tag); handed {
					want[tag] = "acked"
					if lost {
						t.Fatal("an ack of what is at work counts as lost")
					}
				}
			case n < 9 && next > 1:
				tag := random.Uint64N(next-1) + 1
				if tags.atWork(tag) {
					at := time.Time{}
					if random.IntN(2) == 0 {
						at = now.Add(time.Duration(random.IntN(5)) * time.Second)
					}
					due[tag], want[tag] = at, "back"
				}
				tags.release(tag, due[tag])
			default:
				now = now.Add(time.Second)
				c, _ := tags.take(now)
				srv.obey(t, c)
				for tag, state := range want {
					held := state == "back" && due[tag].After(now)
					if got := srv[tag]; got != state && !held || held && got != "open" {
						t.Fatalf("seed %d: tag %d is %s at the server, and was %s by the caller", seed, tag, got, state)
					}
				}
			}
		}
	}
}

func TestAnAckOfSeveralMessagesIsOneCommandWhereNoneBeforeIsOpen(t *testing.T) {
	t.Parallel()
	tags := newTags()
	for tag := range uint64(10) {
		tags.arrive(tag + 1)
		tags.hand(tag + 1)
	}
	for _, tag := range []uint64{3, 1, 2, 5, 7} {
		tags.ack(tag)
	}
	c, _ := tags.take(time.Now())
	if c.upTo != 3 || !slices.Equal(c.acks, []uint64{5, 7}) {
		t.Errorf("the commands are %+v, want an ack up to 3, and single ones of 5 and 7", c)
	}
	tags.ack(4)
	if c, _ = tags.take(time.Now()); c.upTo != 4 || len(c.acks) > 0 {
		t.Errorf("the commands are %+v, want an ack up to 4", c)
	}
}

func TestAcksOfWhatIsNotAtWorkAreCountedAsLostOrLeftOut(t *testing.T) {
	t.Parallel()
	tags := newTags()
	for tag := range uint64(4) {
		tags.arrive(tag + 1)
	}
	tags.hand(1)
	tags.hand(2)
	tags.ack(1)
	tags.release(2, time.Time{})
	before := tags.ack(2)
	tags.take(time.Now())
	for tag, want := range map[uint64]bool{0: true, 1: false, 2: true, 3: true, 5: true} {
		if got := tags.ack(tag); got != want {
			t.Errorf("the ack of %d counts as lost: %v, want %v", tag, got, want)
		}
	}
	if !before {
		t.Error("the ack of what was released does not count as lost before the server knows")
	}
}

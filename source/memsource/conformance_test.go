package memsource_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
	"github.com/postbag/postbag/source/sourcetest"
)

func TestAQueueConforms(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, harness(memsource.Options{Partitions: 2}))
}

func TestAQueueWithoutPlacesWithAnAckWaitConforms(t *testing.T) {
	t.Parallel()
	h := harness(memsource.Options{NoPlaces: true, NoCounts: true, AckWait: time.Second, MaxUnacked: 700})
	sourcetest.Run(t, h)
}

func TestALogWithPartitionsConforms(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, harness(memsource.Options{Order: source.OrderPartition, Partitions: 3, Cumulative: true}))
}

func TestALogWithSingleAcksConforms(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, harness(memsource.Options{Order: source.OrderPartition, Partitions: 3, AckWait: time.Second}))
}

func TestAStreamConforms(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, harness(memsource.Options{Order: source.OrderStream, Cumulative: true, NoCounts: true}))
}

// harness makes each fixture a broker of its own with these options.
func harness(o memsource.Options) sourcetest.Harness {
	h := sourcetest.Harness{
		On: "memory, " + o.Order.String(),
		Open: func(*testing.T) sourcetest.Fixture {
			return fixture(memsource.New(o), o)
		},
		Outage: func(*testing.T) (sourcetest.Fixture, sourcetest.Switch) {
			b := memsource.New(o)
			return fixture(b, o), sourcetest.Switch{Off: func() { b.SetDown(true) }, On: func() { b.SetDown(false) }}
		},
		Features: source.Features{
			Order: o.Order, Places: !o.NoPlaces, Counts: !o.NoCounts, Cumulative: o.Cumulative, AckWait: o.AckWait, MaxUnacked: o.MaxUnacked,
		},
		Nulls: true, Quiet: 50 * time.Millisecond, AckDelay: time.Millisecond,
	}
	if o.Order == source.OrderNone {
		h.Lacks = map[sourcetest.Part]string{sourcetest.PartRebalance: "a queue has no assignments"}
	}
	return h
}

func fixture(b *memsource.Broker, o memsource.Options) sourcetest.Fixture {
	const group = "g"
	f := sourcetest.Fixture{
		Join: func(*testing.T) source.Source { return b.Join(group) },
		Send: func(t *testing.T, msgs ...source.Message) {
			t.Helper()
			if err := b.Publish(msgs...); err != nil {
				t.Error(err)
			}
		},
		Kill: func(t *testing.T, s source.Source) {
			t.Helper()
			own, is := s.(*memsource.Source)
			if !is {
				t.Fatalf("a source is a %T", s)
			}
			own.Crash()
		},
		SendUndecodable: func(t *testing.T) {
			t.Helper()
			if err := b.Publish(source.Message{Err: fmt.Errorf("%w: unknown compression", source.ErrUndecodable)}); err != nil {
				t.Error(err)
			}
		},
	}
	if o.Order != source.OrderNone {
		f.Rebalance = func(*testing.T) { b.Rebalance(group) }
	}
	return f
}

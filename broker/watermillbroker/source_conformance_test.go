package watermillbroker_test

import (
	"bytes"
	"testing"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/watermillbroker"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcetest"
)

// suiteMessages is more than most cases have at work.
const suiteMessages = 250

// A GoChannel gives each message to every subscriber, and forgets what a subscriber leaves behind: it has no groups.
func TestASourceConforms(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, sourcetest.Harness{
		On:   "a Watermill subscriber in memory, as a source",
		Open: func(*testing.T) sourcetest.Fixture { return suiteFixture(newGroup()) },
		Outage: func(*testing.T) (sourcetest.Fixture, sourcetest.Switch) {
			g := newGroup()
			return suiteFixture(g), sourcetest.Switch{Off: g.stop, On: g.start}
		},
		Lacks: map[sourcetest.Part]string{
			sourcetest.PartRebalance:   "a subscriber tells of no partition",
			sourcetest.PartUndecodable: "a subscriber decodes messages itself",
		},
		Features:  source.Features{Order: source.OrderNone, MaxUnacked: suiteMessages, Binding: broker.BindingAMQP},
		NoRepeats: true, NoTimes: true,
	})
}

func suiteFixture(g *group) sourcetest.Fixture {
	members := map[source.Source]*member{}
	return sourcetest.Fixture{
		Join: func(t *testing.T) source.Source {
			m := g.member()
			src := openSource(t, m, watermillbroker.SourceOptions{
				Messages: suiteMessages, KeyMetadata: "partition_key", Binding: broker.BindingAMQP, CloseSubscriber: true,
			})
			members[src] = m
			return src
		},
		Send: func(_ *testing.T, msgs ...source.Message) {
			for _, one := range msgs {
				m := message.NewMessage(watermill.NewUUID(), bytes.Clone(one.Payload)) // the suite compares with its own
				for _, h := range one.Headers {
					m.Metadata.Set(h.Name, h.Value)
				}
				m.Metadata.Set("partition_key", one.Key)
				g.send("orders", m)
			}
		},
		Kill: func(_ *testing.T, src source.Source) {
			members[src].kill()
			members[src].work.Wait()
		},
	}
}

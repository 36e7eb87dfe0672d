package mqttbroker_test

import (
	"context"
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokertest"
	"github.com/postbag/postbag/broker/mqttbroker"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func TestADestinationOfQoS1Conforms(t *testing.T) {
	t.Parallel()
	brokertest.Run(t, harness("Mosquitto 2.0, QoS 1", mqttbroker.Options{}))
}

func TestADestinationOfQoS2Conforms(t *testing.T) {
	t.Parallel()
	h := harness("Mosquitto 2.0, QoS 2", mqttbroker.Options{QoS: 2, MaxPending: 50})
	h.Mute, h.CutsOff = nil, true
	h.Lacks = map[brokertest.Part]string{
		brokertest.PartMute: "with QoS 2 a message whose first answer is lost is never released to subscribers; QoS 1 shows the rest",
	}
	brokertest.Run(t, h)
}

func harness(on string, o mqttbroker.Options) brokertest.Harness {
	return brokertest.Harness{
		On: on,
		Open: func(t *testing.T) brokertest.Fixture {
			s := sharedServer(t)
			return newPlace(t, s).fixture(dial(t, s.Addr(), o))
		},
		Outage: func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			s := own(t, nil)
			do := func(what func(context.Context) error) func() {
				return func() {
					if err := what(context.Background()); err != nil {
						t.Fatal(err)
					}
				}
			}
			return newPlace(t, s).fixture(dial(t, s.Addr(), o)), brokertest.Switch{Off: do(s.Stop), On: do(s.Start)}
		},
		Mute: func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			s := sharedServer(t)
			line := servertest.Proxy(t, s.Addr())
			return newPlace(t, s).fixture(dial(t, line.Addr(), o)), brokertest.Switch{
				Off: func() { line.BlackHole(testserver.Down) },
				On: func() {
					line.Cut()
					if err := line.Resume(); err != nil {
						t.Fatal(err)
					}
				},
			}
		},
		MisconfiguredScope: broker.ScopeTopic,
		Misconfigured: func(t *testing.T) (brokertest.Fixture, brokertest.Switch) {
			s := own(t, func(o *testserver.MosquittoOptions) {
				o.ACL = []string{"user reader", "topic readwrite #", "user relay", "topic write elsewhere"}
			})
			return newPlace(t, s).fixture(dial(t, s.Addr(), o)), brokertest.Switch{On: func() {
				if err := s.SetACL(); err != nil {
					t.Fatal(err)
				}
			}}
		},
		Topics: func(t *testing.T) (brokertest.Fixture, string, brokertest.Switch) {
			s := own(t, func(o *testserver.MosquittoOptions) {
				o.ACL = []string{"user reader", "topic readwrite #", "user relay", "topic write +/made", "topic write marker/#"}
			})
			p := newPlace(t, s)
			heard := o
			heard.Unheard = true // nobody subscribes to the topic that fails, also when it is granted
			f := p.fixture(dial(t, s.Addr(), heard))
			return f, "elsewhere", brokertest.Switch{On: func() {
				if err := s.SetACL(); err != nil {
					t.Fatal(err)
				}
			}}
		},
		TooLarge: largest,
		Features: broker.Features{Binding: broker.BindingMQTT},
		Reserved: []string{"Postbag-Topic", "postbag-id", "content-type", "marker-of-nobody"},
		Secrets:  []string{password},
	}
}

package rabbitbroker_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// inOrder wants every message in the queue, those of a key first in their order.
func inOrder(t *testing.T, p *place, plan [][]broker.Delivery) (repeats int) {
	t.Helper()
	var held []string
	for _, m := range p.read(t) {
		held = append(held, m.MessageId)
	}
	return publishtest.InOrder(t, plan, held)
}

// One server of their own for all that stops, freezes or blocks it: it takes
// seconds to start.
func TestAServerThatIsKilledFrozenOrBlocksPublishers(t *testing.T) {
	t.Parallel()
	o := options()
	o.VerifyClients, o.Plugins = true, []string{"rabbitmq_auth_mechanism_ssl"}
	o.Config = []string{"auth_mechanisms.1 = PLAIN", "auth_mechanisms.2 = EXTERNAL", "ssl_cert_login_from = common_name"}
	node := servertest.RabbitMQ(t, o)
	dialled := func(t *testing.T, kind string) (*rabbitbroker.Destination, *place) {
		t.Helper()
		p := newPlace(t, node, kind, false).create(t, nil)
		return publishtest.Closing(t, dial(t, p.url, rabbitbroker.Options{})), p
	}
	t.Run("asks for a certificate of its clients", func(t *testing.T) { certified(t, node) })
	t.Run("loses nothing that was accepted when it is killed", func(t *testing.T) {
		classic, p1 := dialled(t, "classic")
		quorum, p2 := dialled(t, "quorum")
		if err := node.Remember(t.Context()); err != nil { // what is tried is the destination
			t.Fatal(err)
		}
		one, two := publishtest.Plan(p1.queue, 12, 80), publishtest.Plan(p2.queue, 12, 80)
		var both sync.WaitGroup
		both.Go(func() { publishtest.Traffic(t, classic, one, 0, nil) })
		publishtest.Traffic(t, quorum, two, 2, func() {
			if err := errors.Join(node.Kill(t.Context()), node.Start(t.Context())); err != nil {
				t.Error(err)
			}
		})
		both.Wait()
		t.Logf("%d and %d messages are stored more than once after 2 kills", inOrder(t, p1, one), inOrder(t, p2, two))
	})
	t.Run("takes no message away from a source when it is killed", func(t *testing.T) { sourceKilled(t, node) })
	t.Run("holds no call beyond its context when it is frozen, and is used again after it", func(t *testing.T) {
		d, p := dialled(t, "quorum")
		frozen(t, node.Pause, node.Resume, d, p)
	})
	t.Run("makes messages unavailable while it blocks publishers", func(t *testing.T) {
		d, p := dialled(t, "classic")
		alarm := func(on bool) {
			t.Helper()
			if err := node.Alarm(t.Context(), on); err != nil {
				t.Fatal(err)
			}
		}
		blocked(t, alarm, d, p)
	})
}

// certified is about a TLS listener that demands a certificate, and takes its name
// for the user's.
func certified(t *testing.T, node *testserver.RabbitMQ) {
	t.Helper()
	p := newPlace(t, node, "classic", false).create(t, nil)
	login := func(name string, external bool) rabbitbroker.Options {
		t.Helper()
		config, err := node.ClientTLS(name)
		if err != nil {
			t.Fatal(err)
		}
		return rabbitbroker.Options{Login: rabbitbroker.Login{TLS: config, External: external}}
	}
	for title, o := range map[string]rabbitbroker.Options{"by password": login("somebody", false), "by name": login(user, true)} {
		d := publishtest.Closing(t, dial(t, node.URLTLS("/"), o))
		if r := publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.queue, 1)...)[0]; r.Outcome != broker.Accepted {
			t.Errorf("%s: the message is %v (%v)", title, r.Outcome, r.Err)
		}
	}
	without := publishtest.Closing(t, dial(t, node.URLTLS("/"), login("", false)))
	publishtest.Eventually(t, "the reason is seen", func() bool { // in TLS 1.3 it may be overtaken by the end of the connection
		r := publishtest.Publish(t, without, 20*time.Second, publishtest.Messages(p.queue, 1)...)[0]
		if r.Outcome != broker.Unavailable && r.Outcome != broker.Misconfigured {
			t.Errorf("without a certificate the message is %v (%v)", r.Outcome, r.Err)
		}
		return r.Outcome == broker.Misconfigured && strings.Contains(r.Err.Error(), "refuses the client's certificate")
	})
	refused(t, publishtest.Closing(t, dial(t, node.URLTLS("/"), login("stranger", true))), p.queue, broker.Misconfigured, "refuses the login")
}

func frozen(t *testing.T, pause, resume func() error, d *rabbitbroker.Destination, p *place) {
	t.Helper()
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.queue, 1)...), broker.Accepted, "")
	if err := pause(); err != nil {
		t.Fatal(err)
	}
	large := publishtest.Messages(p.queue, 40) // more than the buffers of any socket hold
	for i := range large {
		large[i].Payload = make([]byte, maxMessage)
	}
	began := time.Now()
	results := publishtest.Publish(t, d, time.Second, large...)
	probed := d.Probe(publishtest.Timeout(t, time.Second))
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("two calls with a second each took %v", took)
	}
	unknown := 0
	for i, r := range results {
		switch r.Outcome {
		case broker.Unknown:
			unknown++
		case broker.NotSent:
		default:
			t.Errorf("message %d is %v (%v), want unknown or not sent", i, r.Outcome, r.Err)
		}
	}
	if unknown == 0 || unknown == len(large) {
		t.Errorf("%d of %d messages are unknown; the test wants the client blocked half-way", unknown, len(large))
	}
	if broker.OutcomeOf(probed) != broker.Unavailable {
		t.Errorf("the probe says %v; a frozen server answers none", probed)
	}
	if err := resume(); err != nil {
		t.Fatal(err)
	}
	publishtest.Eventually(t, "it goes on", func() bool {
		return publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.queue, 1)...)[0].Outcome == broker.Accepted
	})
}

func blocked(t *testing.T, alarm func(on bool), d *rabbitbroker.Destination, p *place) {
	t.Helper()
	alarm(true)
	// The server says that it blocks when it is sent something.
	publishtest.Eventually(t, "publishers are blocked", func() bool {
		return publishtest.Publish(t, d, time.Second, publishtest.Messages(p.queue, 1)...)[0].Outcome == broker.Unavailable
	})
	began := time.Now()
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.queue, 100)...), broker.Unavailable, "the server blocks publishers (low on memory)")
	if err := d.Probe(publishtest.Timeout(t, 20*time.Second)); broker.OutcomeOf(err) != broker.Unavailable {
		t.Errorf("the probe says %v", err)
	}
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("what is unavailable took %v to say so", took)
	}
	other, err := rabbitbroker.Dial(t.Context(), p.url, rabbitbroker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	publishtest.Publish(t, other, time.Second, publishtest.Messages(p.queue, 1)...)
	if err := other.Close(publishtest.Timeout(t, 20*time.Second)); err != nil {
		t.Errorf("Close while publishers are blocked: %v", err)
	}
	alarm(false)
	publishtest.Eventually(t, "publishers may go on", func() bool { return d.Probe(t.Context()) == nil })
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.queue, 100)...), broker.Accepted, "")
}

func TestAConnectionThatIsCutLosesNothingThatWasAccepted(t *testing.T) {
	t.Parallel()
	node := shared(t)
	for _, kind := range []string{"classic", "quorum", "stream"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, node, kind, false).create(t, nil)
			line := servertest.Proxy(t, address(t, p.url))
			d := publishtest.Closing(t, dial(t, via(t, p.url, line.Addr()), rabbitbroker.Options{}))
			all := publishtest.Plan(p.queue, 16, 100)
			publishtest.Traffic(t, d, all, 8, line.Cut)
			t.Logf("%d messages are stored more than once after 8 cuts", inOrder(t, p, all))
		})
	}
}

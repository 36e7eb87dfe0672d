package mqttbroker

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/eclipse/paho.golang/packets"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
	"github.com/postbag/postbag/broker/brokertest"
)

// The codes of MQTT 5.0, sections 3.4.2.1, 3.2.2.2 and 3.14.2.1.
func TestEveryReasonOfABrokerHasItsOutcome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of   func(code byte) *broker.Error
		want map[byte]broker.Outcome
	}{
		"PUBACK": {refusal, map[byte]broker.Outcome{
			0x80: broker.Rejected, 0x83: broker.Rejected, 0x95: broker.Rejected, 0x99: broker.Rejected,
			0x87: broker.Misconfigured, 0x90: broker.Misconfigured, 0xff: broker.Misconfigured,
			0x91: broker.Unavailable, 0x97: broker.Unavailable,
		}},
		"CONNACK": {unwelcome, map[byte]broker.Outcome{
			0x81: broker.Misconfigured, 0x82: broker.Misconfigured, 0x84: broker.Misconfigured, 0x85: broker.Misconfigured,
			0x86: broker.Misconfigured, 0x87: broker.Misconfigured, 0x8a: broker.Misconfigured, 0x8c: broker.Misconfigured,
			0x95: broker.Misconfigured, 0x9c: broker.Misconfigured, 0x9d: broker.Misconfigured, 0xff: broker.Misconfigured,
			0x01: broker.Misconfigured, 0x80: broker.Unavailable, 0x83: broker.Unavailable, 0x88: broker.Unavailable,
			0x89: broker.Unavailable, 0x97: broker.Unavailable, 0x9f: broker.Unavailable,
		}},
		"DISCONNECT": {blame, map[byte]broker.Outcome{
			0x80: broker.Rejected, 0x81: broker.Rejected, 0x82: broker.Rejected, 0x83: broker.Rejected, 0x95: broker.Rejected,
			0x99: broker.Rejected, 0x87: broker.Misconfigured, 0x90: broker.Misconfigured, 0x9a: broker.Misconfigured, 0x9b: broker.Misconfigured,
		}},
	} {
		for code, want := range c.want {
			f := c.of(code)
			if f.Outcome != want || !strings.Contains(f.Error(), "; ") || !strings.Contains(f.Error(), "0x") {
				t.Errorf("%s 0x%02x is %v (%v), want %v with code and fix", name, code, f.Outcome, f, want)
			}
			scope := broker.ScopeDestination
			if name != "CONNACK" && (code == 0x87 || code == 0x90 || code == 0xff) {
				scope = broker.ScopeTopic
			}
			if f.Scope != scope || brokerkit.Result(f).Scope != scope {
				t.Errorf("%s 0x%02x has the scope %v, want %v", name, code, f.Scope, scope)
			}
		}
	}
	for _, code := range []byte{0x00, 0x04, 0x8b, 0x8d, 0x8e, 0x93, 0x97, 0x98, 0x9c, 0xa0} {
		if f := blame(code); f != nil {
			t.Errorf("a DISCONNECT for 0x%02x blames a message: %v", code, f)
		}
	}
}

func TestTheErrorTableIsThatOfTheReferencePage(t *testing.T) {
	t.Parallel()
	var answers []brokertest.Answer
	add := func(packet string, codes map[byte]verdict, of func(byte) *broker.Error, others ...byte) {
		all := slices.Collect(maps.Keys(codes))
		for _, code := range append(all, others...) {
			f := of(code)
			answers = append(answers, brokertest.Answer{Name: fmt.Sprintf("%s 0x%02x", packet, code), Outcome: f.Outcome, Scope: f.Scope})
		}
	}
	add("PUBACK", refusals, refusal, 0xff)
	add("CONNACK", welcomes, unwelcome, 0x05, 0xff)
	add("DISCONNECT", blames, blame)
	brokertest.AnswersMatchPage(t, "../../docs/reference/mqtt.md", answers...)
}

func TestTopicsAreMadeByTheTemplate(t *testing.T) {
	t.Parallel()
	m := &broker.Delivery{Message: postbag.Message{Topic: "orders/made", Key: "a/b+c#%", Type: "order.made"}, Box: "shop"}
	for want, o := range map[string]Options{
		"orders/made":                         {},
		"x/orders/made":                       {Topic: "x/{topic}"},
		"shop/order.made/a%2Fb%2Bc%23%25/end": {Topic: "{box}/{type}/{key}/end"},
		"mine":                                {TopicOf: func(broker.Delivery) string { return "mine" }},
	} {
		o = o.withDefaults()
		if got, f := o.topic(m); f != nil || got != want {
			t.Errorf("the topic is %q (%v), want %q", got, f, want)
		}
	}
}

func TestThePacketSizeIsComputedBeforeSending(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 100, 127, 128, 129, 16_000, 16_383, 16_384, 20_000, 2_097_151, 2_097_152} {
		p := &packets.Publish{Topic: "t", QoS: 1, PacketID: 7, Payload: make([]byte, n), Properties: &packets.Properties{
			ContentType: "text/plain", User: []packets.User{{Key: "a", Value: strings.Repeat("v", n%300)}},
		}}
		var b strings.Builder
		if _, err := p.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		if f := fits(p, b.Len()); f != nil {
			t.Errorf("a payload of %d: %v", n, f)
		}
		if f := fits(p, b.Len()-1); f == nil || f.Outcome != broker.Rejected {
			t.Errorf("a payload of %d passes a limit that is one byte too low", n)
		}
	}
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "plain", "%41", "ü\x00\xff", "\u0085\ufffd\ufdd0\uffff", "\U0001fffe🙂"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		safe := escape(text)
		if broker.Unescape(safe) != text {
			t.Errorf("%q comes back as %q", text, broker.Unescape(safe))
		}
		if !utf8.ValidString(safe) || len(safe) <= maxText && badText(safe) != "" {
			t.Errorf("%q becomes %q, which cannot be carried", text, safe)
		}
	})
}

package mqttbroker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/mqttbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// taking are the options of a source as the user reader.
func taking(addr, id string, filters ...string) mqttbroker.SourceOptions {
	return mqttbroker.SourceOptions{
		URL: "mqtt://" + addr, Login: mqttbroker.Login{User: "reader", Password: password, ClientID: id}, Filters: filters,
	}
}

// opened is a source that the test closes.
func opened(t testing.TB, o mqttbroker.SourceOptions) *mqttbroker.Source {
	t.Helper()
	s, err := mqttbroker.OpenSource(t.Context(), o)
	if err != nil {
		t.Fatalf("OpenSource: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = s.Close(ctx)
	})
	return s
}

// subscribed waits until a broker has the subscriptions of a source: it drops what comes before.
func subscribed(t testing.TB, server *testserver.Mosquitto, o mqttbroker.SourceOptions) {
	t.Helper()
	line := "Sending SUBACK to " + o.Login.ClientID + "\n"
	publishtest.Eventually(t, "subscribed", func() bool { return strings.Contains(server.Log(), line) })
}

// reader is a source with a client id and a topic of its own, which the broker has subscribed.
func reader(t testing.TB, server *testserver.Mosquitto, change func(o *mqttbroker.SourceOptions)) (s *mqttbroker.Source, o mqttbroker.SourceOptions, topic string) {
	t.Helper()
	name := fmt.Sprintf("r%d", placeCount.Add(1))
	o = taking(server.Addr(), name, name+"/#")
	if change != nil {
		change(&o)
	}
	s = opened(t, o)
	subscribed(t, server, o)
	return s, o, name + "/made"
}

// numbered are n messages whose payloads are numbers that begin with from.
func numbered(topic string, from, n int) (all []*packets.Publish) {
	for i := range n {
		all = append(all, &packets.Publish{Topic: topic, Payload: fmt.Append(nil, from+i), Properties: &packets.Properties{}})
	}
	return all
}

// fetched returns n messages, or more if a batch has more.
func fetched(t testing.TB, s *mqttbroker.Source, n int) (msgs []source.Message, lost []source.Partition) {
	t.Helper()
	ctx := publishtest.Timeout(t, 30*time.Second)
	for len(msgs) < n {
		batch, err := s.Fetch(ctx, source.Limits{})
		if err != nil {
			t.Fatalf("Fetch, after %d of %d messages: %v", len(msgs), n, err)
		}
		msgs, lost = append(msgs, batch.Messages...), append(lost, batch.Lost...)
	}
	return msgs, lost
}

// nothing wants no message to come for a while.
func nothing(t testing.TB, s *mqttbroker.Source, within time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	if batch, err := s.Fetch(ctx, source.Limits{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%d messages came (%v), want none", len(batch.Messages), err)
	}
}

func receiptsOf(msgs []source.Message) (all []source.Receipt) {
	for _, m := range msgs {
		all = append(all, m.Receipt)
	}
	return all
}

func acked(t testing.TB, s *mqttbroker.Source, lost int, msgs ...source.Message) {
	t.Helper()
	got, err := s.Ack(publishtest.Timeout(t, 20*time.Second), receiptsOf(msgs))
	if err != nil || got != lost {
		t.Fatalf("Ack of %d messages: %d lost, %v; want %d lost", len(msgs), got, err, lost)
	}
}

func closed(t testing.TB, s *mqttbroker.Source) {
	t.Helper()
	if err := s.Close(publishtest.Timeout(t, 20*time.Second)); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

// numbers are those from a up to but without b, as payloads.
func numbers(a, b int) (all []string) {
	for i := a; i < b; i++ {
		all = append(all, fmt.Sprint(i))
	}
	return all
}

func wantPayloads(t testing.TB, msgs []source.Message, want []string) {
	t.Helper()
	var got []string
	for _, m := range msgs {
		got = append(got, string(m.Payload))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("the messages %q came, want %q", got, want)
	}
}

// says waits until Fetch returns an error of a class with some words, and wants no secret in it.
func says(t testing.TB, s *mqttbroker.Source, class error, words string) {
	t.Helper()
	var last error
	publishtest.Eventually(t, "Fetch says "+words, func() bool {
		_, err := s.Fetch(publishtest.Timeout(t, time.Second), source.Limits{})
		if err != nil && strings.Contains(err.Error(), password) {
			t.Fatalf("an error holds a password: %v", err)
		}
		if err != nil && !errors.Is(err, context.DeadlineExceeded) && (last == nil || last.Error() != err.Error()) {
			last = err
			t.Logf("Fetch says: %v", err)
		}
		return errors.Is(err, class) && strings.Contains(err.Error(), words)
	})
}

func TestWhatAMessageHas(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	s, o, topic := reader(t, server, nil)
	newSender(t, server.Addr(), 1).send(t, &packets.Publish{Topic: topic, Payload: []byte("p"), Properties: &packets.Properties{
		ContentType: "application/json", ResponseTopic: "answers/1", CorrelationData: []byte("c-1"),
		User: []packets.User{{Key: "name", Value: "grün 漢字 🙂"}, {Key: "b", Value: "2"}, {Key: "name", Value: "again"}, {Key: "Postbag-Time", Value: "2026-11-25T10:00:00.500000Z"}},
	}})
	expiry := uint32(60)
	newSender(t, server.Addr(), 1).send(t, &packets.Publish{Topic: topic + "/deep", Properties: &packets.Properties{
		MessageExpiry: &expiry, ResponseTopic: "ignored", User: []packets.User{{Key: "response-topic", Value: "the sender's"}},
	}})
	msgs, _ := fetched(t, s, 2)
	m := msgs[0]
	want := source.Headers{
		{Name: "name", Value: "grün 漢字 🙂"},
		{Name: "b", Value: "2"},
		{Name: "name", Value: "again"},
		{Name: "Postbag-Time", Value: "2026-11-25T10:00:00.500000Z"},
		{Name: "response-topic", Value: "answers/1"},
		{Name: "correlation-data", Value: "c-1"},
	}
	if !slices.Equal(m.Headers, want) {
		t.Errorf("the headers are %v, want %v", m.Headers, want)
	}
	if m.Topic != topic || m.ContentType != "application/json" || m.Key != "" || m.Deliveries != 1 || m.Partition != source.Partition(o.Login.ClientID) || !m.Place.IsZero() {
		t.Errorf("the message is %+v", m)
	}
	if at := time.Date(2026, 11, 25, 10, 0, 0, 5e8, time.UTC); !m.Time.Equal(at) {
		t.Errorf("the time is %v, want %v", m.Time, at)
	}
	if m := msgs[1]; m.Topic != topic+"/deep" || !m.Time.IsZero() || !slices.Equal(m.Headers, source.Headers{{Name: "response-topic", Value: "the sender's"}}) {
		t.Errorf("the second message is %+v", m)
	}
}

func TestWhatTheDestinationSendsArrivesWithItsIDKeyAndType(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	s, _, topic := reader(t, server, nil)
	sent := publishtest.Messages(topic, 1)[0]
	sent.Key, sent.Type = "100%\tsure", "made"
	wants(t, publishtest.Publish(t, dial(t, server.Addr(), mqttbroker.Options{}), 10*time.Second, sent), broker.Accepted, "")
	msgs, _ := fetched(t, s, 1)
	m := &msgs[0]
	id, rule, err := sourcekit.DefaultIDs().Of(m)
	if err != nil || id != string(sent.ID[:]) {
		t.Errorf("the id is %q by the rule %s, %v; want %v", id, rule, err, sent.ID)
	}
	binding := s.Features().Binding
	if key, kind := sourcekit.DefaultKeys(binding).Of(m), sourcekit.TypeRule(binding)(m); key != sent.Key || kind != sent.Type {
		t.Errorf("the key is %q and the type %q, want %q and %q", key, kind, sent.Key, sent.Type)
	}
}

func TestRetainedMessagesComeOnceInASessionAndAreMarked(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	for _, none := range []bool{false, true} {
		name := fmt.Sprintf("retained%d", placeCount.Add(1))
		send := newSender(t, server.Addr(), 1)
		old := numbered(name+"/made", 0, 1)
		old[0].Retain = true
		send.send(t, old...)
		o := taking(server.Addr(), name, name+"/#")
		o.NoRetained = none
		s := opened(t, o)
		subscribed(t, server, o)
		fresh := numbered(name+"/made", 1, 1)
		fresh[0].Retain = true // to somebody who is subscribed it is a message as any other
		send.send(t, fresh...)
		want := numbers(0, 2)
		if none {
			want = numbers(1, 2)
		}
		msgs, _ := fetched(t, s, len(want))
		wantPayloads(t, msgs, want)
		for _, m := range msgs {
			if mark, _ := m.Headers.Get("retain"); (mark == "true") != (string(m.Payload) == "0") {
				t.Errorf("the message %s has the mark %q", m.Payload, mark)
			}
		}
		acked(t, s, 0, msgs...)
		closed(t, s)
		nothing(t, opened(t, o), time.Second)
	}
}

func TestASourceTakesFromAllItsFilters(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	s, _, topic := reader(t, server, func(o *mqttbroker.SourceOptions) {
		name := o.Login.ClientID
		o.Filters = []string{name + "/made", name + "/x/+/y", name + "/deep/#"}
	})
	name := strings.TrimSuffix(topic, "/made")
	send := newSender(t, server.Addr(), 1)
	for i, one := range []string{"made", "x/1/y", "deep", "deep/a/b", "elsewhere", "x/1/2/y", "made"} {
		send.send(t, numbered(name+"/"+one, i, 1)...)
	}
	msgs, _ := fetched(t, s, 5)
	wantPayloads(t, msgs, []string{"0", "1", "2", "3", "6"})
}

func TestSourcesOfOneGroupShareTheMessages(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	first, o, topic := reader(t, server, func(o *mqttbroker.SourceOptions) { o.Group = "g" })
	o.Login.ClientID += "-second"
	second := opened(t, o)
	subscribed(t, server, o)
	newSender(t, server.Addr(), 1).send(t, numbered(topic, 0, 20)...)
	a, _ := fetched(t, first, 10)
	b, _ := fetched(t, second, 10)
	came := map[string]bool{}
	for _, m := range slices.Concat(a, b) {
		came[string(m.Payload)] = true
	}
	if len(a)+len(b) != 20 || len(came) != 20 {
		t.Errorf("%d and %d messages came, %d of 20", len(a), len(b), len(came))
	}
}

func TestALoginOfASourceThatIsRefusedIsMisconfigured(t *testing.T) {
	t.Parallel()
	o := taking(sharedServer(t).Addr(), "refused", "a")
	o.Login.Password = "another-" + password
	says(t, opened(t, o), source.ErrMisconfigured, "refuses the connection")
}

// Mosquitto grants every subscription, and withholds each message that its ACL file does not let the user read.
func TestMosquittoWithholdsInSilenceWhatASourceMayNotRead(t *testing.T) {
	t.Parallel()
	server := own(t, func(o *testserver.MosquittoOptions) {
		o.ACL = []string{"user reader", "topic write #", "topic read elsewhere/#"}
	})
	s, _, topic := reader(t, server, nil)
	send := newSender(t, server.Addr(), 1)
	send.send(t, numbered(topic, 0, 1)...)
	nothing(t, s, time.Second)
	if err := server.SetACL(); err != nil {
		t.Fatal(err)
	}
	var msgs []source.Message
	total := 1
	publishtest.Eventually(t, "granted", func() bool {
		send.send(t, numbered(topic, total, 1)...)
		total++
		batch, _ := s.Fetch(publishtest.Timeout(t, 200*time.Millisecond), source.Limits{})
		msgs = append(msgs, batch.Messages...)
		return len(msgs) > 0
	})
	if string(msgs[0].Payload) == "0" {
		t.Error("a message came that was withheld")
	}
}

func TestASourceSpeaksTLS(t *testing.T) {
	t.Parallel()
	server := own(t, func(o *testserver.MosquittoOptions) { o.TLS = true })
	o := taking(server.Addr(), "secure", "secure/#")
	o.URL = "mqtts://" + server.Addr()
	says(t, opened(t, o), source.ErrMisconfigured, "the broker's certificate is not trusted; set SourceOptions.Login.TLS")
	trusted, err := server.ClientTLS("")
	if err != nil {
		t.Fatal(err)
	}
	o.Login.TLS = trusted
	s := opened(t, o)
	subscribed(t, server, o)
	d, err := mqttbroker.Dial(t.Context(), o.URL, mqttbroker.Options{Login: mqttbroker.Login{User: "relay", Password: password, TLS: trusted}})
	if err != nil {
		t.Fatal(err)
	}
	publishtest.Closing(t, d)
	wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages("secure/x", 1)...), broker.Accepted, "")
	fetched(t, s, 1)
}

// Releases of a source that shares: only these messages come again, each with a receipt of its own.
func TestWhatIsReleasedForLaterHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	s, o, topic := reader(t, server, func(o *mqttbroker.SourceOptions) { o.Group = "g" })
	send := newSender(t, server.Addr(), 1)
	send.send(t, numbered(topic, 0, 3)...)
	msgs, _ := fetched(t, s, 3)
	if err := s.Release(t.Context(), receiptsOf(msgs[:1]), time.Second); err != nil {
		t.Fatal(err)
	}
	acked(t, s, 0, msgs[1:]...)
	send.send(t, numbered(topic, 3, 1)...)
	later, _ := fetched(t, s, 1)
	wantPayloads(t, later, numbers(3, 4))
	again, _ := fetched(t, s, 1)
	wantPayloads(t, again, numbers(0, 1))
	acked(t, s, 1, msgs[0])
	acked(t, s, 0, again[0], later[0])
	closed(t, s)
	nothing(t, opened(t, o), time.Second)
}

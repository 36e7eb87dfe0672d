package survival

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/broker/stdout"
	"github.com/postbag/postbag/broker/webhook"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
	"github.com/postbag/postbag/store/pgstore"
	"github.com/postbag/postbag/store/sqlitestore"
)

// Item 12: random messages arrive identical on each store and destination, and
// what cannot be carried is refused when it is published.
func TestPayloadsKeysAndHeadersArriveByteForByte(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	stores := map[string]func(*testing.T) (store.Store, publish){"pgstore": onPostgres, "sqlitestore": onSQLite, "memstore": inMemory}
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			s, publish := open(t)
			count := 20_000
			if !full() {
				count = 1000
			}
			r := rand.New(rand.NewPCG(uint64(count), uint64(len(name))))
			want := make(map[postbag.ID]postbag.Message, count)
			for len(want) < count {
				msgs := []postbag.Message{randomMessage(r, len(want))}
				for range r.IntN(20) {
					msgs = append(msgs, randomMessage(r, len(want)+len(msgs)))
				}
				for _, m := range msgs {
					want[m.ID] = m
				}
				if err := publish(t.Context(), msgs...); err != nil {
					t.Fatal(err)
				}
			}
			refused := refusals(t, publish)
			all := destinations(t)
			drain(t, s, all)
			for to, d := range all {
				compare(t, to, refused, want, d.received())
			}
		})
	}
}

// publish commits messages in one transaction.
type publish func(context.Context, ...postbag.Message) error

func publisher[Tx any](t *testing.T, s postbag.Appender[Tx]) publish {
	t.Helper()
	p, err := postbag.NewPublisher(s, postbag.PublisherOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, msgs ...postbag.Message) error {
		return p.InTx(ctx, func(ctx context.Context, tx Tx) error { return p.Publish(ctx, tx, msgs...) })
	}
}

func onPostgres(t *testing.T) (store.Store, publish) {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), servertest.Postgres(t, testserver.PostgresOptions{}).DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s, err := pgstore.Open(t.Context(), pool, pgstore.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, publisher(t, s)
}

func onSQLite(t *testing.T) (store.Store, publish) {
	t.Helper()
	s, err := sqlitestore.Open(t.Context(), filepath.Join(t.TempDir(), "outbox.db"), sqlitestore.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, publisher[*sql.Tx](t, s.SQL())
}

func inMemory(t *testing.T) (store.Store, publish) {
	t.Helper()
	s := memstore.New(memstore.Options{})
	if err := s.CreateBox(t.Context(), "outbox"); err != nil {
		t.Fatal(err)
	}
	return s, publisher(t, s)
}

// destination is one, with what it took, read by means of its own.
type destination struct {
	broker.Destination

	received func() []postbag.Message
	topics   bool // the topic arrives
}

func destinations(t *testing.T) map[string]destination {
	t.Helper()
	var text bytes.Buffer
	mem := membroker.New(membroker.Options{})
	hook := startReceiver(t)
	web, err := webhook.New(webhook.Options{
		URL: hook.url, Secrets: []string{hook.secret}, AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, nats: servertest.NATS(t, testserver.NATSOptions{MaxPayload: 2 << 20})} // room for headers beside 1 MiB
	w.addStream(jetstream.StreamConfig{})
	subject := func(broker.Delivery) string { return "events.a" }
	js, err := natsbroker.Dial(t.Context(), w.nats.URL(), natsbroker.Options{Subject: subject})
	if err != nil {
		t.Fatal(err)
	}
	lines, err := stdout.New(&text)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]destination{
		"nats":    {Destination: js, received: w.wireMessages},
		"webhook": {Destination: web, received: hook.messages, topics: true},
		"stdout":  {Destination: lines, received: func() []postbag.Message { return lineMessages(t, &text) }, topics: true},
		"membroker": {Destination: mem, topics: true, received: func() (out []postbag.Message) {
			for _, r := range mem.Taken() {
				out = append(out, r.Message)
			}
			return out
		}},
	}
}

// drain delivers everything to all destinations, each a subscription of its own.
func drain(t *testing.T, s store.Store, all map[string]destination) {
	t.Helper()
	o := relay.Options{}
	for name, d := range all {
		o.Subscriptions = append(o.Subscriptions, relay.Subscription{Name: name, To: d.Destination})
	}
	r, err := relay.New(s, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if err := r.Drain(ctx); err != nil || ctx.Err() != nil {
		t.Fatalf("the box is not drained: %v, %v", err, ctx.Err())
	}
	for name, d := range all {
		if err := d.Close(ctx); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// compare fails the test unless got is want, message by message.
func compare(t *testing.T, to string, refused int, want map[postbag.ID]postbag.Message, got []postbag.Message) {
	t.Helper()
	seen, different := map[postbag.ID]bool{}, 0
	for i := range got {
		g := &got[i]
		m, known := want[g.ID]
		seen[g.ID] = true
		if g.Topic == "" { // of NATS: the subject stands for it
			g.Topic = m.Topic
		}
		if !known || g.Topic != m.Topic || g.Key != m.Key || g.Type != m.Type || !maps.Equal(g.Headers, m.Headers) || !bytes.Equal(g.Payload, m.Payload) {
			if different++; different == 1 {
				t.Errorf("%s: message %v arrived as\n%s\nand was\n%s", to, g.ID, inWords(g), inWords(&m))
			}
		}
	}
	lost := len(want) - len(seen)
	t.Logf("%s: committed %d, distinct %d, lost %d, different %d, duplicates %d, refused when published %d",
		to, len(want), len(seen), lost, different, len(got)-len(seen), refused)
	if lost != 0 || different != 0 || len(got) != len(seen) {
		t.Errorf("%s: lost %d, different %d, duplicates %d", to, lost, different, len(got)-len(seen))
	}
}

func inWords(m *postbag.Message) string {
	return fmt.Sprintf("topic %q, key %q, type %q, headers %q, %d bytes %.60q", m.Topic, m.Key, m.Type, m.Headers, len(m.Payload), m.Payload)
}

// randomMessage makes the n-th message: the first ones are at the edges.
func randomMessage(r *rand.Rand, n int) postbag.Message {
	m := postbag.Message{
		ID: postbag.NewID(), Topic: "t" + randomText(r, 40), Key: randomText(r, 60), Type: randomText(r, 40), Payload: randomPayload(r),
	}
	for range r.IntN(6) {
		if m.Headers == nil {
			m.Headers = map[string]string{}
		}
		m.Headers["h"+randomText(r, 20)] = randomText(r, 100)
	}
	switch n {
	case 0:
		m.Payload = nil
	case 1:
		m.Payload = bytes.Repeat([]byte{0}, 1<<20)
	case 2:
		m.Payload = make([]byte, 256)
		for i := range m.Payload {
			m.Payload[i] = byte(i)
		}
	case 3:
		m.Key, m.Type, m.Topic = strings.Repeat("k", postbag.MaxKey), strings.Repeat("t", postbag.MaxName), strings.Repeat("o", postbag.MaxName)
	case 4:
		m.Key = strings.Repeat("🙂", postbag.MaxKey/4)
	}
	return m
}

// randomPayload is small mostly, and at most 1 MiB.
func randomPayload(r *rand.Rand) []byte {
	most := 512
	switch p := r.IntN(1000); {
	case p < 5:
		most = 1 << 20
	case p < 100:
		most = 16 << 10
	}
	b := make([]byte, r.IntN(most+1))
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], r.Uint64())
	_, _ = rand.NewChaCha8(seed).Read(b) // it never fails
	return b
}

// randomText is any UTF-8 without NUL, of at most so many bytes.
func randomText(r *rand.Rand, most int) string {
	ranges := [][2]rune{{1, 0x7f}, {' ', '~'}, {' ', '~'}, {0x80, 0x24f}, {0x2000, 0x206f}, {0x4e00, 0x4fff}, {0xfff0, 0xffff}, {0x1f600, 0x1f64f}, {1, 0x10ffff}}
	var b strings.Builder
	for range r.IntN(most/2 + 1) {
		in := ranges[r.IntN(len(ranges))]
		c := in[0] + r.Int32N(in[1]-in[0]+1)
		if c >= 0xd800 && c < 0xe000 { // halves of pairs are no UTF-8
			continue
		}
		if b.Len()+4 > most {
			break
		}
		b.WriteRune(c)
	}
	return b.String()
}

// refusals publishes what cannot be carried. It returns how many were refused.
func refusals(t *testing.T, publish publish) (refused int) {
	t.Helper()
	for _, bad := range []string{"\x00", "a\x00b", "\xff", "a\xc3", "\xed\xa0\x80"} {
		for field, m := range map[string]postbag.Message{
			"topic": {Topic: bad}, "key": {Key: bad}, "shard key": {ShardKey: bad}, "type": {Type: bad},
			"header's name": {Headers: map[string]string{bad: "x"}}, "header's value": {Headers: map[string]string{"x": bad}},
		} {
			refused += refusal(t, publish, field, m)
		}
	}
	for field, m := range map[string]postbag.Message{
		"payload":             {Payload: make([]byte, 1<<20+1)},
		"long key":            {Key: strings.Repeat("k", postbag.MaxKey+1)},
		"long type":           {Type: strings.Repeat("t", postbag.MaxName+1)},
		"long headers":        {Headers: map[string]string{"x": strings.Repeat("v", postbag.MaxHeader)}},
		"nameless header":     {Headers: map[string]string{"": "x"}},
		"header of Postbag's": {Headers: map[string]string{"postbag-id": "x"}},
	} {
		refused += refusal(t, publish, field, m)
	}
	return refused
}

// refusal publishes a good message and a bad one; neither may be written.
func refusal(t *testing.T, publish publish, field string, m postbag.Message) int {
	t.Helper()
	err := publish(t.Context(), postbag.Message{Payload: []byte("good")}, m)
	if fault, ok := errors.AsType[*postbag.MessageError](err); !ok || fault.Index != 1 {
		t.Errorf("%s: publishing it gives %v", field, err)
		return 0
	}
	return 1
}

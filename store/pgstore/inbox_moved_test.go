package pgstore_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
	"github.com/postbag/postbag/source/sourcekit"
)

// movingStatements are those of the guide for people who have a table of their own.
func movingStatements(t *testing.T) (texts []string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/guides/inbox.md")
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(string(page), "```sql\n") {
		text, _, _ := strings.Cut(part, "```")
		if strings.Contains(text, "FROM processed_messages") {
			texts = append(texts, text)
		}
	}
	if len(texts) != 2 {
		t.Fatalf("the guide has %d statements", len(texts))
	}
	return texts
}

// appliedBefore makes a table as people have it, of 42 messages: some ids are UUIDs, some are not, one has no room for
// the header's name, and one is the UUID of zeros.
func (s *testBox) appliedBefore(t *testing.T) []string {
	t.Helper()
	s.exec("CREATE TABLE processed_messages (message_id text PRIMARY KEY, processed_at timestamptz NOT NULL DEFAULT now())")
	ids := []string{strings.Repeat("ü", 123) + "1", "00000000-0000-0000-0000-000000000000"}
	for i := range 40 {
		id := fmt.Sprintf("order-%d", i)
		switch i % 4 {
		case 0:
			id = fmt.Sprintf("0198f2a00000700080000%011x", i)
		case 2:
			id = fmt.Sprintf("0198F2A0-0000-7000-8000-%012x", i)
		}
		ids = append(ids, id)
	}
	for _, id := range append(ids, "") {
		s.exec("INSERT INTO processed_messages (message_id) VALUES ($1)", id)
	}
	return ids
}

// eventID is the guide's rule for people whose code marked the header as it is.
var eventID = sourcekit.IDRule{Name: "event-id", Find: func(m *source.Message) (string, bool) {
	return m.Headers.Get("event-id")
}}

func TestOnceKnowsWhatATableOfYourOwnKnew(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	ids := s.appliedBefore(t)
	s.exec(movingStatements(t)[0])
	in, err := inbox.New[pgx.Tx](s.Store)
	s.Must(err)
	s.Must(s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
		for _, id := range ids {
			fresh, err := in.OnceBytes(ctx, tx, "billing", inbox.MessageID(id), []byte("p"))
			if err != nil || fresh {
				t.Errorf("the message %s, which was applied, is fresh: %v, %v", id, fresh, err)
			}
		}
		fresh, err := in.Once(ctx, tx, "billing", "order-40")
		if err != nil || !fresh {
			t.Errorf("another message is not fresh: %v", err)
		}
		return nil
	}))
}

func TestAConsumerKnowsWhatATableOfYourOwnKnew(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	ids := s.appliedBefore(t)
	s.exec(movingStatements(t)[1])
	applied := s.consume(t, sourcekit.FromHeader("event-id"), append(ids, "order-40"))
	if fmt.Sprint(applied) != "[order-40]" {
		t.Errorf("applied were %v", applied)
	}
}

func TestAConsumerWithARuleOfYourOwnKnowsWhatOnceApplied(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	ids := []string{"order-1", "0198f2a0-0000-7000-8000-000000000001", strings.Repeat("y", 250)}
	in, err := inbox.New[pgx.Tx](s.Store)
	s.Must(err)
	s.Must(s.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
		for _, id := range ids {
			if _, err := in.Once(ctx, tx, "billing", inbox.MessageID(id)); err != nil {
				return err
			}
		}
		return nil
	}))
	applied := s.consume(t, eventID, append(ids, "order-2"))
	if fmt.Sprint(applied) != "[order-2]" {
		t.Errorf("applied were %v", applied)
	}
}

// What was applied before does not come into the box, from where it would be applied again.
func TestAReceiverKnowsWhatATableOfYourOwnKnew(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	ids := s.appliedBefore(t)
	s.exec(movingStatements(t)[1])
	s.receive(t, sourcekit.FromHeader("event-id"), append(ids, "order-40"))
	if got := s.Read(); len(got) != 1 || string(got[0].Payload) != "order-40" {
		t.Errorf("the box holds %+v", got)
	}
}

func TestAReceiverWithARuleOfYourOwnKnowsWhatOnceApplied(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	ids := s.appliedBefore(t)
	s.exec(movingStatements(t)[0])
	s.receive(t, eventID, append(ids, "order-40"))
	if got := s.Read(); len(got) != 1 || string(got[0].Payload) != "order-40" {
		t.Errorf("the box holds %+v", got)
	}
}

// receive has a receiver take in messages with these ids in a header, into the box outbox.
func (s *testBox) receive(t *testing.T, rule sourcekit.IDRule, ids []string) {
	t.Helper()
	broker := memsource.New(memsource.Options{})
	src := broker.Join("billing")
	r, err := inbox.NewReceiver(inbox.ReceiverOptions[pgx.Tx]{
		Store: s.Store, Source: src, Box: "outbox", Consumer: "billing", IDs: sourcekit.IDs{rule},
	})
	s.Must(err)
	s.publishWith(broker, ids)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	waited := broker.WaitUntilAcked(t.Context(), "billing")
	stop()
	s.Must(waited)
	s.Must(<-ended)
	s.Must(src.Close(t.Context()))
	if got := r.Stats(); got.Stored != 1 || got.Faulty != 0 || got.Repeated != int64(len(ids)-1) {
		t.Errorf("of %d messages it counted %+v", len(ids), got)
	}
}

// publishWith publishes a message for each id, which is its payload and in a header.
func (s *testBox) publishWith(broker *memsource.Broker, ids []string) {
	s.Helper()
	for _, id := range ids {
		s.Must(broker.Publish(source.Message{Headers: source.Headers{{Name: "Event-ID", Value: id}}, Payload: []byte(id)}))
	}
}

// consume has a consumer apply messages with these ids in a header, and returns the ids of those that it applied.
func (s *testBox) consume(t *testing.T, rule sourcekit.IDRule, ids []string) (applied []string) {
	t.Helper()
	broker := memsource.New(memsource.Options{})
	c, err := inbox.NewConsumer(inbox.ConsumerOptions[pgx.Tx]{
		Store: s.Store, Source: broker.Join("billing"), Consumer: "billing", IDs: sourcekit.IDs{rule}, Concurrency: 1,
		Handle: func(_ context.Context, _ pgx.Tx, m *inbox.Message) error {
			applied = append(applied, string(m.Payload))
			return nil
		},
	})
	s.Must(err)
	s.publishWith(broker, ids)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	waited := broker.WaitUntilAcked(t.Context(), "billing")
	stop()
	s.Must(waited)
	s.Must(<-ended)
	return applied
}

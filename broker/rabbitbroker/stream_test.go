package rabbitbroker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/source"
)

// stream is a new one with n messages.
func stream(t *testing.T, n int) *place {
	t.Helper()
	p := newPlace(t, shared(t), "stream", false).create(t, nil)
	if n > 0 {
		p.store(t, 0, n)
	}
	return p
}

// watched are positions, and what they were asked for.
type watched struct {
	source.Positions

	mu      sync.Mutex
	name    string
	epoch   int64
	record  []byte
	kept    int
	refuses error
}

func (w *watched) OpenPosition(ctx context.Context, name string) (int64, []byte, error) {
	epoch, record, err := w.Positions.OpenPosition(ctx, name)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.name, w.epoch, w.record = name, epoch, record
	return epoch, record, err
}

func (w *watched) KeepPosition(ctx context.Context, name string, epoch int64, record []byte) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuses != nil {
		return false, w.refuses
	}
	ours, err := w.Positions.KeepPosition(ctx, name, epoch, record)
	if ours {
		w.record = record
		w.kept++
	}
	return ours, err
}

func (w *watched) refuse(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refuses = err
}

// is waits until a record with some words is kept.
func (w *watched) is(t testing.TB, words string) {
	t.Helper()
	publishtest.Eventually(t, "the position has "+words, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return bytes.Contains(w.record, []byte(words))
	})
}

func TestAMessageOfAStreamHasItsOffsetAsPlaceAndNotAsHeader(t *testing.T) {
	t.Parallel()
	p := stream(t, 3)
	published(t, confirming(t, p.url), p.queue, amqp.Publishing{
		Headers: amqp.Table{"x-stream-offset": int64(99), "text": "a"}, MessageId: "m-1", ContentType: "text/plain", Timestamp: time.Unix(1_700_000_000, 0), Body: []byte("3"),
	})
	o := p.reading(positions(t))
	msgs, _ := fetched(t, openedStream(t, o), 4)
	m := msgs[3]
	if m.Place != (source.Place{Source: p.queue, Offset: 3}) || m.Deliveries != 0 || m.Partition != source.Partition(p.queue) {
		t.Errorf("the message is at %v of the partition %q, and came %d times", m.Place, m.Partition, m.Deliveries)
	}
	if want := (source.Headers{{Name: "text", Value: "a"}}); !slices.Equal(m.Headers, want) {
		t.Errorf("the headers are %q, want %q", m.Headers, want)
	}
	if m.Topic != p.queue || m.MessageID != "m-1" || m.ContentType != "text/plain" || !m.Time.Equal(time.Unix(1_700_000_000, 0)) || string(m.Payload) != "3" {
		t.Errorf("the message is %+v", m)
	}
	o.Life = "second"
	msgs, _ = fetched(t, openedStream(t, o), 4)
	if at := (source.Place{Source: p.queue + " second", Offset: 3}); msgs[3].Place != at {
		t.Errorf("in another life of the stream the message is at %v, want %v", msgs[3].Place, at)
	}
}

func TestAnotherMemberOfAStreamStandsByAndTakesOverBehindWhatIsAcked(t *testing.T) {
	t.Parallel()
	p, kept := stream(t, 10), positions(t)
	line := servertest.Proxy(t, address(t, p.url))
	o := p.reading(kept)
	o.URL = via(t, p.url, line.Addr())
	a := openedStream(t, o)
	msgs, _ := fetched(t, a, 10)
	wantPayloads(t, msgs, numbers(0, 10))
	b := openedStream(t, p.reading(kept))
	nothing(t, b, time.Second)
	acked(t, a, 0, msgs[:4]...)
	acked(t, a, 0, msgs[6])
	closed(t, a)
	again, lost := fetched(t, b, 6)
	wantPayloads(t, again, numbers(4, 10))
	if len(lost) > 0 {
		t.Errorf("Fetch named the lost partitions %q, and none was", lost)
	}
	c := openedStream(t, o) // by way of the proxy
	nothing(t, c, 500*time.Millisecond)
	acked(t, b, 0, again[:3]...)
	closed(t, b)
	again, _ = fetched(t, c, 3)
	d := openedStream(t, p.reading(kept))
	nothing(t, d, 500*time.Millisecond)
	acked(t, c, 0, again[0])
	down(t)(line)
	again, _ = fetched(t, d, 2)
	wantPayloads(t, again, numbers(8, 10))
	says(t, c, source.ErrUnavailable, "the server cannot be reached")
}

// versionOfServer is how a server tells its version.
var versionOfServer = regexp.MustCompile(`(?s)(versionS\x00\x00\x00.)([0-9]\.[0-9]+)`)

// telling is a way to a server that tells another version there, of as many characters.
func telling(t *testing.T, server, version string) string {
	t.Helper()
	door, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var ways sync.WaitGroup
	ctx, end := context.WithCancel(context.Background())
	t.Cleanup(func() {
		end()
		_ = door.Close()
		ways.Wait()
	})
	ways.Go(func() {
		for {
			in, err := door.Accept()
			if err != nil {
				return
			}
			out, err := (&net.Dialer{}).DialContext(ctx, "tcp", server)
			if err != nil {
				_ = in.Close()
				continue
			}
			part := func() { _, _ = in.Close(), out.Close() }
			context.AfterFunc(ctx, part)
			ways.Go(func() {
				defer part()
				_, _ = io.Copy(out, in)
			})
			ways.Go(func() {
				defer part()
				start := make([]byte, 4096) // Connection.Start, the server's first frame
				n, err := out.Read(start)
				if told := versionOfServer.FindSubmatch(start[:n]); err == nil && (told == nil || len(told[2]) != len(version)) {
					t.Errorf("the server tells the version %q, which cannot become %s", told, version)
				}
				if err == nil {
					_, err = in.Write(versionOfServer.ReplaceAll(start[:n], []byte("${1}"+version)))
				}
				if err == nil {
					_, _ = io.Copy(in, out)
				}
			})
		}
	})
	return door.Addr().String()
}

func TestOnRabbitMQ4TheLockOfAStreamIsExclusiveAndKeepsMembersOnOlderNodesAwayToo(t *testing.T) {
	t.Parallel()
	p, kept := stream(t, 10), positions(t)
	old, young := p.reading(kept), p.reading(kept)
	young.URL = via(t, p.url, telling(t, address(t, p.url), "4.10"))
	a := openedStream(t, young)
	msgs, _ := fetched(t, a, 10)
	queues, err := shared(t).Ctl(t.Context(), "list_queues", "--quiet", "--no-table-headers", "name", "exclusive")
	if err != nil || !regexp.MustCompile(`(?m)^postbag\.lock\.\w+\ttrue$`).MatchString(queues) {
		t.Errorf("no lock is exclusive: %v\n%s", err, queues)
	}
	b := openedStream(t, old)
	nothing(t, b, time.Second)
	acked(t, a, 0, msgs[:4]...)
	closed(t, a)
	again, _ := fetched(t, b, 6)
	wantPayloads(t, again, numbers(4, 10))
	c := openedStream(t, young)
	nothing(t, c, time.Second)
	acked(t, b, 0, again[:2]...)
	closed(t, b)
	again, _ = fetched(t, c, 4)
	wantPayloads(t, again, numbers(6, 10))
	d := openedStream(t, young)
	nothing(t, d, time.Second)
	acked(t, c, 0, again[:3]...)
	closed(t, c)
	again, _ = fetched(t, d, 1)
	wantPayloads(t, again, numbers(9, 10))
}

// denies has a server refuse transient queues of a virtual host that are not exclusive, with the code and by the words of a RabbitMQ 3.13
// whose operator has denied them (deprecated_features.permit.transient_nonexcl_queues = false). RabbitMQ 3.10 has no such setting.
func denies(t *testing.T, node *testserver.RabbitMQ, vhost string) {
	t.Helper()
	if err := node.AddVHost(t.Context(), vhost); err != nil {
		t.Fatal(err)
	}
	declare := fmt.Sprintf(`declare(Q, Node) -> case {amqqueue:get_vhost(Q), amqqueue:is_durable(Q), amqqueue:get_exclusive_owner(Q)} of `+
		`{<<"%s">>, false, none} -> {protocol_error, internal_error, "~s", ["Feature `+"`transient_nonexcl_queues`"+` is deprecated.\n`+
		`Its use is not permitted per the configuration (overriding the default, which is permitted)"]}; `+
		`_ -> permitted(Q, Node) end.`, vhost)
	out, err := node.Ctl(t.Context(), "eval", `
		{_, Beam, File} = code:get_object_code(rabbit_queue_type),
		{ok, {_, [{abstract_code, {_, Forms}}]}} = beam_lib:chunks(Beam, [abstract_code]),
		{ok, Tokens, _} = erl_scan:string(`+strconv.Quote(declare)+`),
		{ok, Declare} = erl_parse:parse_form(Tokens),
		{ok, Module, Code} = compile:forms(lists:flatmap(fun
			({function, Line, declare, 2, Clauses}) -> [{function, Line, permitted, 2, Clauses}, Declare];
			(Form) -> [Form]
		end, Forms)),
		{module, _} = code:load_binary(Module, File, Code), ok.`)
	if err != nil {
		t.Fatal(out, err)
	}
}

func TestWhereTransientQueuesAreDeniedAStreamIsReadAndKeepsItsMembersApart(t *testing.T) {
	t.Parallel()
	node := shared(t)
	denies(t, node, "denying")
	p := newPlace(t, node, "stream", false)
	p.url = node.URL("denying")
	p.create(t, nil).store(t, 0, 10)
	_, err := channel(t, p.url).QueueDeclare("transient", false, true, false, false, nil)
	if why, ok := errors.AsType[*amqp.Error](err); !ok || why.Code != amqp.InternalError || !strings.Contains(why.Reason, "transient_nonexcl_queues") {
		t.Fatalf("a transient queue is declared with %v: the test tries nothing", err)
	}
	o := p.reading(positions(t))
	o.URL = via(t, p.url, telling(t, address(t, p.url), "3.13"))
	a := openedStream(t, o)
	msgs, _ := fetched(t, a, 10)
	b := openedStream(t, o)
	nothing(t, b, time.Second)
	acked(t, a, 0, msgs[:4]...)
	closed(t, a)
	again, _ := fetched(t, b, 6)
	wantPayloads(t, again, numbers(4, 10))
}

func TestOtherGroupsOfAStreamReadBesideAndHaveOtherPositions(t *testing.T) {
	t.Parallel()
	p, kept := stream(t, 5), positions(t)
	o := p.reading(kept)
	a := openedStream(t, o)
	o.Consumer = "shipping"
	b := openedStream(t, o)
	msgs, _ := fetched(t, a, 5)
	acked(t, a, 0, msgs...)
	msgs, _ = fetched(t, b, 5)
	wantPayloads(t, msgs, numbers(0, 5))
}

// A zombie has messages at work, does not know that its connection is gone, and still reaches the store of the positions.
func TestASourceWhoseStreamWasTakenOverMovesNoPositionAndNamesTheLoss(t *testing.T) {
	t.Parallel()
	p, kept := stream(t, 10), &watched{Positions: positions(t)}
	line := servertest.Proxy(t, address(t, p.url))
	o := p.reading(kept)
	o.URL, o.Login.Name = via(t, p.url, line.Addr()), "zombie of "+p.queue
	a := openedStream(t, o)
	msgs, _ := fetched(t, a, 10)
	acked(t, a, 0, msgs[:2]...)
	kept.is(t, `"next":2,`)
	line.BlackHole(testserver.Down)
	closeConnection(t, o.Login.Name)
	b := openedStream(t, p.reading(kept))
	own, _ := fetched(t, b, 8)
	wantPayloads(t, own, numbers(2, 10))
	acked(t, a, 0, msgs[2:9]...) // it cannot know better
	acked(t, b, 0, own[0])
	kept.is(t, `"next":3,`)
	batch, err := a.Fetch(publishtest.Timeout(t, 20*time.Second), source.Limits{})
	if err != nil || !slices.Equal(batch.Lost, []source.Partition{source.Partition(p.queue)}) {
		t.Fatalf("the source that was taken over says %v, %v; want the loss of its stream", batch.Lost, err)
	}
	acked(t, a, 8, msgs[2:]...)
	closed(t, b)
	again, _ := fetched(t, openedStream(t, p.reading(kept)), 7)
	wantPayloads(t, again, numbers(3, 10))
}

// closeConnection ends a connection at the server, as an operator does.
func closeConnection(t *testing.T, name string) {
	t.Helper()
	node := shared(t)
	all, err := node.Ctl(t.Context(), "list_connections", "--quiet", "--no-table-headers", "pid", "client_properties")
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(all) {
		if pid, properties, _ := strings.Cut(row, "\t"); strings.Contains(properties, name) {
			if out, err := node.Ctl(t.Context(), "close_connection", pid, "by the test"); err != nil {
				t.Fatal(err, out)
			}
			return
		}
	}
	t.Fatalf("there is no connection %q among %q", name, all)
}

// While two groups of different servers take one position, each says so.
func TestAPositionThatSomebodyElseOpensEndsTheAssignmentAndIsTold(t *testing.T) {
	t.Parallel()
	p, kept := stream(t, 3), &watched{Positions: positions(t)}
	s := openedStream(t, p.reading(kept))
	msgs, _ := fetched(t, s, 3)
	for range 3 {
		kept.is(t, `"next":0,`)
		if _, _, err := kept.Positions.OpenPosition(t.Context(), kept.name); err != nil {
			t.Fatal(err)
		}
		acked(t, s, 0, msgs[0])
		batch, err := s.Fetch(publishtest.Timeout(t, 20*time.Second), source.Limits{})
		if err != nil || len(batch.Lost) != 1 {
			t.Fatalf("Fetch says %v, %v; want the loss", batch.Lost, err)
		}
		msgs = nil
		for len(msgs) < 3 {
			batch, err := s.Fetch(publishtest.Timeout(t, 20*time.Second), source.Limits{})
			if err != nil && !strings.Contains(err.Error(), "another source has opened the position") {
				t.Fatal(err)
			}
			msgs = append(msgs, batch.Messages...)
		}
		wantPayloads(t, msgs, numbers(0, 3))
	}
}

func TestAGroupOfAStreamBeginsWhereItIsTold(t *testing.T) {
	t.Parallel()
	p := stream(t, 4)
	for pause := time.Now().Add(2100 * time.Millisecond); time.Now().Before(pause); { // the server knows seconds
		p.store(t, 100, 1)
	}
	from := time.Now().Truncate(time.Second)
	p.store(t, 4, 2)
	for name, c := range map[string]struct {
		set   func(o *rabbitbroker.StreamOptions)
		check func(msgs []source.Message) bool
	}{
		"first": {func(*rabbitbroker.StreamOptions) {}, func(msgs []source.Message) bool { return string(msgs[0].Payload) == "0" }},
		"from":  {func(o *rabbitbroker.StreamOptions) { o.From = from }, func(msgs []source.Message) bool { return string(msgs[0].Payload) == "100" }},
		"from before all": {
			func(o *rabbitbroker.StreamOptions) { o.From = from.Add(-time.Hour) },
			func(msgs []source.Message) bool { return string(msgs[0].Payload) == "0" },
		},
	} {
		o := p.reading(positions(t))
		c.set(&o)
		s := openedStream(t, o)
		msgs, _ := fetched(t, s, 2)
		closed(t, s)
		if !c.check(msgs) {
			t.Errorf("%s: the first message is %q", name, msgs[0].Payload)
		}
	}
}

func TestAGroupThatBeginsWithWhatComesNextMissesNothingBetweenItsMembers(t *testing.T) {
	t.Parallel()
	p, kept := stream(t, 4), &watched{Positions: positions(t)}
	for pause := time.Now().Add(2100 * time.Millisecond); time.Now().Before(pause); { // the server knows seconds
		p.store(t, 100, 1)
	}
	o := p.reading(kept)
	o.Begin = rabbitbroker.BeginNext
	a := openedStream(t, o)
	kept.is(t, `"begun"`)
	nothing(t, a, time.Second)
	closed(t, a)
	p.store(t, 4, 2) // while nobody reads, and none was delivered yet
	b := openedStream(t, o)
	msgs := fetchedUntil(t, b, "5") // those of the same second may come too
	if string(msgs[0].Payload) == "0" {
		t.Error("messages come that were there before the group was opened")
	}
	wantPayloads(t, msgs[max(0, len(msgs)-2):], numbers(4, 6))
	kept.is(t, `"next":`) // delivered, and not acked
	closed(t, b)
	p.store(t, 6, 1)
	msgs = fetchedUntil(t, openedStream(t, o), "6")
	wantPayloads(t, msgs[max(0, len(msgs)-3):], numbers(4, 7))
}

// fetchedUntil returns messages up to one with a payload.
func fetchedUntil(t testing.TB, s source.Source, last string) (all []source.Message) {
	t.Helper()
	for {
		msgs, _ := fetched(t, s, 1)
		all = append(all, msgs...)
		if string(all[len(all)-1].Payload) == last {
			return all
		}
	}
}

func TestAStreamThatBeginsWithWhatComesNextLeavesOutWhatWasThere(t *testing.T) {
	t.Parallel()
	p, kept := stream(t, 4), &watched{Positions: positions(t)}
	o := p.reading(kept)
	o.Begin = rabbitbroker.BeginNext
	s := openedStream(t, o)
	kept.is(t, `"begun"`)
	nothing(t, s, time.Second)
	p.store(t, 4, 2)
	msgs, _ := fetched(t, s, 2)
	wantPayloads(t, msgs, numbers(4, 6))
}

// shortLived is a stream that keeps little, of which messages from 20 on were removed.
func shortLived(t *testing.T, kept source.Positions, read int) *place {
	t.Helper()
	p := newPlace(t, shared(t), "stream", false).create(t, amqp.Table{"x-max-length-bytes": int64(200_000), "x-stream-max-segment-size-bytes": int64(100_000)})
	p.store(t, 0, 20)
	s := openedStream(t, p.reading(kept))
	msgs, _ := fetched(t, s, 20)
	acked(t, s, 0, msgs[:read]...)
	closed(t, s)
	ch := confirming(t, p.url)
	for i := range 12 { // one chunk each, and several segments
		published(t, ch, p.queue, amqp.Publishing{Body: append(fmt.Appendf(nil, "%d ", 20+i), make([]byte, 60_000)...)})
	}
	publishtest.Eventually(t, "retention has removed the first messages", func() bool {
		s := openedStream(t, p.reading(positions(t)))
		defer closed(t, s)
		msgs, _ := fetched(t, s, 1)
		return msgs[0].Place.Offset > 20
	})
	return p
}

func TestMessagesThatRetentionRemovedUnackedAreAnErrorOrATellingReset(t *testing.T) {
	t.Parallel()
	kept := positions(t)
	p := shortLived(t, kept, 10)
	s := openedStream(t, p.reading(kept))
	says(t, s, source.ErrMisconfigured, "its retention removed the messages from offset 10 up to ")
	closed(t, s)
	o := p.reading(kept)
	told := make(chan rabbitbroker.Reset, 10)
	o.Reset = func(r rabbitbroker.Reset) { told <- r }
	s = openedStream(t, o)
	msgs, _ := fetched(t, s, 1)
	r := <-told
	if want := (rabbitbroker.Reset{Stream: p.queue, From: 10, To: msgs[0].Place.Offset}); r != want || r.To <= 20 {
		t.Errorf("Reset was told %+v, want %+v", r, want)
	}
	acked(t, s, 0, msgs[0])
	closed(t, s)
	s = openedStream(t, o)
	again, _ := fetched(t, s, 1)
	// Between two messages may be an entry of the server's own.
	if first, at := msgs[0].Place.Offset, again[0].Place.Offset; at <= first || at > first+2 || len(told) > 0 {
		t.Errorf("behind the message at %d comes that at %d, and %d more resets were told", first, at, len(told))
	}
}

// A server goes on behind what it removed, and says nothing.
func TestMessagesThatRetentionRemovesInFrontOfAReaderAreToldToo(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "stream", false).create(t, amqp.Table{"x-max-length-bytes": int64(200_000), "x-stream-max-segment-size-bytes": int64(100_000)})
	large := func(i int) amqp.Publishing {
		return amqp.Publishing{Body: append(fmt.Appendf(nil, "%d ", i), make([]byte, 60_000)...)}
	}
	ch := confirming(t, p.url)
	published(t, ch, p.queue, large(0))
	told := make(chan rabbitbroker.Reset, 10)
	rests, goesOn := p.reading(positions(t)), p.reading(positions(t))
	rests.Prefetch, goesOn.Prefetch, goesOn.Consumer = 1, 1, "goes on"
	goesOn.Reset = func(r rabbitbroker.Reset) { told <- r }
	a, b := openedStream(t, rests), openedStream(t, goesOn)
	fetched(t, a, 1)
	fetched(t, b, 1)
	publishtest.Eventually(t, "retention has removed the messages behind the first", func() bool {
		for i := range 10 {
			published(t, ch, p.queue, large(i))
		}
		o := p.reading(positions(t))
		o.Consumer = "looks"
		s := openedStream(t, o)
		defer closed(t, s)
		msgs, _ := fetched(t, s, 1)
		return msgs[0].Place.Offset > 10
	})
	says(t, a, source.ErrMisconfigured, "its retention removed the messages from offset ")
	for behind := false; !behind; {
		msgs, lost := fetched(t, b, 1)
		if len(lost) > 0 {
			t.Errorf("the partitions %q were lost", lost)
		}
		behind = msgs[0].Place.Offset > 10
	}
	if r := <-told; r.From > 10 || r.To <= 10 {
		t.Errorf("Reset was told %+v", r)
	}
}

// Each segment begins with an entry of the server, whose offset no message has.
func TestOffsetsThatNoMessageHasAreNoLoss(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "stream", false).create(t, amqp.Table{"x-stream-max-segment-size-bytes": int64(100_000)})
	ch := confirming(t, p.url)
	for range 8 {
		published(t, ch, p.queue, amqp.Publishing{Body: make([]byte, 60_000)})
	}
	kept := positions(t)
	var last uint64
	for range 8 { // each message is once the first that a member asks for
		s := openedStream(t, p.reading(kept))
		batch, err := s.Fetch(publishtest.Timeout(t, 20*time.Second), source.Limits{Messages: 1})
		if err != nil {
			t.Fatal(err)
		}
		acked(t, s, 0, batch.Messages...)
		closed(t, s)
		last = batch.Messages[0].Place.Offset
	}
	if last <= 8 {
		t.Errorf("the eighth message is at offset %d: the test tries nothing", last)
	}
}

func TestAStreamThatWasMadeAgainIsToldAndANewLifeBeginsWithItsFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stored int
		says   string
	}{
		"longer":  {12, "at offset 5 is another message"},
		"as long": {6, "at offset 5 is another message"},
		"shorter": {3, "it ends before offset 5"},
		"empty":   {0, "it ends before offset 5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, kept := stream(t, 8), &watched{Positions: positions(t)}
			s := openedStream(t, p.reading(kept))
			msgs, _ := fetched(t, s, 8)
			acked(t, s, 0, msgs[:6]...)
			kept.is(t, `"next":6,`)
			ch := channel(t, p.url)
			if _, err := ch.QueueDelete(p.queue, false, false, false); err != nil {
				t.Fatal(err)
			}
			p.create(t, nil)
			if c.stored > 0 {
				p.store(t, 1000, c.stored)
			}
			if batch, err := s.Fetch(publishtest.Timeout(t, 20*time.Second), source.Limits{}); err != nil || len(batch.Lost) != 1 {
				t.Fatalf("Fetch says %v, %v; want the loss", batch.Lost, err)
			}
			says(t, s, source.ErrMisconfigured, c.says)
			says(t, s, source.ErrMisconfigured, "set StreamOptions.Life to a new word")
			closed(t, s)
			p.store(t, 1000+c.stored, 1)
			o := p.reading(kept)
			o.Life = "2"
			msgs, _ = fetched(t, openedStream(t, o), c.stored+1)
			wantPayloads(t, msgs, numbers(1000, 1001+c.stored))
		})
	}
}

func TestAPositionWhoseStoreIsAwayIsKeptLaterAndCloseSaysIfItIsNot(t *testing.T) {
	t.Parallel()
	p, kept := stream(t, 6), &watched{Positions: positions(t)}
	s := openedStream(t, p.reading(kept))
	msgs, _ := fetched(t, s, 6)
	kept.is(t, `"next":0,`)
	kept.refuse(errors.New("the database is away"))
	acked(t, s, 0, msgs[:2]...)
	nothing(t, s, 300*time.Millisecond)
	kept.refuse(nil)
	kept.is(t, `"next":2,`)
	kept.refuse(errors.New("the database is away"))
	acked(t, s, 0, msgs[2:4]...)
	err := s.Close(publishtest.Timeout(t, 20*time.Second))
	if !errors.Is(err, source.ErrUnavailable) || !strings.Contains(err.Error(), "the database is away") {
		t.Errorf("Close says %v", err)
	}
	kept.refuse(nil)
	again, _ := fetched(t, openedStream(t, p.reading(kept)), 4)
	wantPayloads(t, again, numbers(2, 6))
}

func TestAPositionIsKeptOfManyAcksAtOnce(t *testing.T) {
	t.Parallel()
	p, kept := stream(t, 2000), &watched{Positions: positions(t)}
	s := openedStream(t, p.reading(kept))
	began := time.Now()
	for n := 0; n < 2000; {
		msgs, _ := fetched(t, s, 1)
		for _, m := range msgs {
			acked(t, s, 0, m)
		}
		n += len(msgs)
	}
	kept.is(t, `"next":2000,`)
	if most := int(time.Since(began)/(100*time.Millisecond)) + 3; kept.kept > most {
		t.Errorf("the position was kept %d times, want %d at most", kept.kept, most)
	}
}

func TestARecordThatIsNoPositionIsRefusedAndStays(t *testing.T) {
	t.Parallel()
	p, kept := stream(t, 3), &watched{Positions: positions(t)}
	s := openedStream(t, p.reading(kept))
	fetched(t, s, 3)
	kept.is(t, `"next":0,`)
	closed(t, s)
	for _, record := range []string{"x", `{"next":3}`, `{"next":3,"sum":"AAAAAAAAAAAAAAAAAAAAAA==","newer":1}`, "{}"} {
		epoch, _, err := kept.Positions.OpenPosition(t.Context(), kept.name)
		if err != nil {
			t.Fatal(err)
		}
		if ours, err := kept.Positions.KeepPosition(t.Context(), kept.name, epoch, []byte(record)); !ours || err != nil {
			t.Fatal(ours, err)
		}
		s := openedStream(t, p.reading(kept))
		says(t, s, source.ErrMisconfigured, "it is no position of a stream")
		closed(t, s)
		if kept.is(t, record); string(kept.record) != record {
			t.Errorf("the record is %q now", kept.record)
		}
	}
}

// How far messages are delivered behind one that is not acked is bounded, and so is what is read ahead.
func TestAMessageOfAStreamThatIsNeverAckedHoldsTheStreamBackInTheEnd(t *testing.T) {
	t.Parallel()
	p := stream(t, 10_050)
	s := openedStream(t, p.reading(positions(t)))
	var first source.Message
	n := 0
	for n < 10_000 {
		msgs, _ := fetched(t, s, 1)
		if n == 0 {
			first, msgs = msgs[0], msgs[1:]
			n++
		}
		acked(t, s, 0, msgs...)
		n += len(msgs)
	}
	nothing(t, s, 300*time.Millisecond)
	acked(t, s, 0, first)
	msgs, _ := fetched(t, s, 50)
	wantPayloads(t, msgs, numbers(10_000, 10_050))
}

func TestAConnectionThatIsCutTakesNoMessageOfAStreamAway(t *testing.T) {
	t.Parallel()
	p := stream(t, 1500)
	line := servertest.Proxy(t, address(t, p.url))
	o := p.reading(positions(t))
	o.URL, o.Prefetch = via(t, p.url, line.Addr()), 100
	t.Logf("%d messages came again", reads(t, openedStream(t, o), 1500, 8, line.Cut))
}

func TestHeadersOfAStreamThatCannotBeReadAreLeftOutAndTheRestArrives(t *testing.T) {
	t.Parallel()
	p := stream(t, 1)
	published(t, confirming(t, p.url), p.queue, amqp.Publishing{Headers: crowd(), MessageId: "m", Body: []byte("1")})
	p.store(t, 2, 1)
	kept := positions(t)
	s := openedStream(t, p.reading(kept))
	msgs, _ := fetched(t, s, 3)
	wantPayloads(t, msgs, numbers(0, 3))
	if m := msgs[1]; !errors.Is(m.Err, source.ErrUndecodable) || m.MessageID != "m" || m.Place.Offset != 1 {
		t.Errorf("the message has the error %v, the id %q and the place %v", m.Err, m.MessageID, m.Place)
	}
	acked(t, s, 0, msgs[:2]...)
	closed(t, s)
	msgs, _ = fetched(t, openedStream(t, p.reading(kept)), 1)
	wantPayloads(t, msgs, []string{strconv.Itoa(2)})
}

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// streams are the two ends of a bridge at one NATS server.
type streams struct {
	t      *testing.T
	server *testserver.NATS
	js     jetstream.JetStream
}

// twoStreams starts a server with a stream in, for the subjects in.>, and one out, for out.>.
func twoStreams(t *testing.T) *streams {
	t.Helper()
	s := &streams{t: t, server: servertest.NATS(t, testserver.NATSOptions{})}
	nc, err := nats.Connect(s.server.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	if s.js, err = jetstream.New(nc); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"in", "out"} {
		if _, err := s.js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{name + ".>"}}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// publish stores messages from..to-1 in the stream in. Each has its number for id and payload.
func (s *streams) publish(from, to int) {
	s.t.Helper()
	for i := from; i < to; i++ {
		m := nats.NewMsg("in.orders")
		m.Header.Set("Postbag-Key", "key"+strconv.Itoa(i%7))
		m.Header.Set("X-Number", fmt.Sprintf("number-%d", i))
		m.Data = []byte(strconv.Itoa(i))
		if _, err := s.js.PublishMsg(s.t.Context(), m); err != nil {
			s.t.Fatal(err)
		}
	}
}

// arrived returns the payloads in the stream out, in sequence.
func (s *streams) arrived() (out []string) {
	s.t.Helper()
	stream, err := s.js.Stream(s.t.Context(), "out")
	if err != nil {
		s.t.Fatal(err)
	}
	info, err := stream.Info(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for seq := uint64(1); seq <= info.State.LastSeq; seq++ {
		m, err := stream.GetMsg(s.t.Context(), seq)
		if err != nil {
			s.t.Fatal(err)
		}
		out = append(out, string(m.Data))
	}
	return out
}

// takesIn is a configuration whose source is the stream in.
func (s *streams) takesIn(at *place, more string) string {
	return "store: " + at.yaml + "\nsources:\n  - name: orders\n    from: {nats: {url: '" + s.server.URL() +
		"', stream: in, consumer: billing, order: stream}}\n    id_headers: [X-Number]\n" + more
}

// bridge is a configuration that also delivers to the stream out.
func (s *streams) bridge(at *place) string {
	return s.takesIn(at, "destinations: {out: {nats: {url: '"+s.server.URL()+"', stream: out, prefix: out.}}}\nsubscriptions: [{box: inbox}]\ngrace: 5s\n")
}

// numbers checks that payloads are 0..n-1, each once.
func numbers(t *testing.T, payloads []string, n int) {
	t.Helper()
	count := make(map[string]int)
	for _, p := range payloads {
		count[p]++
	}
	for i := range n {
		if c := count[strconv.Itoa(i)]; c != 1 {
			t.Errorf("message %d is there %d times", i, c)
		}
	}
	if len(payloads) != n {
		t.Errorf("there are %d messages, want %d", len(payloads), n)
	}
}

func TestABridgeLosesNothingAndStoresNothingTwiceWhenItIsStoppedAndStartedAgain(t *testing.T) {
	t.Parallel()
	s := twoStreams(t)
	at := emptyDatabase(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "inbox").ok()
	file := write(t, "postbag.yaml", s.bridge(at))
	cli(t, "config", "check", "-c", file).ok().says("source orders (nats) goes into inbox", "inbox/default goes to out")
	const all = 3000
	s.publish(0, all/3)
	first := start(t, "relay", "-c", file)
	await(t, "the first messages arrive", func() bool { return len(s.arrived()) > 0 })
	ended := make(chan exit.Code, 1)
	go func() { ended <- first.end() }() // in the middle of the work
	s.publish(all/3, 2*all/3)
	if code := <-ended; code != exit.OK {
		t.Fatalf("the bridge ended with %d", code)
	}
	s.publish(2*all/3, all)
	second := start(t, "relay", "-c", file)
	await(t, "all arrive", func() bool { return len(s.arrived()) >= all })
	if code := second.end(); code != exit.OK {
		t.Errorf("the bridge ended with %d", code)
	}
	got := s.arrived()
	numbers(t, got, all)
	last := map[int]int{}
	for _, p := range got {
		n, err := strconv.Atoi(p)
		if err != nil {
			t.Fatal(err)
		}
		if before, seen := last[n%7]; seen && before > n {
			t.Errorf("message %d of its key came after %d", n, before)
		}
		last[n%7] = n
	}
}

func TestConsumeStoresWhatComesAgainOnce(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		s := twoStreams(t)
		cli(t, "migrate", "up", at.flag, at.where, "--box", "inbox").ok()
		file := write(t, "postbag.yaml", s.takesIn(at, "admin: {listen: '0'}\n"))
		s.publish(0, 100)
		one := start(t, "consume", "-c", file)
		await(t, "the source is ready", func() bool { return scrape(t, one, "/readyz") == "ready\n" })
		await(t, "all were stored", func() bool {
			return strings.Contains(scrape(t, one, "/metrics"), `postbag_source_stored_total{box="inbox",source="orders"} 100`)
		})
		s.publish(0, 100) // the same ids
		want := []string{`postbag_log_last_seq{box="inbox"} 100`, "postbag_source_open{", "postbag_source_consumed_total{", "postbag_source_faulty_total{", "postbag_source_lag_messages{"}
		await(t, "the repeated messages were counted", func() bool {
			text := scrape(t, one, "/metrics")
			return !slices.ContainsFunc(want, func(m string) bool { return !strings.Contains(text, m) }) &&
				strings.Contains(text, `repeated_total{box="inbox",source="orders"} 100`)
		})
		if code := one.end(); code != exit.OK {
			t.Errorf("consume ended with %d", code)
		}
	})
}

// scrape asks a running command's admin listener.
func scrape(t *testing.T, r *running, path string) string {
	t.Helper()
	_, address, found := strings.Cut(r.err.String(), "address=")
	if !found {
		return ""
	}
	address, _, _ = strings.Cut(address, "\n")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Close = true
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestConsumeRefusesWhatItCannotDoAndSaysWhy(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	with := func(text string) string { return write(t, "postbag.yaml", "store: "+at.yaml+"\n"+text) }
	good := "{nats: {url: 'nats://127.0.0.1:1', stream: s, consumer: c}}"
	cli(t, "consume").ends(exit.Usage, "-c is missing")
	cli(t, "consume", "-c", with("destinations: {o: {stdout: }}\n")).ends(exit.Usage, "has no sources; add them")
	cli(t, "relay", "-c", with("sources: [{from: "+good+"}]\n")).ends(exit.Usage, "has sources and no destination")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cliContext(ctx, t, "", "consume", "-c", with("sources: [{from: "+good+"}]\n")).ends(exit.NotFound, "source inbox: box inbox", "postbag migrate up --box inbox")
	secret := with("sources: [{box: outbox, from: {nats: {url: 'nats://127.0.0.1:1', stream: s, consumer: c, password_env: POSTBAG_TEST_NOT_SET}}}]\n")
	cliContext(ctx, t, "", "consume", "-c", secret).ends(exit.Usage, "source outbox", "POSTBAG_TEST_NOT_SET")
	cli(t, "config", "check", "-c", secret).ends(exit.Usage, ":2: sources[0].from.nats cannot work", "POSTBAG_TEST_NOT_SET")
	cli(t, "config", "check", "-c", with("sources: [{from: {nats: {url: 'nats://h', stream: 'a b', consumer: c}}}]\n")).
		ends(exit.Usage, "sources[0].from.nats cannot work: stream")
}

func TestASourceWhoseBrokerIsAwayIsOpenedOnceItIsThere(t *testing.T) {
	t.Parallel()
	s := twoStreams(t)
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "inbox").ok()
	s.publish(0, 10)
	if err := s.server.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	one := start(t, "consume", "-c", write(t, "postbag.yaml", s.takesIn(at, "admin: {listen: '0'}\n")))
	await(t, "the log says that the broker is away", func() bool {
		return strings.Contains(one.err.String(), "intake: the source cannot be opened; trying again")
	})
	if text := scrape(t, one, "/readyz"); !strings.Contains(text, "the source orders is not open") {
		t.Errorf("/readyz says %q", text)
	}
	if err := s.server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(t, "all are stored", func() bool {
		return strings.Contains(scrape(t, one, "/metrics"), `stored_total{box="inbox",source="orders"} 10`)
	})
	if n := strings.Count(one.err.String(), "cannot be opened"); n != 1 {
		t.Errorf("the log says %d times that the source cannot be opened", n)
	}
	if code := one.end(); code != exit.OK {
		t.Errorf("it ended with %d", code)
	}
}

func TestAMessageThatIsTooLargeEndsTheProcessUnlessItsHeadIsKept(t *testing.T) {
	t.Parallel()
	s := twoStreams(t)
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "inbox").ok()
	s.publish(0, 1)
	takesIn := func(more string) string {
		return write(t, "postbag.yaml", strings.Replace(s.takesIn(at, "    max_size: 2\n"+more), "order: stream", "order: stream, ack_wait: 1s", 1))
	}
	m := nats.NewMsg("in.orders")
	m.Data = []byte("too large")
	if _, err := s.js.PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cliContext(ctx, t, "", "consume", "-c", takesIn("")).ends(exit.Failed, "source orders", "the message of topic \"in.orders\"", "too_large")
	cliContext(ctx, t, "", "consume", "-c", takesIn("    faults: stop\n    too_large: head\n")).
		ends(exit.Failed, "source orders", "the message of topic \"in.orders\"", "Payload")
	one := start(t, "consume", "-c", takesIn("    too_large: head\n"))
	await(t, "it is stored", func() bool { return strings.Contains(one.err.String(), "a message was taken in with a fault") })
	if code := one.end(); code != exit.OK {
		t.Errorf("it ended with %d", code)
	}
}

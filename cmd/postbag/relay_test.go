package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/prompostbag"
)

// stream is a JetStream stream with a consumer that starts at its beginning.
func stream(t *testing.T, url string, options ...nats.Option) jetstream.Stream {
	t.Helper()
	nc, err := nats.Connect(url, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRelayDeliversToNATSInOrderAndHandsOverWhenStopped(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		server := servertest.NATS(t, testserver.NATSOptions{User: "app", Password: canary})
		s := stream(t, server.URL(), nats.UserInfo("app", canary))
		config := write(t, "postbag.yaml", fmt.Sprintf(`
store: %s
destinations:
  broker: {nats: {url: "nats://127.0.0.1:%d", user_env: POSTBAG_TEST_NATS_USER, password_env: POSTBAG_TEST_NATS_PASSWORD, stream: ORDERS}}
`, at.yaml, server.Port()))
		const n, keys = 3000, 11
		var in strings.Builder
		for i := range n {
			fmt.Fprintf(&in, `{"topic":"orders.placed","key":"k%d","payload":"%d"}`+"\n", i%keys, i)
		}
		cliWith(t, in.String(), "publish", "-c", config, "--ndjson").ok()
		relay := start(t, "relay", "-c", config, "--name", "relay-1")
		await(t, "all messages are in the stream", func() bool {
			info, err := s.Info(t.Context())
			return err == nil && info.State.Msgs == n
		})
		cli(t, "status", "-c", config).ok().says("relay-1", fmt.Sprintf("%[1]d/%[1]d", at.shards), "1 relay")
		if code := relay.end(); code != exit.OK {
			t.Fatalf("the relay ended with %d:\n%s", code, relay.err.String())
		}
		cli(t, "status", "-c", config).ok().says("no relay is running")
		inOrder(t, s, n)
	})
}

// inOrder checks that each key's messages are in the stream once and in order.
func inOrder(t *testing.T, s jetstream.Stream, n int) {
	t.Helper()
	c, err := s.OrderedConsumer(t.Context(), jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	batch, err := c.Fetch(n, jetstream.FetchMaxWait(20*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	last, count := make(map[string]int), 0
	for m := range batch.Messages() {
		var i int
		if _, err := fmt.Sscan(string(m.Data()), &i); err != nil {
			t.Fatal(err)
		}
		key := m.Headers().Get("Postbag-Key")
		if before, ok := last[key]; ok && i <= before || key == "" {
			t.Errorf("key %q: %d came after %d", key, i, before)
		}
		last[key] = i
		count++
	}
	if count != n {
		t.Errorf("%d messages are in the stream, want %d", count, n)
	}
}

func TestRelayServesHealthAndMetrics(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		h := startHook(t, "bad")
		config := hookConfig(t, at, h.url)
		cliWith(t, `{"key":"a","type":"bad","payload":"1"}`+"\n"+`{"key":"b","type":"good","payload":"2"}`, "publish", "-c", config, "--ndjson").ok()
		relay := start(t, "relay", "-c", config)
		address := adminAddress(t, relay)
		get := func(path string) (int, string) {
			t.Helper()
			return fetch(t, "http://"+address+path)
		}
		defer http.DefaultClient.CloseIdleConnections()
		if code, body := get("/healthz"); code != http.StatusOK || body != "ok\n" {
			t.Errorf("/healthz is %d %q", code, body)
		}
		await(t, "the relay is ready", func() bool {
			code, _ := get("/readyz")
			return code == http.StatusOK
		})
		await(t, "the metrics say what became of both messages", func() bool {
			_, body := get("/metrics")
			return strings.Contains(body, `postbag_messages_delivered_total{box="outbox",subscription="default"} 1`) &&
				strings.Contains(body, `postbag_parked{box="outbox",state="dead",subscription="default"} 1`)
		})
		_, body := get("/metrics")
		checkMetrics(t, body)
		for _, path := range []string{"/", "/debug/pprof/", "/metrics/x"} {
			if code, _ := get(path); code != http.StatusNotFound {
				t.Errorf("%s is %d, want 404", path, code)
			}
		}
	})
}

// fetch gets a page.
func fetch(t *testing.T, url string) (code int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// adminAddress finds in a relay's log where it serves.
func adminAddress(t *testing.T, r *running) (address string) {
	t.Helper()
	served := regexp.MustCompile(`health and metrics are served" address=(\S+)`)
	await(t, "health and metrics are served", func() bool {
		if m := served.FindStringSubmatch(r.err.String()); m != nil {
			address = m[1]
		}
		return address != ""
	})
	if !strings.HasPrefix(address, "127.0.0.1:") {
		t.Errorf("it listens at %s, want loopback", address)
	}
	return address
}

// checkMetrics checks that a scrape has every metric of the table, and no other,
// of the right kind and with no label that could hold something of a message.
func checkMetrics(t *testing.T, scrape string) {
	t.Helper()
	got := make(map[string]string)
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`).FindAllStringSubmatch(scrape, -1) {
		got[m[1]] = m[2]
	}
	for _, m := range prompostbag.Metrics() {
		if strings.HasPrefix(m.Name, "postbag_source_") || strings.HasPrefix(m.Name, "postbag_consumer_") || strings.HasPrefix(m.Name, "postbag_handler_") ||
			m.Name == "postbag_created_messages_total" {
			continue // this relay has no sources, calls no handlers, and publishes nothing
		}
		kind := m.Type()
		if got[m.Name] != kind {
			t.Errorf("%s is a %q in the scrape, want a %s", m.Name, got[m.Name], kind)
		}
		delete(got, m.Name)
	}
	if len(got) > 0 {
		t.Errorf("the scrape has metrics that are not in the table: %v", got)
	}
	for _, m := range regexp.MustCompile(`[{,]([a-z_]+)="`).FindAllStringSubmatch(scrape, -1) {
		if !slices.Contains([]string{"box", "subscription", "state", "attempt", "cause", "scope", "le"}, m[1]) {
			t.Errorf("the scrape has the label %q", m[1])
		}
	}
}

func TestRelayThatIsNotReadySaysSo(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		h := startHook(t)
		relay := start(t, "relay", "-c", hookConfig(t, at, h.url))
		address := adminAddress(t, relay)
		await(t, "the relay is ready", func() bool {
			response, err := http.Get("http://" + address + "/readyz")
			if err != nil {
				return false
			}
			defer func() { _ = response.Body.Close() }()
			return response.StatusCode == http.StatusOK
		})
		http.DefaultClient.CloseIdleConnections()
		if code := relay.end(); code != exit.OK {
			t.Errorf("the relay ended with %d", code)
		}
		if response, err := http.Get("http://" + address + "/healthz"); err == nil {
			_ = response.Body.Close()
			t.Error("it still listens after its end")
		}
	})
}

func TestDrainThatCannotDeliverSaysSo(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		cli(t, "publish", at.flag, at.where, "--payload", "1").ok()
		cli(t, "relay", at.flag, at.where, "--to", "nats://127.0.0.1:1", "--drain").
			ends(exit.Unavailable, "the destination of outbox/default does not take messages, and they wait")
	})
}

// It does not wait for another's lease, and the one who drains must know that it is not whole.
func TestDrainBesideARelayThatHoldsShardsEndsWithACodeOfItsOwn(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		other := start(t, "relay", at.flag, at.where, "--to", "nats://127.0.0.1:1", "--name", "the-other")
		await(t, "the other relay has shards", func() bool { return strings.Contains(other.err.String(), "begins to deliver") })
		drain := []string{"relay", at.flag, at.where, "--to", "stdout:", "--drain"}
		cli(t, drain...).ok() // nothing waits
		var in strings.Builder
		for i := range 64 {
			fmt.Fprintf(&in, `{"topic":"t","key":"k%d","payload":1}`+"\n", i)
		}
		cliWith(t, in.String(), "publish", at.flag, at.where, "--ndjson").ok()
		o := cli(t, drain...).ends(exit.Held, "postbag: relay: the drain is not whole, another relay holds shards",
			"stop that relay, or drain again when its lease is over", "shards of outbox/default, by the-other (", "whose lease is good for ")
		if strings.Contains(o.err, "shut down gracefully") {
			t.Errorf("it says that it is done:\n%s", o.err)
		}
		if code := other.end(); code != exit.OK {
			t.Fatalf("the other relay ended with %d", code)
		}
		before := strings.Count(o.out, "\n")
		if after := strings.Count(cli(t, drain...).ok().out, "\n"); before+after != 64 {
			t.Errorf("%d messages came before the other relay ended and %d after it, want 64", before, after)
		}
	})
}

func TestRelayCreatesFileAndBoxOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "relay", at.flag, at.where, "--to", "stdout:", "--drain").ends(exit.Usage, "there is no file")
	cli(t, "relay", at.flag, at.where, "--to", "stdout:", "--drain", "--create", "--box", "orders").ok()
	cli(t, "relay", at.flag, at.where, "--to", "stdout:", "--drain", "--box", "outbox").ends(exit.NotFound)
	cli(t, "status", at.flag, at.where).ok().says("BOX orders")
}

func TestRelayRefusesAnotherFilterThanTheSubscriptionHas(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		cli(t, "relay", at.flag, at.where, "--to", "stdout:", "--drain", "--types", "order.*").ok()
		cli(t, "relay", at.flag, at.where, "--to", "stdout:", "--drain", "--types", "invoice.*").ends(exit.Usage, "filter")
	})
}

func TestLogIsJSONWhenAsked(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		o := cli(t, "relay", at.flag, at.where, "--to", "stdout:", "--drain", "--log-format", "json").ok()
		if !strings.HasPrefix(o.err, `{"time":`) {
			t.Errorf("the log is %q", o.err)
		}
	})
}

func TestInterruptedCommandSaysSo(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		o := cliContext(ctx, t, `{"payload":1}`, "publish", at.flag, at.where, "--ndjson")
		o.ends(exit.Interrupted, "interrupted")
	})
}

package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"text/template"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker/webhook"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// world is a database whose boxes have messages in every state, and a relay that delivers them to NATS and to a partner's webhook.
type world struct {
	name     string
	program  string // the postbag command
	folder   string
	config   string // file
	access   string // file
	database string // the value of a store in the configuration
	plan     plan
	partner  *partner
	console  *console
}

// plan says what is in a world.
type plan struct {
	boxes         []string
	destinations  string // settings of more of them
	subscriptions string // their settings
	pause         string // a subscription of orders that is paused at first; empty: none
	fill          func(*world) error
}

// The boxes of a world. Tests only look at orders. In work they give commands. In texts every text is an attack.
const (
	orders  = "orders"
	work    = "work"
	hostile = "texts"
)

// worlds has one world of each kind of store, for all tests.
var worlds = map[string]func(program string) (*world, error){
	"sqlite":     oneWorld("sqlite", inFile),
	"postgresql": oneWorld("postgresql", inPostgres),
}

// oneWorld makes a world when the first test asks for it.
func oneWorld(name string, database func(folder string) (string, error)) func(string) (*world, error) {
	var (
		once sync.Once
		w    *world
		err  error
	)
	return func(program string) (*world, error) {
		once.Do(func() { w, err = newWorld(name, program, database, everything) })
		return w, err
	}
}

// needWorld returns the world of a kind of store, or skips the test where a server of it is not installed.
func needWorld(t *testing.T, name string) *world {
	t.Helper()
	needBrowser(t)
	w, err := worlds[name](postbag(t))
	servertest.Need(t, err)
	return w
}

// onEachStore runs a test in a world of each kind of store.
func onEachStore(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	for name := range worlds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, needWorld(t, name))
		})
	}
}

// inFile is a database of SQLite.
func inFile(folder string) (string, error) {
	return fmt.Sprintf("{dsn: %q}", filepath.Join(folder, "shop.db")), nil
}

// inPostgres is a database of PostgreSQL.
func inPostgres(folder string) (string, error) {
	server, err := testserver.StartPostgres(context.Background(), testserver.PostgresOptions{NoSync: true})
	if err != nil {
		return "", err
	}
	atTheEnd(server.Close)
	file := filepath.Join(folder, "dsn")
	return fmt.Sprintf("{dsn_file: %q}", file), os.WriteFile(file, []byte(server.DSN("postgres")), 0o600)
}

// newWorld makes a database, starts a relay and a console, and fills the boxes.
func newWorld(name, program string, database func(folder string) (string, error), p plan) (_ *world, err error) {
	w := &world{name: name, program: program, plan: p}
	if w.folder, err = os.MkdirTemp("", "postbag-browser-"); err != nil {
		return nil, err
	}
	atTheEnd(func() error { return os.RemoveAll(w.folder) })
	w.config, w.access = filepath.Join(w.folder, "postbag.yaml"), filepath.Join(w.folder, "access")
	if w.database, err = database(w.folder); err != nil {
		return nil, err
	}
	w.partner = newPartner()
	atTheEnd(w.partner.close)
	for _, prepare := range []func() error{w.configure, w.admit, w.migrate, w.declare, w.startRelay, func() error { return p.fill(w) }} {
		if err := prepare(); err != nil {
			return nil, err
		}
	}
	w.console, err = w.startConsole(0, "--access", w.access, "--commands", "--payloads")
	if err != nil {
		return nil, err
	}
	return w, nil
}

// settings of a world. Billing and search are on NATS, and the topic returns has no stream there. Email is a partner's webhook.
const settings = `
name: relay-1
stores: {shop: {{.Database}}}
destinations:
  events: {nats: {url: "{{.NATS}}", prefix: "{{.Name}}.", recheck: 1h}}
  partner: {webhook: {url: "{{.Partner}}", secrets_env: [PARTNER_SECRET], allow_private: [127.0.0.0/8]}}
{{.Destinations}}boxes: {orders: {retention: {delivered: 7d}}}
log: {level: warn}
console: {commands: true, payloads: true, edits: true, sample: 2s}
subscriptions:
  - {box: orders, name: billing, to: events}
  - {box: orders, name: search, to: events, where: {topics: [orders]}}
  - {box: orders, name: email, to: partner, where: {topics: [orders]}, retry: {min: 1h, max: 1h, rules: [{types: [order.cancelled], max_attempts: 1}]}}
`

// everything is what most tests look at, with a box for commands and one for attacks.
var everything = plan{
	boxes: []string{orders, work, hostile, inBulk},
	pause: "search",
	subscriptions: `
  - {box: work, to: partner, retry: {max_attempts: 1}}
  - {box: bulk, to: partner, retry: {max_attempts: 1}}
  - {box: texts, name: events, to: events}
  - {box: texts, name: partner, to: partner, retry: {max_attempts: 1}}
`,
	fill: func(w *world) error {
		if err := fillOrders(w); err != nil {
			return err
		}
		return fillHostile(w)
	},
}

// configure writes the configuration, and makes the stream that it delivers to.
func (w *world) configure() error {
	server, err := natsServer()
	if err != nil {
		return err
	}
	conn, err := nats.Connect(server.URL())
	if err != nil {
		return err
	}
	defer conn.Close()
	streams, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	_, err = streams.CreateStream(context.Background(), jetstream.StreamConfig{Name: "ORDERS_" + w.name, Subjects: []string{w.name + ".orders", w.name + ".payments"}, Storage: jetstream.MemoryStorage})
	if err != nil {
		return err
	}
	var text bytes.Buffer
	err = template.Must(template.New("").Parse(settings+strings.TrimPrefix(w.plan.subscriptions, "\n"))).Execute(&text, map[string]string{
		"Database": w.database, "NATS": server.URL(), "Name": w.name, "Partner": w.partner.server.URL, "Destinations": w.plan.destinations,
	})
	if err != nil {
		return err
	}
	return os.WriteFile(w.config, text.Bytes(), 0o600)
}

// cli runs a command line with a text on standard input, and returns what it writes.
func (w *world) cli(input string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.program, args...)
	cmd.Env = append(os.Environ(), "PARTNER_SECRET="+partnerSecret)
	cmd.Stdin = strings.NewReader(input)
	var diag strings.Builder
	cmd.Stderr = &diag
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("postbag %v: %w: %s", args, err, diag.String())
	}
	return string(out), nil
}

// with runs a command line with the configuration of the world.
func (w *world) with(args ...string) error {
	_, err := w.cli("", append(args, "-c", w.config)...)
	return err
}

// migrate makes the boxes.
func (w *world) migrate() error {
	args := []string{"migrate", "up"}
	for _, box := range w.plan.boxes {
		args = append(args, "--box", box)
	}
	return w.with(args...)
}

// declare makes the subscriptions, and may pause one before a relay delivers anything.
func (w *world) declare() error {
	if err := w.with("relay", "--drain"); err != nil {
		return err
	}
	if w.plan.pause == "" {
		return nil
	}
	return w.with("subscriptions", "pause", w.plan.pause, "--box", orders, "--who", "ann", "--why", "the index is rebuilt")
}

func (w *world) startRelay() error {
	relay, err := testserver.StartProgram(testserver.ProgramOptions{
		Name: "the relay", Path: w.program, Args: []string{"relay", "-c", w.config}, Env: []string{"PARTNER_SECRET=" + partnerSecret}, Log: filepath.Join(w.folder, "relay.log"),
	})
	if err != nil {
		return err
	}
	atTheEnd(func() error { return relay.Kill(context.Background()) })
	return nil
}

// message is a line of postbag publish --ndjson.
type message struct {
	Topic     string            `json:"topic"`
	Key       string            `json:"key,omitempty"`
	Type      string            `json:"type,omitempty"`
	Headers   map[string]string `json:"headers,omitempty"`
	Payload   any               `json:"payload"`
	NotBefore *time.Time        `json:"not_before,omitempty"`
}

// publish writes messages into a box.
func (w *world) publish(box string, all ...message) error {
	var lines strings.Builder
	for _, m := range all {
		line, err := json.Marshal(m)
		if err != nil {
			return err
		}
		lines.Write(append(line, '\n'))
	}
	_, err := w.cli(lines.String(), "publish", "-c", w.config, "--box", box, "--ndjson")
	return err
}

// count returns how many messages of a subscription of a box are in a state.
func (w *world) count(box, subscription, state string) (int, error) {
	args := []string{"messages", "list", "-c", w.config, "--box", box, "--state", state, "--json", "--limit", "500"}
	if subscription != "" {
		args = append(args, "--subscription", subscription)
	}
	out, err := w.cli("", args...)
	return strings.Count(out, "\n"), err
}

// comes waits until so many messages of a subscription are in a state.
func (w *world) comes(box, subscription, state string, want int) error {
	var n int
	var failed error
	err := await(fmt.Sprintf("%d messages of %s/%s are %s", want, box, subscription, state), func() bool {
		n, failed = w.count(box, subscription, state)
		return failed == nil && n == want
	})
	if err != nil {
		return errors.Join(fmt.Errorf("%w: there are %d", err, n), failed)
	}
	return nil
}

var partnerSecret = webhook.NewSecret()

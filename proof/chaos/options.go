package chaos

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/postbag/postbag/proof/internal/flags"
)

// Options say what to run.
type Options struct {
	Store  Store
	Broker Broker
	// Inbox has messages go from the Broker, a Taker, to the Store, an Applier: a run of an inbox.
	Inbox bool
	// Sink, if it is not nil, is an Applier behind the Broker, which is a Junction: an outbox and an inbox together. Inbox is then false.
	Sink Store
	// For is how long faults come. Defaults to 1 min.
	For time.Duration
	// Seed draws the schedule and the load. Zero is a seed too.
	Seed uint64
	// Relays and Producers are numbers of processes. Default to 2 each. In a run of an inbox the former are consumers.
	Relays, Producers int
	// Rate is how many messages a second all producers publish together, about. Defaults to 1,000.
	Rate int
	// Only are names of faults, if not all shall come.
	Only []string
	// Dir takes logs, events and the report: an empty folder, or one that is to be made. Required.
	Dir string
	// Log takes a line for each thing that happens. Required.
	Log io.Writer
}

// What is used where Options say nothing.
const (
	defaultFor       = time.Minute
	defaultProcesses = 2
	defaultRate      = 1000
)

// mostProcesses is what a machine can be asked for.
const mostProcesses = 64

func (o *Options) defaults() {
	o.For = cmp.Or(o.For, defaultFor)
	o.Relays, o.Producers = cmp.Or(o.Relays, defaultProcesses), cmp.Or(o.Producers, defaultProcesses)
	o.Rate = cmp.Or(o.Rate, defaultRate)
}

// Validate says all that is wrong.
func (o *Options) Validate() error {
	p := *o
	p.defaults()
	var all []error
	wrong := func(is bool, format string, about ...any) {
		if is {
			all = append(all, fmt.Errorf("chaos: "+format, about...))
		}
	}
	wrong(p.Store == nil || p.Broker == nil, "a run needs a Store and a Broker; give both")
	wrong(p.Inbox && p.Store != nil && p.Broker != nil && !takes(p.Store, p.Broker),
		"a run of an inbox needs a Broker that is a Taker and a Store that is an Applier; add their methods, or leave Inbox false")
	wrong(p.Sink != nil && (p.Inbox || !joins(p.Broker, p.Sink)),
		"a run with a Sink needs a Broker that is a Junction and a Sink that is an Applier; add their methods, leave Inbox false, or leave Sink out")
	wrong(p.For < time.Second, "%v of faults is too short; give a second or more", p.For)
	wrong(p.Relays < 1 || p.Relays > mostProcesses, "%d relays; give one to %d", p.Relays, mostProcesses)
	wrong(p.Producers < 1 || p.Producers > mostProcesses, "%d producers; give one to %d", p.Producers, mostProcesses)
	wrong(p.Rate < p.Producers, "%d messages a second of %d producers; give one a second of each, or more", p.Rate, p.Producers)
	wrong(p.Log == nil, "nobody hears what happens; set Log, to io.Discard if nobody should")
	if p.Dir == "" {
		wrong(true, "there is no place for logs and the report; set Dir")
	} else if inside, err := os.ReadDir(p.Dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		wrong(true, "the folder for logs and the report cannot be read: %w; name another", err)
	} else {
		wrong(len(inside) > 0, "the folder %s is not empty; name one that is, or that is not there yet", p.Dir)
	}
	return errors.Join(all...)
}

// options reads the arguments.
func options(args []string, out io.Writer, stores []Store, brokers []Broker) (o Options, err error) {
	f := flag.NewFlagSet("postbag-chaos", flag.ContinueOnError)
	pair := f.String("pair", "postgresql-nats", pairs(stores, brokers))
	f.DurationVar(&o.For, "for", defaultFor, "how long faults come")
	f.Uint64Var(&o.Seed, "seed", 0, "draws the schedule and the load (default: another each time)")
	f.IntVar(&o.Relays, "relays", defaultProcesses, "processes")
	f.IntVar(&o.Producers, "producers", defaultProcesses, "processes")
	f.IntVar(&o.Rate, "rate", defaultRate, "messages a second of all producers")
	f.StringVar(&o.Dir, "dir", "", "an empty folder for logs, events and the report (default: a new one for temporary files)")
	only := f.String("only", "", "names of faults, with commas between them, if not all shall come")
	if err := flags.Parse(f, args, out); err != nil {
		return o, err
	}
	o.Log, o.Only = out, strings.FieldsFunc(*only, func(c rune) bool { return c == ',' })
	for o.Seed == 0 {
		o.Seed = rand.Uint64N(1 << 32)
	}
	if o.Store, o.Broker, o.Inbox = find(*pair, stores, brokers); o.Store == nil {
		o.Store, o.Broker, o.Sink = findThree(*pair, stores, brokers)
	}
	if o.Store == nil {
		return o, fmt.Errorf("chaos: there is no pair %q; write %s", *pair, pairs(stores, brokers))
	}
	if o.Dir == "" {
		o.Dir = filepath.Join(os.TempDir(), fmt.Sprintf("postbag-chaos-%s-%d-%s", *pair, o.Seed, time.Now().Format("0102-150405")))
	}
	if *only != "" && len(o.Only) == 0 {
		return o, fmt.Errorf("chaos: -only %q names no fault; write names with commas between them, or leave it out", *only)
	}
	return o, o.asked()
}

// asked refuses the zeros that somebody wrote, which mean the defaults elsewhere.
func (o *Options) asked() error {
	if o.For == 0 || o.Relays == 0 || o.Producers == 0 || o.Rate == 0 {
		return errors.New("chaos: a run needs time, relays, producers and messages; give more than none of each")
	}
	return nil
}

// again are the arguments that draw the same once more.
func (o *Options) again() string {
	var b strings.Builder
	fmt.Fprintf(&b, "-pair %s -seed %d -for %v", o.pair(), o.Seed, o.For)
	for _, one := range []struct {
		name          string
		value, normal int
	}{{"relays", o.Relays, defaultProcesses}, {"producers", o.Producers, defaultProcesses}, {"rate", o.Rate, defaultRate}} {
		if one.value != one.normal {
			fmt.Fprintf(&b, " -%s %d", one.name, one.value)
		}
	}
	if len(o.Only) > 0 {
		fmt.Fprintf(&b, " -only '%s'", strings.Join(o.Only, ","))
	}
	return b.String()
}

// pairs says what there is.
func pairs(stores []Store, brokers []Broker) string {
	left, right := make([]string, len(stores)), make([]string, len(brokers))
	for i, s := range stores {
		left[i] = s.Name()
	}
	for i, b := range brokers {
		right[i] = b.Name()
	}
	return fmt.Sprintf("a store (%s), a hyphen and a broker (%s), or for an inbox the broker first (%s), or for both a store, a broker and a store (such as %s)",
		strings.Join(left, ", "), strings.Join(right, ", "), strings.Join(inboxes(stores, brokers), ", "), "postgresql-nats-sqlite")
}

// inboxes are the pairs of an inbox.
func inboxes(stores []Store, brokers []Broker) (out []string) {
	for _, b := range brokers {
		for _, s := range stores {
			if takes(s, b) {
				out = append(out, b.Name()+"-"+s.Name())
			}
		}
	}
	return out
}

// findThree looks up an outbox and an inbox with a broker between them.
func findThree(text string, stores []Store, brokers []Broker) (Store, Broker, Store) {
	for _, sink := range stores {
		s, b, inbox := find(strings.TrimSuffix(text, "-"+sink.Name()), stores, brokers)
		if s != nil && !inbox && text == s.Name()+"-"+b.Name()+"-"+sink.Name() && joins(b, sink) {
			return s, b, sink
		}
	}
	return nil, nil, nil
}

// find looks a pair up. It is one of an inbox if it begins with the broker.
func find(pair string, stores []Store, brokers []Broker) (_ Store, _ Broker, inbox bool) {
	for _, s := range stores {
		for _, b := range brokers {
			switch {
			case pair == s.Name()+"-"+b.Name():
				return s, b, false
			case pair == b.Name()+"-"+s.Name() && takes(s, b):
				return s, b, true
			}
		}
	}
	return nil, nil, false
}

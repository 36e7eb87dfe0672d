package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Options configure a Run.
type Options struct {
	// Orders is how many orders are committed. Defaults to 5,000.
	Orders int
	// Rate is about how many orders a second. Defaults to 400.
	Rate int
	// Postgres runs the shop on a private PostgreSQL server in place of SQLite.
	Postgres bool
	// Console serves the console of the shop's database while the demo runs, and then until ctx ends.
	Console bool
	// Relay and Billing start the relay and the billing service: the program and its
	// first arguments, to which the demo adds nothing. They are told what to do by the
	// environment, see the functions Relay and Billing.
	Relay, Billing []string
	// Out takes the report. Live says that it is a terminal.
	Out  io.Writer
	Live bool
}

// ErrBroken says that the demo ended with a promise broken.
var ErrBroken = errors.New("demo: a promise was broken; see the table above, and please report it")

// patience is how long the demo waits for messages, beyond the time that it needs
// to commit them twice.
const patience = 60 * time.Second

// folderPrefix begins the name of the folder in which all files of a demo are.
const folderPrefix = "postbag-demo-"

// Run runs the demo. It leaves nothing behind. With ErrBroken too there is a
// report.
func Run(ctx context.Context, o Options) (report Report, err error) {
	if o.Orders <= 0 {
		o.Orders = 5000
	}
	if o.Rate <= 0 {
		o.Rate = 400
	}
	dir, err := os.MkdirTemp("", folderPrefix)
	if err != nil {
		return report, fmt.Errorf("demo: no temporary folder: %w; set TMPDIR to one that can be written", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := &scene{options: o, screen: newScreen(o.Out, o.Live), begun: time.Now()}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.set(ctx, dir); err != nil {
		return report, err
	}
	showLines(s.screen)
	if err := s.play(ctx); err != nil {
		return report, err
	}
	if report, err = s.judge(ctx); err != nil {
		return report, err
	}
	report.show(s.screen)
	s.stay(ctx)
	if !report.Kept {
		return report, ErrBroken
	}
	showNext(s.screen)
	return report, nil
}

// scene is a run of the demo and what it has started.
type scene struct {
	options Options
	screen  *screen
	begun   time.Time
	store   string // the database's name
	broker  *broker
	shop    *shop
	checker *checker
	relay   *process
	books   *books
	billing *process
	console string // its address; empty: there is none
	closers []func() error
	pauses  pauses
	// How often each process was killed.
	kills, billingKills int
}

func (s *scene) later(fn func() error) { s.closers = append(s.closers, fn) }

// close ends what was started, the latest first.
func (s *scene) close() error {
	var errs []error
	for _, closer := range slices.Backward(s.closers) {
		errs = append(errs, closer())
	}
	s.closers = nil
	return errors.Join(errs...)
}

// set starts the broker, the databases, the checker, the relay and the billing service.
func (s *scene) set(ctx context.Context, dir string) error {
	var err error
	if s.broker, err = startBroker(ctx, filepath.Join(dir, "jetstream")); err != nil {
		return err
	}
	s.later(s.broker.close)
	s.screen.sayf("NATS JetStream %s in this process, with a file store", s.broker.version())
	database, err := openDatabase(ctx, dir, s.options.Postgres)
	if err != nil {
		return err
	}
	s.later(database.close)
	s.store = database.name
	s.screen.sayf("%s, with a table of orders and a box named outbox", database.name)
	if s.shop, err = openShop(ctx, database); err != nil {
		return err
	}
	if s.checker, err = startChecker(ctx, s.broker.url(), s.pauses.stored); err != nil {
		return err
	}
	s.later(s.checker.close)
	if s.books, err = openBooks(ctx, dir); err != nil {
		return err
	}
	s.later(s.books.close)
	if err := s.startProcesses(dir, database); err != nil || !s.options.Console {
		return err
	}
	return s.startConsole(ctx, database)
}

// startProcesses starts the relay and the billing service.
func (s *scene) startProcesses(dir string, shop *database) error {
	common := []string{EnvNATS + "=" + s.broker.url(), EnvFolder + "=" + dir}
	s.relay = &process{name: "the relay", command: s.options.Relay, env: append(common, shop.env...), log: filepath.Join(dir, "relay.log")}
	s.billing = &process{
		name: "the billing service", command: s.options.Billing, env: append(common, EnvBilling+"="+s.books.path), log: filepath.Join(dir, "billing.log"),
	}
	for _, p := range []*process{s.relay, s.billing} {
		s.later(p.close)
		if err := p.start(); err != nil {
			return err
		}
		s.screen.sayf("%s, process %d", p.name, p.pid())
	}
	return nil
}

// play commits the orders and makes trouble, until every order has arrived and is
// billed, or patience is at its end.
func (s *scene) play(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var begun sync.WaitGroup
	defer begun.Wait()
	defer cancel()
	ended := make(chan error, 3)
	begun.Go(func() { ended <- s.shop.sell(ctx, s.options.Orders, s.options.Rate) })
	begun.Go(func() { ended <- s.makeTrouble(ctx) })
	begun.Go(func() { ended <- s.killBilling(ctx) })
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	patience := time.NewTimer(s.options.longest())
	defer patience.Stop()
	for running := 3; ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-patience.C:
			return s.checker.err()
		case err := <-ended:
			if running--; err != nil {
				return err
			}
		case <-tick.C:
		}
		committed, delivered := s.shop.committed(), s.checker.count()
		applied, err := s.books.count(ctx)
		if err != nil {
			return fmt.Errorf("demo: the invoices cannot be counted: %w", err)
		}
		s.screen.progress(committed, delivered, applied, s.options.Orders)
		if running == 0 && delivered >= committed && applied >= committed {
			return s.checker.err()
		}
	}
}

// longest is how long a run may take before it counts what is missing as lost.
func (o *Options) longest() time.Duration {
	return time.Duration(2*o.Orders/o.Rate)*time.Second + patience
}

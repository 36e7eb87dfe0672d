package pgstore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/store/storekit"
)

// channel is the name of the notifications between processes. Their payload is
// the box.
const channel = "postbag"

// waker tells relays of new messages: those of this process at once, those of
// others by notification.
type waker struct {
	woken chan struct{}
	// due holds one request to notify.
	due    chan string
	cancel context.CancelFunc
	done   sync.WaitGroup
}

func (w *waker) start(s *Store) {
	w.woken = make(chan struct{}, 1)
	w.due = make(chan string, 1)
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	if s.opts.Listen {
		w.done.Go(func() { s.listen(ctx) })
	}
	if s.opts.Notify > 0 {
		w.done.Go(func() { notify(ctx, w.due, s.opts.Notify, s.sendNotification) })
	}
}

func (w *waker) stop() {
	w.cancel()
	w.done.Wait()
}

// ring wakes who waits on Woken.
func (w *waker) ring() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// Woken implements store.Waker. Without Options.Listen it hears of Wake in this
// process only.
func (s *Store) Woken() <-chan struct{} { return s.wake.woken }

// Wake implements postbag.Appender. With Options.Notify it also has other
// processes notified, soon, from a connection of the pool.
func (s *Store) Wake(box string) {
	s.wake.ring()
	if s.opts.Notify <= 0 {
		return
	}
	select {
	case s.wake.due <- box:
	default:
	}
}

// notifyTimeout bounds the sending of one notification.
const notifyTimeout = 5 * time.Second

// notify sends what is due, at most one notification a window.
func notify(ctx context.Context, due <-chan string, pause time.Duration, send func(ctx context.Context, box string)) {
	window := time.NewTimer(0)
	defer window.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-window.C:
		}
		select {
		case <-ctx.Done():
			return
		case box := <-due:
			send(ctx, box)
		}
		window.Reset(pause)
	}
}

func (s *Store) sendNotification(ctx context.Context, box string) {
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	err := s.run(ctx, call{st: s.statements.get("notify", ""), args: new(parameters).text(box)})
	if err != nil && ctx.Err() == nil {
		s.faults.tell("notify", translateError("notify other processes", err))
	}
}

// listen keeps a connection that listens, and makes a new one when it is lost.
func (s *Store) listen(ctx context.Context) {
	for pause := 100 * time.Millisecond; ctx.Err() == nil; pause = min(2*pause, 10*time.Second) {
		heard, err := s.listenOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		s.faults.tell("listen", fmt.Errorf("%w; until it is back, new messages of other processes are found by polling",
			translateError("listen", err)))
		if heard {
			pause = 100 * time.Millisecond
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// listenOnce listens until the connection fails, and says whether it ever did.
func (s *Store) listenOnce(ctx context.Context) (heard bool, err error) {
	config := s.opts.ListenConfig
	if config == nil {
		config = s.pool.Config().ConnConfig
	}
	conn, err := pgx.ConnectConfig(ctx, config.Copy())
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "LISTEN "+channel+storekit.NewComments(s.opts.SQLComments).Relay, pgx.QueryExecModeSimpleProtocol); err != nil {
		return false, err
	}
	s.wake.ring() // what came while nobody listened
	for {
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return true, err
		}
		s.wake.ring()
	}
}

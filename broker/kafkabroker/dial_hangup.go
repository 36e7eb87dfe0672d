package kafkabroker

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/postbag/postbag/broker"
)

// trouble is how the last attempt to connect to each broker ended, and whether any
// ever answered. The client library tells it only to hooks: a record waits on in
// silence. It is safe for concurrent use.
type trouble struct {
	cuts

	answered atomic.Bool // a broker has answered more than what makes a connection

	mu     sync.Mutex
	last   map[string]error // by address, of those that failed
	hungUp time.Time        // when brokers began to hang up, zero for not
}

var (
	_ kgo.HookBrokerConnect = (*trouble)(nil)
	_ kgo.HookBrokerRead    = (*trouble)(nil)
)

// OnBrokerConnect implements kgo.HookBrokerConnect: it hears of every connection
// with its TLS and login.
func (t *trouble) OnBrokerConnect(meta kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	address := net.JoinHostPort(meta.Host, strconv.Itoa(int(meta.Port)))
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		delete(t.last, address)
		return
	}
	if _, handed := errors.AsType[*tlsError](err); !handed && strings.Contains(err.Error(), "unable to dial") {
		t.hungUp = time.Time{} // it is the broker that goes, or comes
		t.reset()
	}
	if t.last == nil {
		t.last = map[string]error{}
	}
	if len(t.last) < maxTroubles {
		t.last[address] = err
	}
}

// OnBrokerRead implements kgo.HookBrokerRead.
func (t *trouble) OnBrokerRead(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, err error) {
	if err != nil || t.answered.Load() {
		return
	}
	switch kmsg.Key(key) {
	case kmsg.ApiVersions, kmsg.SASLHandshake, kmsg.SASLAuthenticate: // who may not enter is told these too
	default:
		t.answered.Store(true)
	}
}

// hangUpLasts is for how long brokers that never answered hang up before that is
// taken for their answer. One that ends, starts or is behind a balancer hangs up too.
const hangUpLasts = time.Second

// steady says whether brokers do nothing but hang up, and have for long, now that
// one did.
func (t *trouble) steady(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hungUp.IsZero() {
		t.hungUp = now
	}
	return now.Sub(t.hungUp) >= hangUpLasts
}

// confirmHangUp asks again, a few times, where an error says nothing but that a connection
// broke: a broker that hangs up at once is seen to do so by one of two errors, of
// which the other one tells why. That it hangs up on the first request is a sign of
// TLS or a login that is missing only where none ever answered, and it is steady.
func (t *trouble) confirmHangUp(ctx context.Context, ask func() error) (err error) {
	for unclear := 0; unclear < 4; {
		err = ask()
		switch {
		case err == nil, ctx.Err() != nil:
			return err
		case translateError(err).Outcome != broker.Unknown && !errors.Is(err, syscall.ECONNRESET):
			return err
		}
		if t.answered.Load() || !isHangUp(err) {
			unclear++
			continue
		}
		if t.steady(time.Now()) {
			return &unwelcome{err}
		}
		select {
		case <-time.After(hangUpLasts / 8):
		case <-ctx.Done():
			return err
		}
	}
	return err
}

// unwelcome says that brokers hang up on whatever is asked.
type unwelcome struct{ err error }

func (u *unwelcome) Error() string { return u.err.Error() }

func (u *unwelcome) Unwrap() error { return u.err }

// isHangUp says whether a broker ended a connection on its first request. The client
// library takes that for a wrong setting.
func isHangUp(err error) bool {
	_, ok := errors.AsType[*kgo.ErrFirstReadEOF](err)
	return ok
}

// maxTroubles bounds what is remembered of brokers.
const maxTroubles = 1000

// words says what is wrong with connections, empty when nothing is known to be.
func (t *trouble) words() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, err := range t.last {
		if f := connectionFailure(err); f != nil {
			return f.Err.Error()
		}
		if f := translateError(err); f.Outcome == broker.Misconfigured {
			return f.Err.Error()
		}
	}
	return ""
}

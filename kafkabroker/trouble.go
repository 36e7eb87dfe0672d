package kafkabroker

import (
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/broker"
)

// trouble is how the last attempt to connect to each broker ended. The client
// library tells it only to a hook: a record waits on in silence. It is safe for
// concurrent use.
type trouble struct {
	mu   sync.Mutex
	last map[string]error // by address, of those that failed
}

var _ kgo.HookBrokerConnect = (*trouble)(nil)

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
	if t.last == nil {
		t.last = map[string]error{}
	}
	if len(t.last) < maxTroubles {
		t.last[address] = err
	}
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

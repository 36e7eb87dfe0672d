package kafkabroker

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

const (
	// lookupTimeout is how long brokers may take to answer what is asked before
	// messages are sent.
	lookupTimeout = 5 * time.Second
	// maxRequest is the largest batch that a producer writes; it is below the client
	// library's and the brokers' limit for a request, 100 MiB.
	maxRequest = 90 << 20
	// maxIdle is how many producers are kept while nobody needs them.
	maxIdle = 8
)

// producer is a client with an idempotent producer, which one job has at a time.
type producer struct {
	client *kgo.Client
	topics map[string]bool // that it has sent to: it knows their partitions
	age    int             // see pool.renew
}

// clientOptions are those of every client.
func (o Options) clientOptions(brokers []string, seen *trouble) []kgo.Opt {
	return append(o.Login.options(seen),
		kgo.SeedBrokers(brokers...),
		kgo.DisableClientMetrics(),
		kgo.MetadataMinAge(250*time.Millisecond),
		kgo.RetryBackoffFn(backoff),
	)
}

// backoff is how long the client waits before it tries again.
func backoff(tries int) time.Duration {
	return min(50*time.Millisecond<<min(tries, 10), 500*time.Millisecond)
}

// controlOptions are those of the client that only asks.
func (o Options) controlOptions(brokers []string, seen *trouble) []kgo.Opt {
	return append(o.clientOptions(brokers, seen), kgo.RequestRetries(1))
}

// producerOptions are those of a client that sends. Batches begin to be sent when
// a job says so, and jobs see to their size. Retries have no limit, and a broker that
// hangs up ends none: a client that stops trying cannot say whether the record was
// stored. Whether login and TLS are right is asked before. request is the most that
// it writes at a time, in bytes.
func (o Options) producerOptions(brokers []string, seen *trouble, request int32) []kgo.Opt {
	return append(o.clientOptions(brokers, seen),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.StopProducerOnDataLossDetected(),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ManualFlushing(),
		kgo.ProducerLinger(0),
		kgo.ProducerBatchCompression(compressions[o.Compression], kgo.NoCompression()),
		kgo.BrokerMaxWriteBytes(request),
		kgo.ProducerBatchMaxBytes(request-requestFrame),
		kgo.MaxBufferedRecords(1<<30),
		kgo.UnknownTopicRetries(4),
		kgo.AlwaysRetryEOF(),
		kgo.ProduceRequestTimeout(10*time.Second),
	)
}

// laneOptions are those of a client that sends in transactions.
func (o Options) laneOptions(brokers []string, seen *trouble, request int32, id string) []kgo.Opt {
	return append(o.producerOptions(brokers, seen, request), kgo.TransactionalID(id), kgo.TransactionTimeout(o.Transactions.Timeout))
}

// readerOptions are those of a client that reads one partition from an offset on,
// with what committed transactions left and the marks of their ends.
func (o Options) readerOptions(brokers []string, seen *trouble, topic string, partition int32, from int64) []kgo.Opt {
	at := map[int32]kgo.Offset{partition: kgo.NewOffset().At(from)}
	return append(o.clientOptions(brokers, seen),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: at}),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.KeepControlRecords(),
		kgo.FetchMaxWait(100*time.Millisecond),
	)
}

// ping asks a broker for a sign of life.
func (t *trouble) ping(ctx context.Context, client *kgo.Client) error {
	return t.confirmHangUp(ctx, func() error { return client.Ping(ctx) })
}

// asking is a client that asks questions, insistently.
type asking struct {
	client *kgo.Client
	seen   *trouble
}

func (a asking) Request(ctx context.Context, req kmsg.Request) (resp kmsg.Response, err error) {
	err = a.seen.confirmHangUp(ctx, func() (err error) {
		resp, err = a.client.Request(ctx, req)
		return err
	})
	return resp, err
}

// pool holds the producers that nobody uses. It is safe for concurrent use.
type pool struct {
	make func() (*kgo.Client, error)
	seen *trouble

	mu     sync.Mutex
	idle   []*producer
	age    int
	closed bool
	dying  sync.WaitGroup // clients being closed
}

// take returns a producer for the caller's own use, to be given back with give or
// drop. The error is an answer for every message that waited for it.
func (p *pool) take(ctx context.Context) (*producer, *broker.Error) {
	p.mu.Lock()
	if last := len(p.idle) - 1; last >= 0 {
		one := p.idle[last]
		p.idle = p.idle[:last]
		p.mu.Unlock()
		return one, nil
	}
	age := p.age
	p.mu.Unlock()
	client, err := p.make()
	if err != nil {
		return nil, adapter.Failure(broker.Misconfigured, "no client can be made ("+short(err)+")", "check the options")
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	if err := p.seen.ping(ctx, client); err != nil {
		p.drop(&producer{client: client})
		return nil, brokerkit.NotSent(translateError(err))
	}
	return &producer{client: client, topics: map[string]bool{}, age: age}, nil
}

// give takes back a producer that holds nothing.
func (p *pool) give(one *producer) {
	p.mu.Lock()
	if !p.closed && one.age == p.age && len(p.idle) < maxIdle {
		p.idle = append(p.idle, one)
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	p.drop(one)
}

// drop gives up a producer with what it holds. It does not wait for it.
func (p *pool) drop(one *producer) {
	p.dying.Go(one.client.Close)
}

// renew has all producers replaced that are there now: what they know of topics is
// out of date.
func (p *pool) renew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.age++
	p.dropIdle()
}

// close drops the producers that nobody uses, and from now on those given back.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.dropIdle()
}

func (p *pool) dropIdle() {
	for _, one := range p.idle {
		p.drop(one)
	}
	p.idle = nil
}

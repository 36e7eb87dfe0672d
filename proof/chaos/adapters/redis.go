package adapters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/redisbroker"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/proof/chaos"
)

// Redis is a topic of three streams, with redisbroker.
type Redis struct{}

const (
	redisTopic  = "events"
	redisBranch = "branch"
	redisShards = 3
	// redisMaxBytes is the largest payload: there is nothing of a sensible size that Redis itself refuses.
	redisMaxBytes = 64 << 10
)

// Name implements chaos.Broker.
func (Redis) Name() string { return "redis" }

// Open implements chaos.Broker.
func (Redis) Open(ctx context.Context, dsn string) (broker.Destination, error) {
	return redisbroker.Dial(ctx, dsn, redisbroker.Options{Shards: redisShards, MaxBytes: redisMaxBytes})
}

// Poison implements chaos.Broker.
func (Redis) Poison(m *postbag.Message) bool {
	m.Payload = append(m.Payload, strings.Repeat(" ", 2*redisMaxBytes)...)
	return true
}

// redisPlace is a started server.
type redisPlace struct {
	server *testserver.Redis
	data   string // the server's folder
	disk   *testserver.Tmpfs
	wire   *chaos.Wire
	client *redis.Client
	last   map[string]string // by stream, the entry that was read last
}

// Start implements chaos.Broker.
func (Redis) Start(ctx context.Context, t chaos.Terms) (_ chaos.Place, err error) {
	p := &redisPlace{data: filepath.Join(t.Dir, "data")}
	p.Reread()
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	if p.disk, err = smallDisk(ctx, t); err != nil {
		return nil, err
	}
	if p.disk != nil {
		p.data = filepath.Join(p.disk.Dir(), "data")
	}
	if p.server, err = testserver.StartRedis(ctx, testserver.RedisOptions{DataDir: p.data}); err != nil {
		return nil, err
	}
	if p.wire, err = chaos.NewWire(p.server.Addr()); err != nil {
		return nil, err
	}
	p.client = redis.NewClient(&redis.Options{Addr: p.server.Addr(), MaxRetries: -1})
	return p, nil
}

// Version implements chaos.Place.
func (p *redisPlace) Version() string { return "Redis, appending and syncing always" }

// DSN implements chaos.Place.
func (p *redisPlace) DSN() string { return "redis://" + p.wire.Addr() }

// Topic implements chaos.Place.
func (*redisPlace) Topic() string { return redisTopic }

// Branch implements chaos.Branched.
func (*redisPlace) Branch() string { return redisBranch }

// More implements chaos.Place.
func (p *redisPlace) More(ctx context.Context) (out []chaos.Arrival, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for _, stream := range append(redisStreams(redisTopic), redisStreams(redisBranch)...) {
		entries, err := p.client.XRangeN(ctx, stream, cmp.Or(p.last[stream], "-"), "+", 2000).Result()
		if redis.HasErrorPrefix(err, "WRONGTYPE") {
			continue // it is set aside
		}
		if err != nil {
			return out, err
		}
		for i := range entries {
			a, err := redisArrival(&entries[i])
			if err != nil {
				return out, err
			}
			a.Place = stream
			out = append(out, a)
			p.last[stream] = "(" + entries[i].ID
		}
	}
	if len(out) == 0 {
		return nil, chaos.Pause(ctx, 50*time.Millisecond)
	}
	return out, nil
}

// Reread implements chaos.Rereadable.
func (p *redisPlace) Reread() { p.last = map[string]string{} }

func redisArrival(e *redis.XMessage) (a chaos.Arrival, err error) {
	m, err := redisbroker.Message(*e)
	if err != nil {
		return a, err
	}
	// An entry's id is the server's time in milliseconds, but never below that of the entry before it.
	text, _, _ := strings.Cut(e.ID, "-")
	millis, err := strconv.ParseInt(text, 10, 64)
	at := time.UnixMilli(millis)
	return chaos.Arrival{Key: m.Key, Headers: m.Headers, Payload: m.Payload, From: at, To: at.Add(time.Millisecond)}, err
}

// Close implements chaos.Place.
func (p *redisPlace) Close() error {
	client := p.client
	p.client = nil
	return errors.Join(closed(client), closed(p.wire), closed(p.server), closed(p.disk))
}

// redisStreams are the keys of a topic's streams.
func redisStreams(topic string) (keys []string) {
	for shard := range redisShards {
		keys = append(keys, fmt.Sprintf("{%s:%d}", topic, shard))
	}
	return keys
}

// setAside puts something else in the place of the second topic's streams, and putBack them again.
func (p *redisPlace) setAside(ctx context.Context) (err error) {
	for _, stream := range redisStreams(redisBranch) {
		err = errors.Join(err, p.order(ctx, "EVAL", `if redis.call('TYPE', KEYS[1]).ok == 'stream' then redis.call('RENAME', KEYS[1], KEYS[2]) end
redis.call('SET', KEYS[1], 'something else')`, "2", stream, stream+":aside"))
	}
	return err
}

func (p *redisPlace) putBack(ctx context.Context) (err error) {
	for _, stream := range redisStreams(redisBranch) {
		err = errors.Join(err, p.order(ctx, "EVAL", `if redis.call('TYPE', KEYS[1]).ok == 'string' then redis.call('DEL', KEYS[1]) end
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('RENAME', KEYS[2], KEYS[1]) end`, "2", stream, stream+":aside"))
	}
	return err
}

// order sends a command as soon as the server takes it.
func (p *redisPlace) order(ctx context.Context, args ...string) error {
	return patiently(ctx, func() error {
		_, err := p.server.Do(ctx, args...)
		return err
	})
}

// Faults implements chaos.Place.
func (p *redisPlace) Faults() []chaos.Fault {
	setting := func(name, on, off string, args ...string) chaos.Fault {
		return chaos.Fault{
			Name: name, Room: chaos.Brokers, Stops: true, Least: time.Second, Most: 4 * time.Second,
			Begin: func(ctx context.Context, _ *chaos.Strike) (func(context.Context) error, error) {
				set := func(value string) func(context.Context) error {
					return func(ctx context.Context) error {
						return p.order(ctx, append(slices.Clone(args), strings.Fields(value)...)...)
					}
				}
				return set(off), set(on)(ctx)
			},
		}
	}
	return slices.Concat(p.wire.Faults(chaos.BrokerWire), []chaos.Fault{
		p.wire.Doubtful("cut after XADD was sent", chaos.BrokerWire, chaos.EveryRelay, "xadd"),
		atOnce("restart of the broker", chaos.Brokers, p.server.Restart),
		gone("SIGKILL of the broker", chaos.Brokers, p.server),
		frozen("SIGSTOP of the broker", chaos.Brokers, p.server),
		wiped("data wiped", func(ctx context.Context) error { return p.order(ctx, "FLUSHALL") }),
		wiped("a stream deleted", func(ctx context.Context) error { return p.order(ctx, "DEL", redisStreams(redisTopic)[0]) }),
		setting("out of memory", "1mb", "0", "CONFIG", "SET", "maxmemory"),
		setting("right to write taken away", "-xadd", "+xadd", "ACL", "SETUSER", "default"),
		setting("replica of a primary that is away", "127.0.0.1 1", "NO ONE", "REPLICAOF"),                // READONLY
		ofTopic("something else in the place of one topic's streams", redisBranch, p.setAside, p.putBack), // WRONGTYPE
		ofTopic("right to one topic's streams taken away", redisBranch, p.keys("%R~*", "~{"+redisTopic+":*"), p.keys("allkeys")),
		during("snapshots that fail", p.spoil, p.fix), // MISCONF
		full(diskFull, chaos.Brokers, p.disk, func(ctx context.Context) error {
			return errors.Join(p.server.Kill(ctx), p.server.Start(ctx)) // it ends when it cannot append
		}),
	})
}

// keys says which keys the user of relays may use.
func (p *redisPlace) keys(patterns ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		return p.order(ctx, append([]string{"ACL", "SETUSER", "default", "resetkeys"}, patterns...)...)
	}
}

// spoil has the server fail to save a snapshot, because a folder lies where the file would: it takes no writes until one succeeds.
func (p *redisPlace) spoil(ctx context.Context) error {
	if err := errors.Join(os.RemoveAll(p.snapshot()), os.Mkdir(p.snapshot(), 0o700)); err != nil { // there may be one of before
		return err
	}
	return errors.Join(p.order(ctx, "CONFIG", "SET", "save", "3600 100000"), p.save(ctx, "err"))
}

func (p *redisPlace) fix(ctx context.Context) error {
	if err := os.RemoveAll(p.snapshot()); err != nil {
		return err
	}
	return errors.Join(p.save(ctx, "ok"), p.order(ctx, "CONFIG", "SET", "save", ""))
}

func (p *redisPlace) snapshot() string { return filepath.Join(p.data, "dump.rdb") }

// save has a snapshot made until it ends as expected.
func (p *redisPlace) save(ctx context.Context, status string) error {
	return patiently(ctx, func() error {
		_, failed := p.server.Do(ctx, "BGSAVE") // it may be under way
		info, err := p.server.Do(ctx, "INFO", "persistence")
		if err == nil && !strings.Contains(info, "rdb_last_bgsave_status:"+status) {
			err = errors.Join(errors.New("adapters: no snapshot ended "+status), failed)
		}
		return err
	})
}

package redisbroker

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// batch is how many entries go into one pipeline; a quarter of it was slower by a
// third, because each costs a round trip. While the server works on one,
// the next is made.
const batch = 1024

// call is one Publish at work. Its goroutine sends batch after batch as they are
// made, and has their fates to itself until it is done; who gave up before looks at
// the entries' bodies only.
type call struct {
	d       *Destination
	entries []addition
	fates   []broker.Result // of entries, in their order
	batches chan [2]int     // from and to, as they are made
}

func newCall(d *Destination, n int) *call {
	return &call{d: d, entries: make([]addition, n), fates: make([]broker.Result, n), batches: make(chan [2]int, n/batch+1)}
}

// make makes the entries of msgs; a message of which none can be made has its
// result at once.
func (c *call) make(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	defer close(c.batches)
	from, to := 0, 0
	for i := range msgs {
		e := &c.entries[to]
		f := e.fill(ctx, &c.d.options, &msgs[i])
		if f == nil {
			f = c.d.fits(ctx, e)
		}
		if f != nil {
			report(i, brokerkit.Result(f))
			continue
		}
		e.index = i
		if to++; to-from == batch {
			c.batches <- [2]int{from, to}
			from = to
		}
	}
	if to > from {
		c.batches <- [2]int{from, to}
	}
	c.entries = c.entries[:to]
}

// run sends the batches and learns their fates. When nobody could be reached for
// one, the rest is not tried.
func (c *call) run(ctx context.Context, entries []addition) {
	var away *broker.Error
	for b := range c.batches {
		if away != nil {
			for i := b[0]; i < b[1]; i++ {
				c.fates[i] = brokerkit.Result(away)
			}
			continue
		}
		for _, p := range c.parts(ctx, entries, b[0], b[1]) {
			p.send(ctx)
		}
		away = c.away(&entries[b[1]-1], c.fates[b[1]-1])
	}
}

// away says that the last entry of a batch was not even written, for want of a
// connection. A cluster's other nodes may still be there.
func (c *call) away(e *addition, fate broker.Result) *broker.Error {
	if _, cluster := c.d.client.(*redis.ClusterClient); cluster || fate.Outcome != broker.Unavailable || e.body.isWritten() {
		return nil
	}
	return &broker.Error{Outcome: fate.Outcome, Err: fate.Err}
}

// tell reports the fates.
func (c *call) tell(report func(i int, r broker.Result)) {
	for i := range c.entries {
		report(c.entries[i].index, c.fates[i])
	}
}

// giveUp says of the entries that were sent that they are unknown, and keeps the
// others from being sent.
func (c *call) giveUp(report func(i int, r broker.Result), unanswered *broker.Error) {
	for i := range c.entries {
		e := &c.entries[i]
		if e.body.abandon() {
			report(e.index, brokerkit.Result(adapter.NotInTime()))
		} else {
			report(e.index, brokerkit.Result(unanswered))
		}
	}
}

// part is what goes through one pipeline: everything, or, where replicas are waited
// for in a cluster, the entries of one node, since WAIT is about one connection.
type part struct {
	*call

	entries []addition // all of the call
	node    redis.UniversalClient
	own     []int // those of the part
}

func (c *call) parts(ctx context.Context, entries []addition, from, to int) []*part {
	cluster, ok := c.d.client.(*redis.ClusterClient)
	if !ok || c.d.options.Replicas == 0 {
		all := make([]int, to-from)
		for i := range all {
			all[i] = from + i
		}
		return []*part{{call: c, entries: entries, node: c.d.client, own: all}}
	}
	byNode := map[*redis.Client]*part{}
	var parts []*part
	for i := from; i < to; i++ {
		node, err := cluster.MasterForKey(ctx, entries[i].stream)
		if err != nil {
			c.fates[i] = brokerkit.Result(unwrittenError(err))
			continue
		}
		p := byNode[node]
		if p == nil {
			p = &part{call: c, entries: entries, node: node}
			byNode[node] = p
			parts = append(parts, p)
		}
		p.own = append(p.own, i)
	}
	return parts
}

// send runs the part's pipeline, and a second one for entries that the streams say
// they are past.
func (p *part) send(ctx context.Context) {
	pipe := p.node.Pipeline()
	for _, i := range p.own {
		_ = pipe.Process(ctx, &p.entries[i]) // it only queues
	}
	wait := p.addWait(ctx, pipe)
	_, err := pipe.Exec(ctx)
	var past []int
	for _, i := range p.own {
		e := &p.entries[i]
		if isSmallerID(e.Err()) {
			past = append(past, i)
			continue
		}
		p.fates[i] = p.ofNode(e, e.fate(ctx, err))
	}
	p.waited(wait, p.own)
	p.reload(ctx)
	if len(past) > 0 {
		p.compare(ctx, past)
	}
}

// ofNode narrows what one node of a cluster answers of itself to the streams that it
// has: those of others go on.
func (p *part) ofNode(e *addition, r broker.Result) broker.Result {
	if _, cluster := p.d.client.(*redis.ClusterClient); !cluster || r.Outcome != broker.Unavailable || !e.body.isWritten() {
		return r
	}
	r.Scope = broker.ScopeTopic
	r.Err = &broker.Error{Outcome: r.Outcome, Scope: r.Scope, Err: r.Err}
	return r
}

// fate is what the pipeline says of the entry; whole is the pipeline's own error,
// the only one where a connection was refused.
func (e *addition) fate(ctx context.Context, whole error) broker.Result {
	err := e.Err()
	switch {
	case err == nil && e.Val() != "":
		return broker.Result{Outcome: broker.Accepted}
	case err == nil:
		err = whole
	}
	switch {
	case err == nil:
		return brokerkit.Result(adapter.Failure(broker.Unknown, "the server gave no answer", "send the message again"))
	case e.body.isWritten():
		return brokerkit.Result(translateError(err))
	case over(ctx):
		return brokerkit.Result(adapter.NotInTime())
	default:
		return brokerkit.Result(unwrittenError(err))
	}
}

// over says whether ctx has ended, or its deadline has passed, which a connection
// may notice first.
func over(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && time.Until(deadline) <= 0
}

// addWait asks the node to wait for replicas, which it does for all that came
// before over the same connection. Nil: nobody asked.
func (p *part) addWait(ctx context.Context, pipe redis.Pipeliner) *redis.IntCmd {
	if p.d.options.Replicas == 0 {
		return nil
	}
	wait := redis.NewIntCmd(ctx, "wait", p.d.options.Replicas, p.d.options.ReplicaWait.Milliseconds())
	_ = pipe.Process(ctx, wait) // it only queues
	return wait
}

// waited takes back what was accepted by the primary if too few replicas have it.
func (p *part) waited(wait *redis.IntCmd, those []int) {
	if wait == nil || wait.Err() == nil && int(wait.Val()) >= p.d.options.Replicas {
		return
	}
	f := adapter.Failure(broker.Unknown, "the message is stored, and its replicas did not say so", "send it again")
	if wait.Err() == nil {
		f = adapter.Failure(broker.Unknown, fmt.Sprintf("the message is stored, and %d of %d replicas had it within %v",
			wait.Val(), p.d.options.Replicas, p.d.options.ReplicaWait), "send it again, and look at the replicas")
	} else if refused := translateError(wait.Err()); refused.Outcome == broker.Misconfigured {
		f = adapter.Failure(broker.Misconfigured, "the server refuses to wait for replicas", "grant WAIT, or unset Options.Replicas")
	}
	for _, i := range those {
		if p.fates[i].Outcome == broker.Accepted {
			p.fates[i] = brokerkit.Result(f)
		}
	}
}

// reload has a cluster's client look for the slots again, where it was this package
// that chose the node.
func (p *part) reload(ctx context.Context) {
	cluster, ok := p.d.client.(*redis.ClusterClient)
	if !ok || redis.UniversalClient(cluster) == p.node {
		return
	}
	for _, i := range p.own {
		if p.fates[i].Outcome == broker.Unavailable {
			cluster.ReloadState(ctx)
			return
		}
	}
}

// compare looks at what the streams hold under the ids that they refused.
func (p *part) compare(ctx context.Context, past []int) {
	pipe := p.node.Pipeline()
	found := make([]*redis.XMessageSliceCmd, len(past))
	for k, i := range past {
		found[k] = pipe.XRange(ctx, p.entries[i].stream, p.entries[i].id, p.entries[i].id)
	}
	wait := p.addWait(ctx, pipe)
	_, whole := pipe.Exec(ctx)
	var compared []int
	for k, i := range past {
		err := found[k].Err()
		if err == nil && found[k].Val() == nil {
			err = whole
		}
		if err != nil {
			p.fates[i] = brokerkit.Result(translateError(err))
			continue
		}
		if len(found[k].Val()) == 0 {
			p.fates[i] = p.late(ctx, i)
			continue
		}
		p.fates[i] = p.entries[i].compared(&p.d.options, found[k].Val())
		compared = append(compared, i)
	}
	p.waited(wait, compared)
}

package postbag

import (
	"context"
	"maps"
	"slices"
)

// complete returns copies of msgs with ID, Topic and Headers filled in, and says
// whether an Event could not make one of them. The copies share header maps with
// msgs and with each other unless a wrapper will get them, which may write.
func (p *Publisher[Tx]) complete(ctx context.Context, msgs []Message) (own []Message, faulty bool) {
	base := p.baseHeaders(ctx)
	own = make([]Message, len(msgs))
	copy(own, msgs)
	p.nameAll(own)
	for i := range own {
		m := &own[i]
		m.Headers = mergeHeaders(base, m.Headers)
		if p.options.Wrap != nil {
			m.Headers = cloneHeaders(m.Headers)
		}
		faulty = faulty || m.fault != nil
	}
	return own, faulty
}

// baseHeaders returns the headers that every message of a call gets, to be read
// only: the options' own, and what the context adds to them or replaces.
func (p *Publisher[Tx]) baseHeaders(ctx context.Context) map[string]string {
	if p.options.Context == nil {
		return p.options.Headers
	}
	base := cloneHeaders(p.options.Headers)
	p.options.Context(ctx, base)
	return base
}

// completeWrapped returns what a wrapper passed on, with the IDs and topics that
// the messages it added lack. The wrapper's slice is left as it is.
func (p *Publisher[Tx]) completeWrapped(msgs []Message) []Message {
	if !slices.ContainsFunc(msgs, func(m Message) bool { return m.ID.IsZero() || m.Topic == "" }) {
		return msgs
	}
	own := slices.Clone(msgs)
	p.nameAll(own)
	return own
}

// nameAll fills in, in place, the IDs and topics that msgs lack.
func (p *Publisher[Tx]) nameAll(msgs []Message) {
	for i := range msgs {
		if msgs[i].ID.IsZero() {
			msgs[i].ID = NewID()
		}
		if msgs[i].Topic == "" {
			msgs[i].Topic = p.options.Box
		}
	}
}

// withShardKeys returns msgs with the shard keys that PublisherOptions.ShardKey gives them.
// The slice that it was given is left as it is.
func (p *Publisher[Tx]) withShardKeys(msgs []Message) ([]Message, error) {
	if p.options.ShardKey == nil {
		return msgs, nil
	}
	var f faults
	own := slices.Clone(msgs)
	for i := range own {
		if own[i].Key == "" || own[i].ShardKey != "" {
			continue
		}
		shardKey, err := p.options.ShardKey(own[i].Key)
		if err != nil {
			f.add(&MessageError{Index: i, Field: "ShardKey", Reason: "cannot be computed: " + err.Error(), Err: err})
		}
		own[i].ShardKey = shardKey
	}
	return own, f.err()
}

// cloneHeaders returns a copy that can be written to, also of nil.
func cloneHeaders(headers map[string]string) map[string]string {
	if headers == nil {
		return make(map[string]string)
	}
	return maps.Clone(headers)
}

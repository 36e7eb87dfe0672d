package redisbroker

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// Two transactions that write messages of one key side by side may commit in another
// sequence than that of their seqs. The message with the lower seq then comes when
// its stream is past its id. It is stored behind the last entry, under the next id
// that no seq has: a relay that sends it again finds it there.

// lateBits are those of an id's second number below the seq: room for so many late
// messages behind each entry.
const lateBits = 16

const (
	// lateTries is how often a late message is tried while others add to its stream.
	lateTries = 4
	// latePage is how many entries are read at a time in search of a late message.
	latePage = 1000
)

// late stores the message of entry i, whose stream is past its id and has no entry
// of it, unless it is there under a later id.
func (p *part) late(ctx context.Context, i int) broker.Result {
	e := &p.entries[i]
	own := e.id
	for range lateTries {
		info, err := p.node.XInfoStream(ctx, e.stream).Result()
		if err != nil {
			return brokerkit.Result(translateError(err))
		}
		if !neverStored(info, own) {
			return e.compared(&p.d.options, nil)
		}
		there, err := p.find(ctx, e, own)
		switch {
		case err != nil:
			return brokerkit.Result(translateError(err))
		case there:
			return broker.Result{Outcome: broker.Accepted, Note: "duplicate"}
		}
		id, ok := behind(info.LastGeneratedID)
		if !ok {
			return brokerkit.Result(adapter.Failure(broker.Rejected, "too many messages of the key came late one after another", "use ids of the server's for such a key"))
		}
		// A writer that adds something meanwhile makes this id too small.
		e.id = id
		if r, again := p.addLate(ctx, i); !again {
			return r
		}
	}
	return brokerkit.Result(adapter.Failure(broker.Unknown, "others add to the stream at the same time", "send the message again, and give each box and key its own stream"))
}

// addLate adds entry i under its present id. It says whether the id was too small.
func (p *part) addLate(ctx context.Context, i int) (r broker.Result, again bool) {
	e := &p.entries[i]
	e.StringCmd = redis.NewStringCmd(ctx, e.args(&p.d.options)...)
	pipe := p.node.Pipeline()
	_ = pipe.Process(ctx, e) // it only queues
	wait := p.addWait(ctx, pipe)
	_, whole := pipe.Exec(ctx)
	if isSmallerID(e.Err()) {
		return r, true
	}
	p.fates[i] = p.ofNode(e, e.fate(ctx, whole))
	p.waited(wait, []int{i})
	return p.fates[i], false
}

// find says whether a stream holds the message of e behind an id.
func (p *part) find(ctx context.Context, e *addition, id string) (there bool, err error) {
	for {
		page, err := p.node.XRangeN(ctx, e.stream, "("+id, "+", latePage).Result()
		if err != nil || len(page) == 0 {
			return false, err
		}
		if slices.ContainsFunc(page, e.is) {
			return true, nil
		}
		id = page[len(page)-1].ID
	}
}

// neverStored says whether it is sure that no entry with this id, or behind it, was
// ever deleted or trimmed: what the stream does not hold it never held. Servers before
// Redis 7 do not tell.
func neverStored(info *redis.XInfoStream, id string) bool {
	if info.EntriesAdded == info.Length && info.Length > 0 {
		return true
	}
	return info.MaxDeletedEntryID != "" && below(info.MaxDeletedEntryID, id) && below(info.FirstEntry.ID, id)
}

// below says whether the id a is below b. An id that is none is not.
func below(a, b string) bool {
	a1, a2, ok1 := numbers(a)
	b1, b2, ok2 := numbers(b)
	return ok1 && ok2 && (a1 < b1 || a1 == b1 && a2 < b2)
}

// behind is the id of a late message behind the last one, if there is one left.
func behind(last string) (id string, ok bool) {
	first, second, ok := numbers(last)
	if !ok || (second+1)%(1<<lateBits) == 0 {
		return "", false
	}
	return strconv.FormatUint(first, 10) + "-" + strconv.FormatUint(second+1, 10), true
}

// numbers takes an id apart.
func numbers(id string) (first, second uint64, ok bool) {
	head, tail, found := strings.Cut(id, "-")
	first, err1 := strconv.ParseUint(head, 10, 64)
	second, err2 := strconv.ParseUint(tail, 10, 64)
	return first, second, found && err1 == nil && err2 == nil
}

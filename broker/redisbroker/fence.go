package redisbroker

import (
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// largestSeq is the highest that leaves room for lateBits.
const largestSeq = 1<<(63-lateBits) - 1

// fenceID is the id of m's entry: the epoch and the database's life, then the seq with
// room behind it. It grows along a key's messages, whatever becomes of the database, but
// for those that come late. Empty: m cannot have one, because nothing but its seq tells it
// from others.
func fenceID(epoch uint32, m *broker.Delivery) (id string, f *broker.Error) {
	switch {
	case m.Key == "" || m.Seq < 1:
		return "", nil
	case m.Seq > largestSeq:
		return "", adapter.Failure(broker.Rejected, "the message's seq is too large for an entry's id", "use ids of the server's: unset Options.Fence")
	}
	return strconv.FormatUint(uint64(epoch)<<32|uint64(uint32(m.Life)), 10) + "-" + strconv.FormatInt(m.Seq<<lateBits, 10), nil
}

// compared gives an entry whose id was refused, since the stream has it or a higher
// one, its fate: that of the entry that is there under this id.
func (e *addition) compared(o *Options, found []redis.XMessage) broker.Result {
	switch {
	case len(found) == 0:
		return brokerkit.Result(adapter.Failure(broker.Rejected, "the stream is already past the message's id, and has no entry of that id: it was deleted or trimmed, "+
			"or a later message of the key went before and that it was not stored cannot be told",
			"discard the message if it was stored, or raise Options.Epoch if the database was replaced by an older copy"))
	case e.is(found[0]):
		return broker.Result{Outcome: broker.Accepted, Note: "duplicate"}
	case e.hasID(found[0]):
		return brokerkit.Result(adapter.Failure(broker.Rejected, o.streamOf(e)+" has this message under its id, and with other fields: "+
			"another subscription or writer fences the same stream, or the encoder has changed since the message was stored",
			"give each subscription an Options.Prefix of its own; discard the message if what is stored will do"))
	default:
		return brokerkit.Result(adapter.Failure(broker.Rejected, "another message is stored under the message's id in "+o.streamOf(e),
			"give each box and key its own stream; raise Options.Epoch if the database was replaced by an older copy"))
	}
}

// streamOf names the stream of e for an error, which must not show the key in it.
func (o Options) streamOf(e *addition) string {
	if at := strings.LastIndexByte(e.stream, ':'); o.Stream == nil && at > 0 {
		return "stream " + strconv.Quote(e.stream[:at]+":KEY}")
	}
	return "the stream that Options.Stream names"
}

// hasID says whether x is an entry of e's message in the plain form, whatever its
// other fields.
func (e *addition) hasID(x redis.XMessage) bool {
	return len(e.fields) > 0 && e.fields[0] == broker.HeaderID && x.Values[broker.HeaderID] == any(e.fields[1])
}

// is says whether x is the entry that e would be: the same fields, and no others. The
// message's id alone does not tell, because another subscription may have stored the
// message from another topic or with another encoder.
func (e *addition) is(x redis.XMessage) bool {
	if len(x.Values) != len(e.fields)/2+1 {
		return false
	}
	for i := 0; i < len(e.fields); i += 2 {
		if x.Values[e.fields[i]] != any(e.fields[i+1]) {
			return false
		}
	}
	payload, there := x.Values[fieldPayload].(string)
	return there && payload == string(e.body.bytes)
}

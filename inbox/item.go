package inbox

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
	"github.com/postbag/postbag/store"
)

// item is a message on its way from the source to the box.
type item struct {
	from *source.Message
	mark Mark
	out  postbag.Message
	// fault is why the box cannot hold the message as it is. out then holds what it can.
	fault error
	// failed is why its handler did not apply it, if it is parked for that. out is then whole,
	// unless there is a fault too.
	failed error
	cut    bool // of the payload only the head is left
	taken  bool // its mark was found: it is only acknowledged
	// unsure says that a transaction in which the message was new had a commit without an
	// answer. If a later one finds the mark, it is most likely that one's.
	unsure bool
}

// headPayload is how many bytes of a payload are kept that is too large, and of a text.
const headPayload = 4 << 10

// maxReason is how many bytes are kept of why a message was parked.
const maxReason = 1000

// Headers for what a box has no place for.
const (
	contentTypeHeader = "content-type"
	nullHeader        = "null-payload" // "true": the broker distinguishes no payload from an empty one
)

// intake reads of messages what a Receiver and a Consumer need.
type intake struct {
	ids     sourcekit.IDs
	keys    sourcekit.Keys
	typeOf  sourcekit.KeyRule
	binding string // of the source
	sumOff  bool
}

func newIntake(s source.Source, ids sourcekit.IDs, keys sourcekit.Keys, sumOff bool) intake {
	binding := s.Features().Binding
	if ids == nil {
		ids = sourcekit.DefaultIDsFor(binding)
	}
	if keys == nil {
		keys = sourcekit.DefaultKeys(binding)
	}
	return intake{ids: ids, keys: keys, typeOf: sourcekit.TypeRule(binding), binding: binding, sumOff: sumOff}
}

// item reads a message. Its fault says that it is not whole, or has no id.
func (in *intake) item(m *source.Message) item {
	it := item{from: m}
	id, _, err := in.ids.Of(m)
	if err != nil {
		id = string(place(m))
	}
	it.mark.ID = MessageID(id)
	if !in.sumOff && m.Err == nil {
		it.mark.Sum = Sum(m.Payload)
	}
	it.out = postbag.Message{
		ID: idOf(it.mark.ID), Topic: m.Topic, Key: in.keys.Of(m), Type: in.typeOf(m),
		Headers: headersOf(m, in.binding), Payload: m.Payload,
	}
	it.fault = cmp.Or(m.Err, err)
	return it
}

// faulty says that the item has a fault.
func (it *item) faulty() bool { return it.fault != nil }

// why is the reason for which the item is parked.
func (it *item) why() error { return cmp.Or(it.fault, it.failed) }

// misfit blames an item that a box does not take, as its rules or a store said.
func (it *item) misfit(fault error) { it.spoil(fault, isTooLong(fault)) }

// keep readies an item that is whole and was not applied, to be parked as it is. What no box
// takes, as check says, gets a fault.
func (it *item) keep(why error, check func(postbag.Message) error) {
	it.failed = why
	if fault := check(it.out); fault != nil {
		it.misfit(fault)
		return
	}
	reason := clean(why.Error(), maxReason)
	fault := withReason(it.out, standIn, reason, check)
	for fault != nil && reason != "" {
		reason = clean(reason, len(reason)/2)
		fault = withReason(it.out, standIn, reason, check)
	}
	if fault != nil {
		it.misfit(fault)
		return
	}
	it.out.Headers = headersWith(it.out.Headers, FailedHeader, reason)
}

// standIn is as long as FailedHeader, which check refuses since publishers must not set it.
const standIn = "Xostbag-Failed"

// withReason says whether a box takes a message with one header more. Its own may use up what a box has room for. If one of them has
// the name, another name of that length is tried.
func withReason(m postbag.Message, name, reason string, check func(postbag.Message) error) error {
	for n := 0; ; n++ {
		if _, taken := m.Headers[name]; !taken {
			break
		}
		name = fmt.Sprintf("X%0*d", len(standIn)-1, n)
	}
	m.Headers = headersWith(m.Headers, name, reason)
	return check(m)
}

// headersWith returns headers with one more, and leaves them as they are.
func headersWith(headers map[string]string, name, value string) map[string]string {
	all := map[string]string{name: value}
	maps.Copy(all, headers)
	return all
}

// blame makes of the item what any box can hold, with a fault. A second fault does not
// replace the first.
func (it *item) blame(fault error) { it.spoil(fault, false) }

// spoil is blame. Only the head is kept of a payload that is too large.
func (it *item) spoil(fault error, tooLarge bool) {
	if it.fault == nil {
		it.fault = fault
		if it.failed != nil {
			it.fault = fmt.Errorf("%w; it cannot be parked as it is: %w", it.failed, fault)
		}
	}
	reason, payload := it.fault, it.out.Payload
	if !it.cut && (len(payload) > postbag.MaxPayload || tooLarge) {
		it.cut = true
		reason = fmt.Errorf("%s (the payload has %d bytes, and the SHA-256 %x; its first bytes are here)", clean(reason.Error(), maxReason/2), len(payload), sha256.Sum256(payload))
		payload = payload[:min(len(payload), headPayload)]
	}
	it.out = postbag.Message{
		ID: it.out.ID, Topic: clean(it.out.Topic, postbag.MaxName), Key: clean(it.out.Key, postbag.MaxKey),
		Type: clean(it.out.Type, postbag.MaxName), Headers: cleanHeaders(it.out.Headers), Payload: payload,
	}
	delete(it.out.Headers, FailedHeader) // the fault says it
	it.out.Headers[store.FaultHeader] = clean(reason.Error(), maxReason)
}

// part gives the item an id and a mark of its own, because its id is that of another
// payload. They are the same each time that it comes.
func (it *item) part() {
	sum := sha256.Sum256(append([]byte(it.mark.ID), it.mark.Sum[:]...))
	it.mark = Mark{ID: MessageID("other:" + string(sum[:]))}
	it.out.ID = idOf(it.mark.ID)
	it.blame(errOther)
}

var errOther = errors.New("another payload was taken in with its id; let its sender give each message an id of its own, or set SumOff")

// isTooLong says whether a fault is about a size.
func isTooLong(fault error) bool {
	e, is := errors.AsType[*postbag.MessageError](fault)
	return is && e.Field == "Payload"
}

// clean returns of a text what every database can hold, and no more than limit bytes.
func clean(text string, limit int) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\uFFFD"), "\uFFFD")
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "")
	}
	return text
}

// cleanHeaders returns those of the headers that a box can hold, up to a quarter of what it
// takes, since a byte can take several.
func cleanHeaders(headers map[string]string) map[string]string {
	out, left := map[string]string{}, postbag.MaxHeader/8
	for name, value := range headers {
		name, value = clean(name, 200), clean(value, headPayload)
		if left -= len(name) + len(value); left < 0 {
			break
		}
		if name != "" {
			out[name] = value
		}
	}
	return out
}

// headersOf returns what the box keeps of a message's headers. A header that comes several
// times has its values in one, with a comma between them. Properties of a transport are left
// out: who may write to the broker has no say in where a relay sends, and for how long.
func headersOf(m *source.Message, binding string) map[string]string {
	_, own := m.Headers.Get(broker.HeaderID) // a relay sent it
	escaped := own && (binding == broker.BindingNATS || binding == broker.BindingMQTT)
	out := make(map[string]string, len(m.Headers)+1)
	for _, h := range m.Headers {
		if len(h.Name) >= len(relays) && strings.EqualFold(h.Name[:len(relays)], relays) {
			continue // of the relay that sent it; the next one writes its own
		}
		if broker.IsProperty(h.Name) {
			continue
		}
		value := h.Value
		if escaped {
			value = broker.Unescape(value)
		}
		if before, twice := out[h.Name]; twice {
			value = before + ", " + value
		}
		out[h.Name] = value
	}
	if m.ContentType != "" {
		if _, there := m.Headers.Get(contentTypeHeader); !there {
			out[contentTypeHeader] = m.ContentType
		}
	}
	if m.Null {
		out[nullHeader] = "true"
	}
	return out
}

// relays begins the names of headers that relays write.
const relays = "Postbag-"

// place is the id of a message in which no rule finds one: its place, or else a hash of all
// that it holds. It is marked with a fault.
func place(m *source.Message) MessageID {
	if !m.Place.IsZero() {
		return MessageID(m.Place.ID())
	}
	sum := sha256.New()
	for _, part := range []string{m.Topic, m.Key, m.MessageID} {
		_, _ = fmt.Fprintf(sum, "%d:%s", len(part), part) // a hash takes all
	}
	for _, h := range m.Headers {
		_, _ = fmt.Fprintf(sum, "%d:%s%d:%s", len(h.Name), h.Name, len(h.Value), h.Value)
	}
	_, _ = sum.Write(m.Payload)
	return MessageID("no id:" + string(sum.Sum(nil)))
}

// idOf returns the id that the box's message has: that of the mark if it is a UUID, else a
// UUID of version 8 (RFC 9562) made of its hash. So it is the same each time.
func idOf(mark MessageID) (id postbag.ID) {
	if len(mark) == len(id) {
		copy(id[:], mark)
		return id
	}
	sum := sha256.Sum256([]byte(mark))
	copy(id[:], sum[:])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id
}

// nowhere is a store that keeps nothing. A publisher over it checks messages.
type nowhere struct{}

func (nowhere) Append(context.Context, int, string, []postbag.Message) error  { return nil }
func (nowhere) Lock(context.Context, int, string, []string) error             { return nil }
func (nowhere) Cancel(context.Context, int, string, postbag.ID) (bool, error) { return false, nil }
func (nowhere) InTx(ctx context.Context, fn func(context.Context, int) error) error {
	return fn(ctx, 0)
}
func (nowhere) Wake(string) {}

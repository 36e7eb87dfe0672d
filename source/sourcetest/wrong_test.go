package sourcetest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
)

// wrong is a way to spoil a right source, and the cases that must see it.
type wrong struct {
	caught  []string
	options memsource.Options // zero: a log with two partitions and single acks
	// spoil wraps a source. Each call makes one source.
	spoil func(s *spoilt)
}

func (w wrong) make(src *memsource.Source) source.Source {
	s := &spoilt{Source: src, fetch: src.Fetch, ack: src.Ack, release: src.Release, features: src.Features, close: src.Close}
	if w.spoil != nil {
		w.spoil(s)
	}
	return s
}

// spoilt is a source whose methods can be replaced.
type spoilt struct {
	*memsource.Source

	fetch    func(ctx context.Context, limits source.Limits) (source.Batch, error)
	ack      func(ctx context.Context, receipts []source.Receipt) (int, error)
	release  func(ctx context.Context, receipts []source.Receipt, after time.Duration) error
	features func() source.Features
	close    func(ctx context.Context) error
}

func (s *spoilt) Fetch(ctx context.Context, limits source.Limits) (source.Batch, error) {
	return s.fetch(ctx, limits)
}

func (s *spoilt) Ack(ctx context.Context, receipts []source.Receipt) (int, error) {
	return s.ack(ctx, receipts)
}

func (s *spoilt) Release(ctx context.Context, receipts []source.Receipt, after time.Duration) error {
	return s.release(ctx, receipts, after)
}

func (s *spoilt) Features() source.Features { return s.features() }

func (s *spoilt) Close(ctx context.Context) error { return s.close(ctx) }

// fetched changes what each Fetch returns.
func fetched(change func(b *source.Batch)) func(*spoilt) {
	return func(s *spoilt) {
		s.fetch = func(ctx context.Context, limits source.Limits) (source.Batch, error) {
			b, err := s.Source.Fetch(ctx, limits)
			if err == nil {
				change(&b)
			}
			return b, err
		}
	}
}

// each changes every message that comes.
func each(change func(m *source.Message)) func(*spoilt) {
	return fetched(func(b *source.Batch) {
		for i := range b.Messages {
			change(&b.Messages[i])
		}
	})
}

// limited changes the limits on their way.
func limited(change func(l *source.Limits)) func(*spoilt) {
	return func(s *spoilt) {
		s.fetch = func(ctx context.Context, limits source.Limits) (source.Batch, error) {
			change(&limits)
			return s.Source.Fetch(ctx, limits)
		}
	}
}

var (
	queue = memsource.Options{Partitions: 2}
	log   = memsource.Options{Order: source.OrderPartition, Partitions: 2, Cumulative: true}
)

const (
	cleanStop = "nothing that was acked comes again after a clean stop"
	unacked   = "everything that was not acked comes again after a clean stop"
	withGaps  = "acks with gaps are for those messages and no others"
	payloads  = "payloads of any size and content arrive bit for bit"
	texts     = "headers and keys of any text arrive as they are"
	oneKey    = "messages of a partition come in order"
	afterLoss = "acks after a loss are counted, and what they were for comes again"
	oldAcks   = "an ack of an old assignment changes nothing in the new one"
	lossNamed = "lost partitions are named, each once"
)

// acks are wrong in what they make of acks.
func acks() map[string]wrong {
	return map[string]wrong{
		"acks what it hands out": {caught: []string{unacked, "what was at work in a process that died comes again", withGaps}, spoil: func(s *spoilt) {
			s.fetch = func(ctx context.Context, limits source.Limits) (source.Batch, error) {
				b, err := s.Source.Fetch(ctx, limits)
				for _, m := range b.Messages {
					_, _ = s.Source.Ack(context.Background(), []source.Receipt{m.Receipt})
				}
				return b, err
			}
		}},
		"forgets acks": {caught: []string{cleanStop, "acks in any sequence are all heeded"}, spoil: func(s *spoilt) {
			s.ack = func(context.Context, []source.Receipt) (int, error) { return 0, nil }
		}},
		"acks all up to the highest": {caught: []string{withGaps}, options: log, spoil: func(s *spoilt) {
			var mu sync.Mutex
			out := map[source.Partition][]source.Message{}
			s.fetch = func(ctx context.Context, limits source.Limits) (source.Batch, error) {
				b, err := s.Source.Fetch(ctx, limits)
				mu.Lock()
				defer mu.Unlock()
				for _, m := range b.Messages {
					out[m.Partition] = append(out[m.Partition], m)
				}
				return b, err
			}
			s.ack = func(ctx context.Context, receipts []source.Receipt) (int, error) {
				mu.Lock()
				defer mu.Unlock()
				for _, msgs := range out {
					for i := range slices.Backward(msgs) {
						if slices.Contains(receipts, msgs[i].Receipt) {
							return s.Source.Ack(ctx, receiptsOf(msgs[:i+1]))
						}
					}
				}
				return s.Source.Ack(ctx, receipts)
			}
		}},
		"acks only the first of a call": {caught: []string{cleanStop, "acks in any sequence are all heeded"}, spoil: func(s *spoilt) {
			s.ack = func(ctx context.Context, receipts []source.Receipt) (int, error) {
				return s.Source.Ack(ctx, receipts[:min(1, len(receipts))])
			}
		}},
		"sends acks only when it is closed": {caught: []string{"acks reach the broker without a Close"}, spoil: late},
		"sends acks only until it is closed": {caught: []string{cleanStop}, spoil: func(s *spoilt) {
			late(s)
			s.close = s.Source.Close
		}},
		"fails acks of lost messages": {caught: []string{afterLoss}, spoil: func(s *spoilt) {
			s.ack = func(ctx context.Context, receipts []source.Receipt) (int, error) {
				lost, err := s.Source.Ack(ctx, receipts)
				if lost > 0 {
					err = errors.New("wrong: lost")
				}
				return lost, err
			}
		}},
		"counts no lost acks": {caught: []string{afterLoss, oldAcks, "Release with an order begins the partition again, in order"}, spoil: func(s *spoilt) {
			s.ack = func(ctx context.Context, receipts []source.Receipt) (int, error) {
				_, err := s.Source.Ack(ctx, receipts)
				return 0, err
			}
		}},
		"takes an ack that is repeated for lost": {caught: []string{"an ack that is repeated is harmless and not lost"}, spoil: func(s *spoilt) {
			var mu sync.Mutex
			seen := map[source.Receipt]bool{}
			s.ack = func(ctx context.Context, receipts []source.Receipt) (int, error) {
				mu.Lock()
				defer mu.Unlock()
				lost, err := s.Source.Ack(ctx, receipts)
				for _, r := range receipts {
					if seen[r] {
						lost++
					}
					seen[r] = true
				}
				return lost, err
			}
		}},
		"heeds acks of what was released": {caught: []string{"Release without an order concerns nothing else"}, options: queue, spoil: ageless},
		"heeds acks of an old assignment": {caught: []string{oldAcks, afterLoss}, spoil: ageless},
	}
}

func receiptsOf(msgs []source.Message) []source.Receipt {
	var all []source.Receipt
	for _, m := range msgs {
		all = append(all, m.Receipt)
	}
	return all
}

// late sends acks when the source is closed.
func late(s *spoilt) {
	var mu sync.Mutex
	var kept []source.Receipt
	s.ack = func(_ context.Context, receipts []source.Receipt) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		kept = append(kept, receipts...)
		return 0, nil
	}
	s.close = func(ctx context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		_, _ = s.Source.Ack(ctx, kept)
		kept = nil
		return s.Source.Close(ctx)
	}
}

// ageless knows a message by its place, and so not in which assignment it came.
func ageless(s *spoilt) {
	var mu sync.Mutex
	last, places := map[source.Place]source.Receipt{}, map[source.Receipt]source.Place{}
	s.fetch = func(ctx context.Context, limits source.Limits) (source.Batch, error) {
		b, err := s.Source.Fetch(ctx, limits)
		mu.Lock()
		defer mu.Unlock()
		for _, m := range b.Messages {
			last[m.Place], places[m.Receipt] = m.Receipt, m.Place
		}
		return b, err
	}
	s.ack = func(ctx context.Context, receipts []source.Receipt) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		now := slices.Clone(receipts)
		for i := range now {
			now[i] = last[places[now[i]]]
		}
		return s.Source.Ack(ctx, now)
	}
}

// contents are wrong in what they carry.
func contents() map[string]wrong {
	const named = "a message that comes again is the same, with the same place"
	return map[string]wrong{
		"trims payloads":      {caught: []string{payloads}, spoil: each(func(m *source.Message) { m.Payload = bytes.TrimSpace(m.Payload) })},
		"makes payloads text": {caught: []string{payloads}, spoil: each(func(m *source.Message) { m.Payload = []byte(strings.ToValidUTF8(string(m.Payload), "?")) })},
		"cuts keys":           {caught: []string{texts}, spoil: each(func(m *source.Message) { m.Key = strings.TrimSuffix(m.Key, "'") })},
		"trims headers": {caught: []string{texts}, spoil: each(func(m *source.Message) {
			for i := range m.Headers {
				m.Headers[i].Value = strings.TrimRight(m.Headers[i].Value, "🙂")
			}
		})},
		"keeps the last header of a name": {caught: []string{"a name that several headers have keeps all values in their sequence"}, spoil: each(func(m *source.Message) {
			byName := map[string]string{}
			for _, h := range m.Headers {
				byName[h.Name] = h.Value
			}
			m.Headers = nil
			for _, name := range slices.Sorted(maps.Keys(byName)) {
				m.Headers = append(m.Headers, source.Header{Name: name, Value: byName[name]})
			}
		})},
		"takes no payload for an empty one": {caught: []string{"no payload and an empty one arrive as such"}, spoil: each(func(m *source.Message) { m.Null = false })},
		"uses a buffer again": {caught: []string{"what a Fetch returned belongs to its caller"}, spoil: func(s *spoilt) {
			buffer := make([]byte, 0, 64<<10)
			each(func(m *source.Message) {
				if len(m.Payload) > 0 && len(m.Payload) < 100 {
					buffer = append(buffer[:0], m.Payload...)
					m.Payload = buffer
				}
			})(s)
		}},
		"makes a place of the delivery":      {caught: []string{named, unacked}, spoil: each(func(m *source.Message) { m.Place.Offset = m.Receipt.Number })},
		"gives two messages one place":       {caught: []string{payloads, unacked}, spoil: each(func(m *source.Message) { m.Place.Partition = "" })},
		"says when it took a message":        {caught: []string{named}, spoil: each(func(m *source.Message) { m.Time = time.Now() })},
		"counts every delivery as the first": {caught: []string{"deliveries are counted"}, spoil: each(func(m *source.Message) { m.Deliveries = 1 })},
		"gives messages one receipt": {caught: []string{payloads, cleanStop}, spoil: fetched(func(b *source.Batch) {
			for i := range b.Messages {
				b.Messages[i].Receipt = b.Messages[0].Receipt
			}
		})},
		"leaves out what cannot be decoded": {
			caught: []string{"a message that cannot be decoded comes with its error and hinders no other"},
			spoil: fetched(func(b *source.Batch) {
				b.Messages = slices.DeleteFunc(b.Messages, func(m source.Message) bool { return errors.Is(m.Err, source.ErrUndecodable) })
			}),
		},
	}
}

// fetches are wrong in how they fetch.
func fetches() map[string]wrong {
	return map[string]wrong{
		"turns a batch round":            {caught: []string{oneKey, payloads}, spoil: fetched(func(b *source.Batch) { slices.Reverse(b.Messages) })},
		"ignores the number of messages": {caught: []string{"a batch keeps within the number of messages"}, spoil: limited(func(l *source.Limits) { l.Messages = 0 })},
		"ignores the number of bytes":    {caught: []string{"a batch keeps within the number of bytes", "a message beyond the bytes of a batch comes alone"}, spoil: limited(func(l *source.Limits) { l.Bytes = 0 })},
		"ignores the size of a payload":  {caught: []string{"a payload that is too large stays away, and its message can be acked"}, spoil: limited(func(l *source.Limits) { l.Payload = 0 })},
		"leaves out what is too large": {caught: []string{"a payload that is too large stays away, and its message can be acked"}, spoil: func(s *spoilt) {
			s.fetch = func(ctx context.Context, limits source.Limits) (source.Batch, error) {
				for {
					b, err := s.Source.Fetch(ctx, limits)
					b.Messages = slices.DeleteFunc(b.Messages, func(m source.Message) bool { return m.Err != nil })
					if err != nil || len(b.Messages)+len(b.Lost) > 0 {
						return b, err
					}
				}
			}
		}},
		"does not heed its context": {caught: []string{"Fetch ends with its context"}, spoil: func(s *spoilt) {
			s.fetch = func(ctx context.Context, limits source.Limits) (source.Batch, error) {
				later, cancel := context.WithTimeout(context.WithoutCancel(ctx), 4*time.Second)
				defer cancel()
				return s.Source.Fetch(later, limits)
			}
		}},
		"takes messages for a context that is over": {
			caught: []string{"a context that is over takes nothing", "contexts that end in the middle lose nothing"},
			spoil: func(s *spoilt) {
				s.fetch = func(ctx context.Context, limits source.Limits) (source.Batch, error) {
					for {
						later, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Millisecond)
						b, err := s.Source.Fetch(later, limits)
						cancel()
						switch {
						case ctx.Err() != nil: // and what b holds is at work for nobody
							return source.Batch{}, context.Cause(ctx)
						case !errors.Is(err, context.DeadlineExceeded):
							return b, err
						}
					}
				}
			},
		},
		"polls, and returns nothing": {caught: []string{"Fetch ends with its context", cleanStop}, spoil: func(s *spoilt) {
			s.fetch = func(ctx context.Context, limits source.Limits) (source.Batch, error) {
				short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
				defer cancel()
				b, err := s.Source.Fetch(short, limits)
				if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
					err = nil
				}
				return b, err
			}
		}},
		"lets two fetch at a time": {caught: []string{"a second Fetch at the same time is refused"}, spoil: func(s *spoilt) {
			s.fetch = func(ctx context.Context, limits source.Limits) (source.Batch, error) {
				for {
					b, err := s.Source.Fetch(ctx, limits)
					if !errors.Is(err, source.ErrBusy) || ctx.Err() != nil {
						return b, err
					}
					pause := time.NewTimer(time.Millisecond)
					select {
					case <-pause.C:
					case <-ctx.Done():
						return source.Batch{}, context.Cause(ctx)
					}
				}
			}
		}},
		"says the key in its error": {caught: []string{"a message that cannot be decoded comes with its error and hinders no other"}, spoil: each(func(m *source.Message) {
			if m.Err != nil {
				m.Err = fmt.Errorf("wrong: canarykey of broker://user:hunter2@host: %w", m.Err)
			}
		})},
		"keeps a head of what is too large": {caught: []string{"a payload that is too large stays away, and its message can be acked"}, spoil: each(func(m *source.Message) {
			if errors.Is(m.Err, source.ErrTooLarge) {
				m.Payload = []byte("head")
			}
		})},
		"does not say how large a payload is": {caught: []string{"a payload that is too large stays away, and its message can be acked"}, spoil: each(func(m *source.Message) {
			if errors.Is(m.Err, source.ErrTooLarge) {
				m.Err = source.ErrTooLarge
			}
		})},
		"fails for good in an outage": {caught: []string{"in an outage Fetch says that the broker is unavailable, and goes on after it"}, spoil: func(s *spoilt) {
			s.fetch = func(ctx context.Context, limits source.Limits) (source.Batch, error) {
				b, err := s.Source.Fetch(ctx, limits)
				if errors.Is(err, source.ErrUnavailable) {
					err = source.ErrMisconfigured
				}
				return b, err
			}
		}},
	}
}

// losses are wrong in what they do about losses and releases.
func losses() map[string]wrong {
	return map[string]wrong{
		"hides losses": {caught: []string{lossNamed}, spoil: func(s *spoilt) {
			s.fetch = func(ctx context.Context, limits source.Limits) (source.Batch, error) {
				for {
					b, err := s.Source.Fetch(ctx, limits)
					b.Lost = nil
					if err != nil || len(b.Messages) > 0 {
						return b, err
					}
				}
			}
		}},
		"names a loss in each batch": {caught: []string{lossNamed}, spoil: func(s *spoilt) {
			var lost []source.Partition
			fetched(func(b *source.Batch) {
				lost = append(lost, b.Lost...)
				b.Lost = slices.Clone(lost)
			})(s)
		}},
		"names what it had nothing of": {caught: []string{lossNamed}, spoil: fetched(func(b *source.Batch) {
			if len(b.Lost) > 0 {
				b.Lost = append(b.Lost, "memory/17")
			}
		})},
		"releases by an ack": {caught: []string{"what is released comes again", "deliveries are counted"}, spoil: func(s *spoilt) {
			s.release = func(ctx context.Context, receipts []source.Receipt, _ time.Duration) error {
				_, err := s.Source.Ack(ctx, receipts)
				return err
			}
		}},
		"releases everything": {caught: []string{"Release without an order concerns nothing else"}, options: queue, spoil: func(s *spoilt) {
			s.release = func(context.Context, []source.Receipt, time.Duration) error {
				s.Source.Cut()
				return nil
			}
		}},
		"releases one message in the middle of an order": {
			caught: []string{"Release with an order begins the partition again, in order"},
			spoil: func(s *spoilt) {
				var again []source.Message
				out := map[source.Receipt]source.Message{}
				s.fetch = func(ctx context.Context, limits source.Limits) (source.Batch, error) {
					if len(again) > 0 {
						b := source.Batch{Messages: again}
						again = nil
						return b, nil
					}
					b, err := s.Source.Fetch(ctx, limits)
					for _, m := range b.Messages {
						out[m.Receipt] = m
					}
					return b, err
				}
				s.release = func(_ context.Context, receipts []source.Receipt, _ time.Duration) error {
					for _, r := range receipts {
						again = append(again, out[r])
					}
					return nil
				}
			},
		},
		"releases for later at once": {caught: []string{"what is released for later does not come earlier"}, spoil: func(s *spoilt) {
			s.release = func(ctx context.Context, receipts []source.Receipt, _ time.Duration) error {
				return s.Source.Release(ctx, receipts, 0)
			}
		}},
		"releases what was acked": {caught: []string{"an ack that is repeated is harmless and not lost"}, options: queue, spoil: func(s *spoilt) {
			s.release = func(context.Context, []source.Receipt, time.Duration) error {
				return errors.New("wrong: unknown receipt")
			}
		}},
	}
}

// lives are wrong in what they declare, and in how they end.
func lives() map[string]wrong {
	return map[string]wrong{
		"gives nothing back when it is closed": {
			caught: []string{unacked, "what a member gives back when it closes goes to another at once"}, options: queue,
			spoil: func(s *spoilt) { s.close = func(context.Context) error { return nil } },
		},
		"fetches after Close": {caught: []string{"calls after Close say that the source is closed", "Close ends a Fetch that waits"}, spoil: func(s *spoilt) {
			s.close = func(context.Context) error { return nil }
		}},
		"fails a second Close": {caught: []string{"Close twice, and from many callers, is harmless"}, spoil: func(s *spoilt) {
			var mu sync.Mutex
			closed := false
			s.close = func(ctx context.Context) error {
				mu.Lock()
				defer mu.Unlock()
				if closed {
					return errors.New("wrong: already closed")
				}
				closed = true
				return s.Source.Close(ctx)
			}
		}},
		"ends a Fetch as its context would": {caught: []string{"Close ends a Fetch that waits"}, spoil: func(s *spoilt) {
			s.fetch = func(ctx context.Context, limits source.Limits) (source.Batch, error) {
				b, err := s.Source.Fetch(ctx, limits)
				if errors.Is(err, source.ErrClosed) {
					err = context.Canceled
				}
				return b, err
			}
		}},
		"does not end its Close": {caught: []string{"Close heeds a context that is over", "Close in an outage ends with its context"}, spoil: func(s *spoilt) {
			s.close = func(ctx context.Context) error {
				pause := time.NewTimer(3 * time.Second)
				<-pause.C
				return s.Source.Close(ctx)
			}
		}},
		"stays open if Close has no time": {caught: []string{"Close heeds a context that is over"}, spoil: func(s *spoilt) {
			s.close = func(ctx context.Context) error {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				return s.Source.Close(ctx)
			}
		}},
		"leaks a goroutine": {caught: []string{"leaves no goroutine behind after Close"}, spoil: func(s *spoilt) {
			s.fetch = func(ctx context.Context, limits source.Limits) (source.Batch, error) {
				go func() { select {} }()
				return s.Source.Fetch(ctx, limits)
			}
		}},
		"changes its features": {caught: []string{"the features never change"}, spoil: func(s *spoilt) {
			var mu sync.Mutex
			s.features = func() source.Features {
				mu.Lock()
				defer mu.Unlock()
				f := s.Source.Features()
				s.features = s.Source.Features
				f.MaxUnacked++
				return f
			}
		}},
		"declares another order": {caught: []string{"the features declared are those expected"}, spoil: func(s *spoilt) {
			s.features = func() source.Features {
				f := s.Source.Features()
				f.Order = source.OrderNone
				return f
			}
		}},
	}
}

func wrongs() map[string]wrong {
	all := map[string]wrong{}
	for _, some := range []map[string]wrong{acks(), contents(), fetches(), losses(), lives()} {
		maps.Copy(all, some)
	}
	return all
}

package brokertest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
)

// wrong is a way to spoil a right destination, and the cases that must see it.
type wrong struct {
	caught []string
	lanes  bool // they are those of transactions
	// make wraps a destination. Each call makes one destination.
	spoil func(d *spoilt)
}

func (w wrong) by() string {
	if w.lanes {
		return "Transactions"
	}
	return "Publish"
}

func (w wrong) make(d *membroker.Destination) broker.Destination {
	s := &spoilt{Destination: d}
	s.publish, s.features, s.close = s.right, d.Features, d.Close
	s.report = func(ctx context.Context, msgs []broker.Delivery, report func(int, broker.Result)) {
		results := make([]broker.Result, len(msgs))
		s.publish(ctx, msgs, results)
		for i, r := range results {
			report(i, r)
		}
	}
	if w.spoil != nil {
		w.spoil(s)
	}
	return s
}

// spoilt is a destination whose methods can be replaced.
type spoilt struct {
	*membroker.Destination

	publish  func(ctx context.Context, msgs []broker.Delivery, results []broker.Result)
	report   func(ctx context.Context, msgs []broker.Delivery, report func(int, broker.Result)) // of publish, unless replaced
	features func() broker.Features
	close    func(ctx context.Context) error
	lane     func(broker.Lane) broker.Lane // nil: as it is
}

// right fills in what the right destination says.
func (s *spoilt) right(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
	copy(results, broker.Publish(ctx, s.Destination, msgs))
}

func (s *spoilt) OpenLane(ctx context.Context, name broker.LaneName) (broker.Lane, error) {
	l, err := s.Destination.OpenLane(ctx, name)
	if err == nil && s.lane != nil {
		l = s.lane(l)
	}
	return l, err
}

func (s *spoilt) Publish(ctx context.Context, msgs []broker.Delivery, report func(int, broker.Result)) {
	s.report(ctx, msgs, report)
}

func (s *spoilt) Features() broker.Features { return s.features() }

func (s *spoilt) Close(ctx context.Context) error { return s.close(ctx) }

// each changes every message on its way.
func each(change func(m *broker.Delivery)) func(*spoilt) {
	return func(s *spoilt) {
		s.publish = func(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
			changed := slices.Clone(msgs)
			for i := range changed {
				change(&changed[i])
			}
			s.right(ctx, changed, results)
		}
	}
}

// scoped says another scope of an outcome.
func scoped(outcome broker.Outcome, scope broker.Scope) func(*spoilt) {
	return func(s *spoilt) {
		s.publish = func(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
			s.right(ctx, msgs, results)
			for i := range results {
				if results[i].Outcome == outcome {
					results[i].Scope, results[i].Err = scope, &broker.Error{Outcome: outcome, Scope: scope, Err: errors.New("wrong")}
				}
			}
		}
	}
}

// turned gives every result of one outcome another.
func turned(from, to broker.Outcome) func(*spoilt) {
	return func(s *spoilt) {
		s.publish = func(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
			s.right(ctx, msgs, results)
			for i := range results {
				if results[i].Outcome == from {
					results[i].Outcome = to
					if to == broker.Accepted {
						results[i].Err = nil
					} else {
						results[i].Err = errors.New("wrong")
					}
				}
			}
		}
	}
}

// declared changes what is declared.
func declared(change func(f *broker.Features)) func(*spoilt) {
	return func(s *spoilt) {
		s.features = func() broker.Features {
			f := s.Destination.Features()
			change(&f)
			return f
		}
	}
}

const (
	misconfiguresOne = "says misconfigured of a good message"
	trafficCase      = "outages in the middle of traffic lose nothing that was accepted"
)

// outcomes are wrong in what they answer.
func outcomes() map[string]wrong {
	return map[string]wrong{
		"accepts without asking": {
			caught: []string{
				"in an outage nothing is accepted, rejected or misconfigured",
				"a message whose answer is lost is unknown",
				"a message that can never be taken is rejected and not stored",
			},
			spoil: func(s *spoilt) {
				s.publish = func(_ context.Context, msgs []broker.Delivery, results []broker.Result) {
					kept := slices.Clone(msgs)
					go s.right(context.Background(), kept, make([]broker.Result, len(kept)))
					for i := range results {
						results[i].Outcome = broker.Accepted
					}
				}
			},
		},
		"gives one answer to the whole call": {
			caught: []string{
				"one rejected message leaves the others of its call alone", "one message above the size limit among fifty harms no other",
				"a failure of one topic has the scope topic and leaves other topics alone",
			},
			spoil: func(s *spoilt) {
				s.publish = func(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
					s.right(ctx, msgs, results)
					for i := range results {
						if results[i].Outcome != broker.Accepted {
							for j := range results {
								results[j] = results[i]
							}
							return
						}
					}
				}
			},
		},
		"accepts when time is up":         {caught: []string{"a message whose answer is lost is unknown"}, spoil: turned(broker.Unknown, broker.Accepted)},
		"rejects in an outage":            {caught: []string{"in an outage nothing is accepted, rejected or misconfigured"}, spoil: turned(broker.Unavailable, broker.Rejected)},
		"blames the message for a topic":  {caught: []string{"a destination that is wrong says misconfigured, each time"}, spoil: turned(broker.Misconfigured, broker.Rejected)},
		"blames an outage for a topic":    {caught: []string{"a destination that is wrong says misconfigured, each time"}, spoil: turned(broker.Misconfigured, broker.Unavailable)},
		"is unavailable for bad messages": {caught: []string{"a message that can never be taken is rejected and not stored"}, spoil: turned(broker.Rejected, broker.Unavailable)},
		"stops for one topic": {
			caught: []string{
				"a failure of one topic has the scope topic and leaves other topics alone",
				"a destination that is wrong says misconfigured, each time",
				"a call for a topic that fails has the scope topic, each time",
			},
			spoil: scoped(broker.Misconfigured, broker.ScopeDestination),
		},
		"blames a topic for an outage": {caught: []string{"an outage has the scope destination"}, spoil: scoped(broker.Unavailable, broker.ScopeTopic)},
		misconfiguresOne: {
			caught: []string{trafficCase},
			spoil: func(s *spoilt) {
				var sent atomic.Int64
				s.publish = func(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
					if sent.Add(1) == 40 {
						results[0] = broker.Result{Outcome: broker.Misconfigured, Err: errors.New("wrong")}
						return
					}
					s.right(ctx, msgs, results)
				}
			},
		},
		"forgets the last answer": {
			caught: []string{"every message of a call gets its answer, whatever the call's size", "a call of the largest size is answered whole"},
			spoil: func(s *spoilt) {
				s.publish = func(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
					s.right(ctx, msgs, results)
					results[len(results)-1] = broker.Result{}
				}
			},
		},
		"mixes up the answers of a call": {
			caught: []string{"several rejected messages of a call are told apart", "accepted and rejected answers of callers side by side do not mix"},
			spoil: func(s *spoilt) {
				s.publish = func(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
					s.right(ctx, msgs, results)
					slices.Reverse(results)
				}
			},
		},
		"says the payload in its error": {
			caught: []string{"a message that can never be taken is rejected and not stored"},
			spoil: func(s *spoilt) {
				s.publish = func(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
					s.right(ctx, msgs, results)
					for i := range results {
						if results[i].Err != nil {
							results[i].Err = fmt.Errorf("cannot send the message of key %s: %w", msgs[i].Key, results[i].Err)
						}
					}
				}
			},
		},
		"says the password in its error": {
			caught: []string{"in an outage nothing is accepted, rejected or misconfigured"},
			spoil: func(s *spoilt) {
				s.publish = func(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
					s.right(ctx, msgs, results)
					for i := range results {
						if results[i].Err != nil {
							results[i].Err = fmt.Errorf("dial broker://user:hunter2@host: %w", results[i].Err)
						}
					}
				}
			},
		},
		"gives no reason": {
			caught: []string{"a message that can never be taken is rejected and not stored"},
			spoil: func(s *spoilt) {
				s.publish = func(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
					s.right(ctx, msgs, results)
					for i := range results {
						results[i].Err = nil
					}
				}
			},
		},
	}
}

// contents are wrong in what they carry.
func contents() map[string]wrong {
	return map[string]wrong{
		"keeps names that begin with Postbag- for itself": {
			caught: []string{"the header of a replay arrives under its own name"},
			spoil: each(func(m *broker.Delivery) {
				m.Headers = maps.Clone(m.Headers)
				maps.DeleteFunc(m.Headers, func(name, _ string) bool { return strings.HasPrefix(name, "Postbag-") })
			}),
		},
		"drops headers": {
			caught: []string{"header values of any text arrive as they are", "many and long headers arrive as they are"},
			spoil:  each(func(m *broker.Delivery) { m.Headers = nil }),
		},
		"trims header values": {
			caught: []string{"header values of any text arrive as they are"},
			spoil: each(func(m *broker.Delivery) {
				m.Headers = maps.Clone(m.Headers)
				for name, value := range m.Headers {
					m.Headers[name] = strings.TrimSpace(value)
				}
			}),
		},
		"decodes percent signs that nobody encoded": {
			caught: []string{"header values of any text arrive as they are"},
			spoil: each(func(m *broker.Delivery) {
				m.Headers = maps.Clone(m.Headers)
				for name, value := range m.Headers {
					m.Headers[name] = broker.Unescape(value)
				}
			}),
		},
		"trims payloads":           {caught: []string{"a payload that looks like protocol arrives bit for bit"}, spoil: each(func(m *broker.Delivery) { m.Payload = bytes.TrimSpace(m.Payload) })},
		"ends payloads at NUL":     {caught: []string{"a payload of every byte value arrives bit for bit"}, spoil: each(func(m *broker.Delivery) { m.Payload, _, _ = bytes.Cut(m.Payload, []byte{0}) })},
		"makes payloads text":      {caught: []string{"payloads of any size and content arrive bit for bit"}, spoil: each(func(m *broker.Delivery) { m.Payload = []byte(strings.ToValidUTF8(string(m.Payload), "?")) })},
		"lowers keys":              {caught: []string{"keys of any text arrive as they are"}, spoil: each(func(m *broker.Delivery) { m.Key = strings.ToLower(m.Key) })},
		"forgets types":            {caught: []string{"id, key, type and time travel with the message"}, spoil: each(func(m *broker.Delivery) { m.Type = "" })},
		"cuts the time to seconds": {caught: []string{"the time is the database's, to the microsecond and in UTC"}, spoil: each(func(m *broker.Delivery) { m.At = m.At.Truncate(time.Second) })},
		"lets a header replace the fact": {
			caught: []string{"a header named like a fact does not replace the fact"},
			spoil: each(func(m *broker.Delivery) {
				if key := m.Headers[broker.HeaderKey]; key != "" {
					m.Key = key
				}
			}),
		},
		"sends the attempt as part of the message": {
			caught: []string{"a later attempt carries the same bytes"},
			spoil: each(func(m *broker.Delivery) {
				if m.Attempt > 1 {
					m.ID[15]++
				}
			}),
		},
		"sends properties of others as headers": {
			caught: []string{"properties of other transports do not go out as headers"},
			spoil: each(func(m *broker.Delivery) {
				m.Headers = maps.Clone(m.Headers)
				for name, value := range m.Headers {
					if broker.IsProperty(name) {
						m.Headers["sent-"+name] = value
					}
				}
			}),
		},
		"purges on a reserved header": {
			caught: []string{"a header with a meaning for the broker does no harm"},
			spoil: each(func(m *broker.Delivery) {
				if m.Headers["reserved"] != "" {
					m.Headers = nil
				}
			}),
		},
	}
}

// encodings are wrong in what they make of an encoder's work.
func encodings() map[string]wrong {
	const (
		arrives = "what an encoder made arrives as it is, without facts beside it"
		odd     = "what the transport cannot carry as encoded is rejected, not changed"
	)
	return map[string]wrong{
		"ignores the encoder": {caught: []string{arrives}, spoil: each(func(m *broker.Delivery) { m.Wire = nil })},
		"sends facts beside the encoder's headers": {caught: []string{arrives}, spoil: rewired(func(m *broker.Delivery, w *broker.Wire) {
			w.Headers[broker.HeaderID] = m.ID.String()
		})},
		"sends the message's headers beside the encoder's": {caught: []string{arrives}, spoil: rewired(func(m *broker.Delivery, w *broker.Wire) {
			maps.Copy(w.Headers, m.Headers)
		})},
		"forgets the content type": {caught: []string{arrives, "what an encoder made is not mixed up within a call"}, spoil: rewired(func(_ *broker.Delivery, w *broker.Wire) {
			w.ContentType = ""
		})},
		"trims what the encoder made": {caught: []string{odd}, spoil: rewired(func(_ *broker.Delivery, w *broker.Wire) {
			for name, value := range w.Headers {
				w.Headers[name] = strings.TrimSpace(value)
			}
		})},
		"sends null as no bytes": {caught: []string{"no payload and an empty one arrive as such"}, spoil: rewired(func(_ *broker.Delivery, w *broker.Wire) {
			w.Null = false
		})},
		"fences only the plain form": {caught: []string{"a fence holds for what an encoder made"}, spoil: func(s *spoilt) {
			var mu sync.Mutex
			n := byte(0)
			each(func(m *broker.Delivery) {
				mu.Lock()
				defer mu.Unlock()
				if m.Wire != nil {
					n++
					m.ID[0] = n
				}
			})(s)
		}},
	}
}

// rewired changes what an encoder made, on its way.
func rewired(change func(m *broker.Delivery, w *broker.Wire)) func(*spoilt) {
	return each(func(m *broker.Delivery) {
		if m.Wire == nil {
			return
		}
		w := *m.Wire
		w.Headers = map[string]string{}
		maps.Copy(w.Headers, m.Wire.Headers)
		change(m, &w)
		m.Wire = &w
	})
}

func wrongs() map[string]wrong {
	all := map[string]wrong{}
	maps.Copy(all, outcomes())
	maps.Copy(all, contents())
	maps.Copy(all, encodings())
	maps.Copy(all, habits())
	return all
}

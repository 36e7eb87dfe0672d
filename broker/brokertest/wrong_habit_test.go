package brokertest_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

// habits are wrong in order, custody, life and what they declare.
func habits() map[string]wrong {
	return map[string]wrong{
		"reorders a call": {
			caught: []string{"an ordered destination stores the messages of a call in order"},
			spoil: func(s *spoilt) {
				s.publish = func(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
					reversed := slices.Clone(msgs)
					slices.Reverse(reversed)
					s.right(ctx, reversed, results)
					slices.Reverse(results)
				}
			},
		},
		"sends what an outage has held up again backwards": {
			caught: []string{"an ordered destination keeps the order of a call through an outage"},
			spoil: func(s *spoilt) {
				s.publish = func(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
					s.right(ctx, msgs, results)
					for i := range slices.Backward(msgs) {
						for results[i].Outcome != broker.Accepted && ctx.Err() == nil {
							time.Sleep(time.Millisecond) //nolint:forbidigo // as its clients do
							s.right(ctx, msgs[i:i+1], results[i:i+1])
						}
					}
				}
			},
		},
		"goes on with a key that an outage has held up": {
			caught: []string{"an ordered destination keeps the order of a call through an outage"},
			spoil: func(s *spoilt) {
				s.publish = func(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
					s.right(ctx, msgs, results)
					last := len(msgs) - 1
					for results[last].Outcome != broker.Accepted && ctx.Err() == nil {
						time.Sleep(time.Millisecond) //nolint:forbidigo // as its clients do
						s.right(ctx, msgs[last:], results[last:])
					}
				}
			},
		},
		"holds every third message back for the next call": {
			caught: []string{"a key sent one by one is stored in that order"},
			spoil: func(s *spoilt) {
				var mu sync.Mutex
				var late []broker.Delivery
				n := 0
				s.publish = func(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
					mu.Lock()
					defer mu.Unlock()
					n++
					before := late
					late = nil
					if n%3 == 0 && n < 50 {
						late = slices.Clone(msgs)
						for i := range results {
							results[i].Outcome = broker.Accepted
						}
						return
					}
					s.right(ctx, msgs, results)
					s.right(ctx, before, make([]broker.Result, len(before)))
				}
			},
		},
		"goes on with a key after a reject": {
			caught: []string{"an ordered destination takes nothing of a key after its rejected message"},
			spoil: func(s *spoilt) {
				s.publish = func(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
					for i := range msgs {
						s.right(ctx, msgs[i:i+1], results[i:i+1])
					}
				}
			},
		},
		"keeps the slice": {
			caught: []string{"the slice is not read after the call returned"},
			spoil: func(s *spoilt) {
				first := make(chan struct{})
				close(first)
				before := first
				s.publish = func(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
					done, turn := make(chan struct{}), before
					before = done
					go func() {
						defer close(done)
						<-turn
						pause := time.NewTimer(5 * time.Millisecond)
						<-pause.C
						s.right(context.WithoutCancel(ctx), msgs, make([]broker.Result, len(msgs)))
					}()
					for i := range results {
						results[i].Outcome = broker.Accepted
					}
				}
			},
		},
		"reports late": {
			caught: []string{"nothing is said of a message after the call returned"},
			spoil: func(s *spoilt) {
				s.report = func(ctx context.Context, msgs []broker.Delivery, report func(int, broker.Result)) {
					own := slices.Clone(msgs)
					returned := make(chan struct{})
					defer close(returned)
					results := make([]broker.Result, len(own))
					s.right(ctx, own, results)
					for i, r := range results {
						if r.Outcome == broker.Accepted {
							report(i, r)
							continue
						}
						go func() { // an answer that came too late
							<-returned
							late := time.NewTimer(100 * time.Millisecond)
							<-late.C
							report(i, r)
						}()
					}
				}
			},
		},
		"reports twice": {
			caught: []string{"every message of a call gets its answer, whatever the call's size"},
			spoil: func(s *spoilt) {
				s.report = func(ctx context.Context, msgs []broker.Delivery, report func(int, broker.Result)) {
					s.Destination.Publish(ctx, msgs, func(i int, r broker.Result) {
						report(i, r)
						report(i, r)
					})
				}
			},
		},
		"changes headers in place": {
			caught: []string{"callers may share headers and payloads", "every message of a call gets its answer, whatever the call's size"},
			spoil: func(s *spoilt) {
				var mu sync.Mutex
				s.publish = func(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
					mu.Lock()
					for i := range msgs {
						if msgs[i].Headers != nil {
							msgs[i].Headers["made"] = "changed"
						}
					}
					mu.Unlock()
					s.right(ctx, msgs, results)
				}
			},
		},
		"does not heed its context": {
			caught: []string{"a message whose answer is lost is unknown"},
			spoil: func(s *spoilt) {
				s.publish = func(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
					ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
					defer cancel()
					s.right(ctx, msgs, results)
				}
			},
		},
		"leaks a goroutine": {
			caught: []string{"leaves no goroutine behind after Close"},
			spoil: func(s *spoilt) {
				s.publish = func(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
					go func() { select {} }()
					s.right(ctx, msgs, results)
				}
			},
		},
		"sends after Close":            {caught: []string{"Publish after Close sends nothing and says so"}, spoil: func(s *spoilt) { s.close = func(context.Context) error { return nil } }},
		"fails a second Close":         {caught: []string{"Close twice, and from many callers, is harmless"}, spoil: secondClose},
		"does not wait in Close":       {caught: []string{"Close lets calls end with true answers, and nothing is sent after it"}, spoil: hastyClose},
		"panics at an odd message":     {caught: []string{"odd messages never panic and never harm good ones"}, spoil: each(func(m *broker.Delivery) { _ = m.Headers["made"][0] })},
		"stores twice without a fault": {caught: []string{"without a fault nothing is stored twice"}, spoil: storesTwice},
		"knows a message by its id alone": {
			caught: []string{
				"what other subscriptions make of a message is stored too, or is not accepted",
				"what other subscriptions' encoders make of a message is stored too, or is not accepted",
			},
			spoil: knowsIDs,
		},
		"declares a fence it lacks":     {caught: []string{"a message sent twice is stored once with a declared fence, and twice without"}, spoil: storesTwice},
		"hides a fence it has":          {caught: []string{"a message sent twice is stored once with a declared fence, and twice without", "the features declared are those expected"}, spoil: declared(func(f *broker.Features) { f.Fences = "" })},
		"declares more than it takes":   {caught: []string{"a payload of the declared MaxBytes is accepted", "the features declared are those expected"}, spoil: declared(func(f *broker.Features) { f.MaxBytes *= 2 })},
		"is not as ordered as expected": {caught: []string{"the features declared are those expected"}, spoil: declared(func(f *broker.Features) { f.Ordered = false })},
		"changes its features":          {caught: []string{"the features never change"}, spoil: fickle},
	}
}

func secondClose(s *spoilt) {
	var mu sync.Mutex
	closed := false
	s.close = func(ctx context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		if closed {
			return errors.New("already closed")
		}
		closed = true
		return s.Destination.Close(ctx)
	}
}

func hastyClose(s *spoilt) {
	s.publish = func(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
		tick := time.NewTimer(2 * time.Millisecond)
		defer tick.Stop()
		<-tick.C
		copy(results, broker.Publish(ctx, s.Destination.Connect(), msgs))
	}
	s.close = func(context.Context) error { return nil }
}

func storesTwice(s *spoilt) {
	s.publish = func(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
		s.right(ctx, msgs, results)
		copies := slices.Clone(msgs)
		for i := range copies {
			copies[i].ID[15]++ // past the fence of the broker behind
		}
		s.right(ctx, copies, make([]broker.Result, len(copies)))
	}
}

// knowsIDs takes what another subscription made of a message for stored.
func knowsIDs(s *spoilt) {
	var mu sync.Mutex
	known := map[postbag.ID]bool{}
	s.publish = func(ctx context.Context, msgs []broker.Delivery, results []broker.Result) {
		for i, m := range msgs {
			mu.Lock()
			there := known[m.ID]
			mu.Unlock()
			if there {
				results[i] = broker.Result{Outcome: broker.Accepted, Note: "duplicate"}
				continue
			}
			s.right(ctx, msgs[i:i+1], results[i:i+1])
			mu.Lock()
			known[m.ID] = results[i].Outcome == broker.Accepted
			mu.Unlock()
		}
	}
}

func fickle(s *spoilt) {
	var mu sync.Mutex
	n := 0
	s.features = func() broker.Features {
		mu.Lock()
		defer mu.Unlock()
		f := s.Destination.Features()
		n++
		f.MaxBytes += n
		return f
	}
}

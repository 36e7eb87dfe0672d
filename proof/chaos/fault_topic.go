package chaos

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// A topic of the destination may fail while others work. What is for it must be held, with the keys that it is of, and nothing else:
// so some keys have messages of a second topic, or of both, and while that one is broken it is looked at what is held and what
// arrives. That no attempt is counted, that nothing is lost and that each key keeps its order is for the checker.

// Branched is implemented by a Place that takes a second topic, too, which a Fault with that Topic breaks while the first one works.
// More returns what lies in both.
type Branched interface{ Branch() string }

// branch is the second topic; empty: there is none.
func (r *run) branch() string {
	if b, ok := r.place.(Branched); ok {
		return b.Branch()
	}
	return ""
}

// topic is that of a key's next message: one key of five has the second, and another one now this and now that.
func (w *writer) topic(key string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key)) // it never fails
	kind := h.Sum32() % 5
	if w.job.Branch != "" && (kind == 0 || kind == 1 && w.rand.IntN(2) == 0) {
		return w.job.Branch
	}
	return w.job.Topic
}

// lookAtTopic looks, as long as a topic shall be broken, what is held for it and what of the other one arrives.
func (r *run) lookAtTopic(ctx context.Context, s *Strike, topic string) {
	ctx, cancel := context.WithTimeout(ctx, s.For)
	defer cancel()
	held, before := int64(0), r.consumer.others.Load()
	for Pause(ctx, sampleEvery) == nil {
		_ = r.operator.do(ctx, func(ctx context.Context, st orders) error { // it may be away
			v, err := st.Overview(ctx)
			held = max(held, heldFor(&v, topic))
			return err
		})
	}
	if held == 0 {
		s.Idle("nothing was held for it")
		return
	}
	s.Note(count(int(held), "message") + " held")
	s.Note(fmt.Sprintf("%d of the other topic arrived", r.consumer.others.Load()-before))
}

// heldFor is how many messages are held for a topic.
func heldFor(v *store.Overview, topic string) (n int64) {
	for _, b := range v.Boxes {
		for i := range b.Subscriptions {
			if b.Subscriptions[i].Ref != ref {
				continue
			}
			for _, h := range b.Subscriptions[i].Held {
				if h.Topic == topic {
					n += h.Messages
				}
			}
		}
	}
	return n
}

const (
	// undisturbed is how long nothing else may have been broken before a topic is, for that to be judged.
	undisturbed = 10 * time.Second
	// mostSilence is how long nothing of other topics may arrive then.
	mostSilence = 3 * time.Second
)

// judgeTopics wants other topics to have gone on while one was broken, and nothing else.
func (r *run) judgeTopics() {
	r.consumer.mu.Lock()
	defer r.consumer.mu.Unlock()
	for _, g := range silences(r.happened, r.consumer.trunk) {
		r.failf("%s: nothing of other topics arrived for %v", g.of, g.to.Sub(g.from).Round(time.Millisecond))
	}
}

// silences are the times in which nothing of other topics arrived for too long though one topic alone was broken.
func silences(happened []Happening, trunk arrivals) (all []gap) {
	slices.SortFunc(trunk, time.Time.Compare)
	for i, h := range happened {
		if h.Topic == "" || h.Idle {
			continue
		}
		others := slices.Concat(happened[:i], happened[i+1:])
		if slices.ContainsFunc(others, func(o Happening) bool {
			return !o.Throughout && o.From.Before(h.To) && o.To.Add(undisturbed).After(h.From)
		}) {
			continue
		}
		last := h.From
		from, _ := slices.BinarySearchFunc(trunk, h.From, time.Time.Compare)
		to, _ := slices.BinarySearchFunc(trunk, h.To, time.Time.Compare)
		for _, at := range append(slices.Clone(trunk[from:to]), h.To) {
			if at.Sub(last) > mostSilence {
				all = append(all, gap{of: h.Fault, from: last, to: at})
			}
			last = at
		}
	}
	return all
}

// ofTopics are the faults of one topic as what stopped that, and the others, which can have stopped it too, as what stops nothing.
func ofTopics(happened []Happening) []Happening {
	out := slices.Clone(happened)
	for i := range out {
		out[i].Stops = out[i].Topic != "" && !out[i].Idle
	}
	return out
}

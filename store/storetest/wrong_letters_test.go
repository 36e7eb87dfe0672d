package storetest

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// wrongLetters are mistakes of dead letters.
func wrongLetters() []wrong {
	return []wrong{
		{"dead letters are written before the settlement is judged", lettersFirst, []string{"A lost settlement leaves no dead letter"}},
		{"dead letters are written once more with a repeat", lettersRepeated, []string{"A repeated settlement leaves no second dead letter"}},
		{"dead letters are written after the turn", lettersLate, []string{"A dead letter is there as soon as its message is dead"}},
		{"dead letters are not written", changed(func(st *store.Settlement) {
			for i := range st.Park {
				st.Park[i].DeadTo = ""
			}
		}), []string{
			"A message that dies leaves one whole dead letter, and no other does",
			"A message that is gone from the log leaves a whole dead letter",
			"An erased message leaves a dead letter without its body",
		}},
		{"a message has one dead letter, however often it dies", lettersOnce, []string{"A message that dies again leaves another dead letter"}},
		{"dead letters come in the sequence of the log", changed(func(st *store.Settlement) {
			slices.SortFunc(st.Park, func(a, b store.Park) int { return int(a.Seq - b.Seq) })
		}), []string{"Dead letters come in the sequence of their settlement"}},
		{"a dead letter has the bytes of another message", func(db *database) {
			inLetters(db, func(m *postbag.Message) { m.Payload = []byte(`{"n":0}`) })
		}, []string{
			"A message that dies leaves one whole dead letter, and no other does",
			"A message that is gone from the log leaves a whole dead letter",
			"A message with the header of a fault leaves a dead letter without it",
		}},
		{"a dead letter has the id of its message", func(db *database) {
			inLetters(db, func(m *postbag.Message) { m.ID, _ = postbag.ParseID(m.Headers[store.HeaderDeadID]) })
		}, []string{"A message that dies leaves one whole dead letter, and no other does"}},
		{"a dead letter has the properties of the message", func(db *database) {
			inLetters(db, func(m *postbag.Message) { m.Headers["kafka.partition"] = "9" })
		}, []string{"A dead letter leaves out what only the first destination obeys, and what does not fit"}},
		{"a dead letter has the fault of its message", func(db *database) {
			inLetters(db, func(m *postbag.Message) { m.Headers[store.FaultHeader] = "it is too large" })
		}, []string{"A message with the header of a fault leaves a dead letter without it"}},
		{"a dead letter keeps the topic of its message", changed(func(st *store.Settlement) {
			for i := range st.Park {
				st.Park[i].DeadTopic = ""
			}
		}), []string{"A dead letter has the topic that its settlement says, and names that of its message"}},
		{"all dead letters of a settlement have one topic", changed(func(st *store.Settlement) {
			for i := range st.Park {
				st.Park[i].DeadTopic = st.Park[0].DeadTopic
			}
		}), []string{"A dead letter has the topic that its settlement says, and names that of its message"}},
		{"a dead letter does not name the topic of its message", func(db *database) {
			inLetters(db, func(m *postbag.Message) { delete(m.Headers, store.HeaderDeadTopic) })
		}, []string{"A dead letter has the topic that its settlement says, and names that of its message"}},
		{"a dead letter that cannot be written loses the settlement", func(db *database) {
			s := spoil(db)
			s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
				res, err := s.Store.Turn(ctx, t)
				for i := range res.Verdicts {
					if res.Verdicts[i].Letters != nil {
						res.Verdicts[i] = store.Verdict{}
					}
				}
				return res, err
			}
		}, []string{"A dead letter that cannot be written keeps no message alive, and that is said"}},
		{"nobody looks for the box of dead letters", func(db *database) {
			s := spoil(db)
			s.declare = func(ctx context.Context, specs []store.Spec) error {
				specs = slices.Clone(specs)
				for i := range specs {
					specs[i].DeadTo = ""
				}
				return s.Store.Declare(ctx, specs)
			}
		}, []string{"Declare refuses dead letters to a box that does not exist"}},
	}
}

// letter appends a message to the box of dead letters, in a transaction of its own.
func (s *spoilt) letter(ctx context.Context, m postbag.Message) {
	if m.ID.IsZero() {
		m.ID = postbag.NewID()
	}
	_ = s.InTx(ctx, func(ctx context.Context, tx *memstore.Tx) error {
		return s.Append(ctx, tx, letterBox, []postbag.Message{m})
	})
}

func lettersFirst(db *database) {
	s := spoil(db)
	s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
		for i := range t.Settle {
			for range t.Settle[i].Park {
				s.letter(ctx, postbag.Message{})
			}
		}
		return s.Store.Turn(ctx, t)
	}
}

func lettersRepeated(db *database) {
	s := spoil(db)
	var mu sync.Mutex
	seen := map[store.Lease]bool{}
	s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
		mu.Lock()
		defer mu.Unlock()
		for i := range t.Settle {
			if seen[t.Settle[i].Lease] {
				s.letter(ctx, postbag.Message{})
			}
			seen[t.Settle[i].Lease] = true
		}
		return s.Store.Turn(ctx, t)
	}
}

func lettersLate(db *database) {
	s := spoil(db)
	s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
		n := 0
		t.Settle = slices.Clone(t.Settle)
		for i := range t.Settle {
			t.Settle[i].Park = slices.Clone(t.Settle[i].Park)
			for k := range t.Settle[i].Park {
				if t.Settle[i].Park[k].DeadTo != "" {
					t.Settle[i].Park[k].DeadTo = ""
					n++
				}
			}
		}
		res, err := s.Store.Turn(ctx, t)
		for range n {
			s.letter(ctx, postbag.Message{})
		}
		return res, err
	}
}

func lettersOnce(db *database) {
	s := spoil(db)
	var mu sync.Mutex
	seen := map[int64]bool{}
	s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
		mu.Lock()
		defer mu.Unlock()
		t.Settle = slices.Clone(t.Settle)
		for i := range t.Settle {
			t.Settle[i].Park = slices.Clone(t.Settle[i].Park)
			for k := range t.Settle[i].Park {
				p := &t.Settle[i].Park[k]
				if p.DeadTo != "" && p.State == store.ParkDead {
					if seen[p.Seq] {
						p.DeadTo = ""
					}
					seen[p.Seq] = true
				}
			}
		}
		return s.Store.Turn(ctx, t)
	}
}

// inLetters changes dead letters as they are read.
func inLetters(db *database, change func(*postbag.Message)) {
	s := spoil(db)
	s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
		res, err := s.Store.Turn(ctx, t)
		for i := range res.Batches {
			if t.Read[i].Box != letterBox {
				continue
			}
			for k := range res.Batches[i].Records {
				r := &res.Batches[i].Records[k]
				if r.Headers == nil {
					continue
				}
				r.Headers = maps.Clone(r.Headers)
				change(&r.Message)
				r.Err = store.HeaderFault(r.Headers)
			}
		}
		return res, err
	}
}

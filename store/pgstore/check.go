package pgstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Check implements store.Store.
func (s *Store) Check(ctx context.Context) (store.Info, error) {
	s.adopting.Lock()
	defer s.adopting.Unlock()
	seen, err := s.look(ctx)
	if err == nil {
		err = seen.refuse()
	}
	if err != nil {
		return store.Info{}, translateError("check", err)
	}
	info := store.Info{
		System:     "postgresql " + seen.version,
		Identity:   seen.identity,
		Schema:     seen.schema,
		MaxMessage: postbag.MaxPayload,
		Features:   Features(),
	}
	if info.Warnings, err = s.warnings(ctx); err != nil {
		return info, translateError("check", err)
	}
	moved := seen.identity != seen.written
	old := s.server.Load()
	if old != nil && old.identity != seen.identity {
		moved = true
	}
	older := !moved && old.older(&seen)
	if seen.identity != seen.written {
		if err := s.reconcile(ctx, seen); err != nil {
			return info, translateError("reconcile the positions of a database that was copied", err)
		}
		if seen, err = s.look(ctx); err != nil {
			return info, translateError("check", err)
		}
	}
	renumbered, err := s.renumbered(ctx, eraOf(seen.life, seen.started))
	if err != nil {
		return info, translateError("check", err)
	}
	if len(renumbered) > 0 {
		if seen, err = s.look(ctx); err != nil {
			return info, translateError("check", err)
		}
	}
	if err = s.checkBoxes(ctx); err == nil && older {
		err = s.noteAgain(ctx, "an older copy of the database was put in its place")
	}
	if err != nil {
		return info, translateError("check", err)
	}
	s.accept(seen)
	if len(renumbered) > 0 && !moved {
		return info, translateError("check", renumberedError(renumbered...))
	}
	if older {
		return info, translateError("check", errOlder)
	}
	if moved {
		return info, fmt.Errorf("pgstore: check: the database is %q, and its positions were those of another; messages that were "+
			"sent before it was copied may be sent again: %w", seen.identity, store.ErrMoved)
	}
	return info, nil
}

// noteAgain has the audit log say of every box that it goes on from where its positions were, and why.
func (s *Store) noteAgain(ctx context.Context, why string) error {
	r, err := s.readCatalog(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.boxes)) {
		a := store.Audit{Who: storekit.Itself, Why: why}
		if err := s.run(ctx, s.note(a, "send "+name+" again, from where it was")); err != nil {
			return err
		}
	}
	return nil
}

// Features returns what a PostgreSQL store declares.
func Features() store.Features {
	return store.Features{ConcurrentWriters: true, Prepared: true, Savepoints: true, Partitions: true, Conditions: true, Editing: true, HeldTopics: true, DeadLetters: true, SlotRules: true}
}

// checkBoxes refuses a box whose sequence would give out numbers that were passed.
func (s *Store) checkBoxes(ctx context.Context) error {
	r, err := s.readCatalog(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for name, b := range r.boxes {
		if b.slots == store.SlotsByNumber {
			errs = append(errs, s.checkTriggers(ctx, name))
		}
		err := s.run(ctx, call{st: s.statements.get("sequence", name), each: func(r row) error {
			c := columns{rest: r}
			cache, cycles, step := c.int8(), c.bool(), c.int8()
			last, highest := c.int8(), c.int8()
			if c.err == nil {
				errs = append(errs, sequenceFaults(name, cache, cycles, step, last, highest)...)
			}
			return c.err
		}})
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// checkTriggers refuses a box by number whose rows would get other slots.
func (s *Store) checkTriggers(ctx context.Context, box string) error {
	var without []string
	err := s.run(ctx, call{st: s.statements.get("triggers", box), each: func(r row) error {
		c := columns{rest: r}
		without = append(without, c.text())
		return c.err
	}})
	if err != nil || len(without) == 0 {
		return err
	}
	return fmt.Errorf("pgstore: box %[1]s takes slots by number, and its trigger is gone or off in %[2]d of its tables, without which the order of keys is not kept; "+
		"ALTER TABLE postbag.%[3]s ENABLE ALWAYS TRIGGER %[1]s__number, and the same of each of them", box, len(without), without[0])
}

// sequenceFaults says what is wrong with a box's sequence. All reading rests on
// its numbers growing, one session's as another's.
func sequenceFaults(box string, cache int64, cycles bool, step, last, highest int64) (errs []error) {
	if cache != 1 || cycles || step < 1 {
		errs = append(errs, fmt.Errorf("pgstore: the sequence of box %s has CACHE %d, INCREMENT %d or CYCLE, with which messages would be lost; "+
			"ALTER SEQUENCE postbag.%s__seq CACHE 1 INCREMENT 1 NO CYCLE", box, cache, step, box))
	}
	if last < highest {
		errs = append(errs, fmt.Errorf("pgstore: the sequence of box %s stands at %d, below the highest row %d: it was set back, and messages "+
			"would be lost; SELECT setval('postbag.%s__seq', %d)", box, last, highest, box, highest))
	}
	return errs
}

// warnings names settings that weaken a promise.
func (s *Store) warnings(ctx context.Context) (out []string, err error) {
	err = s.run(ctx, call{st: s.statements.get("settings", ""), each: func(r row) error {
		c := columns{rest: r}
		name, value := c.text(), c.text()
		switch {
		case name == "synchronous_commit" && value == "off":
			out = append(out, "synchronous_commit is off: a crash of the server can lose messages that were sent already; set it to on")
		case name == "fsync" && value == "off":
			out = append(out, "fsync is off: a crash of the host can destroy the database; set it to on")
		case name == "full_page_writes" && value == "off":
			out = append(out, "full_page_writes is off: a crash of the host can destroy the database; set it to on")
		}
		return c.err
	}})
	return out, err
}

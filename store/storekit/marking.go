package storekit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/postbag/postbag/store"
)

// Marking is one call of [store.Inbox.Mark] at work. It is not safe for concurrent use.
type Marking struct {
	// Marks are those of the call, each id once, in the order of their bytes: who locks in
	// this order waits in no circle. Of several with one id it is the first of the call.
	Marks []store.Mark

	call  []store.Mark
	order []int // the marks of the call, by id
	begin []int // where in order each of Marks begins
	fresh []bool
}

// NewMarking checks the arguments of a call of Mark, and prepares it. Errors are those of
// the arguments, and ErrOtherBytes if two marks of the call have one id and other bytes.
func NewMarking(consumer string, marks []store.Mark) (*Marking, error) {
	if err := CheckConsumer(consumer); err != nil {
		return nil, err
	}
	if len(marks) > store.MaxMarks {
		return nil, fmt.Errorf("%d messages are marked in one call; mark %d at most", len(marks), store.MaxMarks)
	}
	m := &Marking{call: marks, order: make([]int, len(marks)), fresh: make([]bool, len(marks))}
	for i := range marks {
		if n := len(marks[i].ID); n == 0 || n > store.MaxMessageID {
			return nil, fmt.Errorf("the id of message %d of %d has %d bytes; give one of 1 to %d bytes", i+1, len(marks), n, store.MaxMessageID)
		}
		m.order[i] = i
	}
	slices.SortFunc(m.order, func(a, b int) int {
		return cmp.Or(strings.Compare(string(marks[a].ID), string(marks[b].ID)), a-b)
	})
	m.Marks, m.begin = make([]store.Mark, 0, len(marks)), make([]int, 0, len(marks))
	for at, i := range m.order {
		if n := len(m.Marks) - 1; n >= 0 && m.Marks[n].ID == marks[i].ID {
			if err := same(marks[i], m.Marks[n].Sum[:]); err != nil {
				return nil, err
			}
			continue
		}
		m.Marks, m.begin = append(m.Marks, marks[i]), append(m.begin, at)
	}
	return m, nil
}

// CheckConsumer refuses a name that no consumer can have. Names are bytes here; package
// inbox takes text only.
func CheckConsumer(name string) error {
	if n := len(name); n == 0 || n > store.MaxConsumer {
		return fmt.Errorf("the name of the consumer has %d bytes; give one of 1 to %d bytes", n, store.MaxConsumer)
	}
	return nil
}

// Fresh notes that the mark at i of Marks is new.
func (m *Marking) Fresh(i int) { m.fresh[m.order[m.begin[i]]] = true }

// IsFresh says whether Fresh was called for i.
func (m *Marking) IsFresh(i int) bool { return m.fresh[m.order[m.begin[i]]] }

// Find returns where an id is in Marks, and whether it is.
func (m *Marking) Find(id []byte) (int, bool) {
	return slices.BinarySearchFunc(m.Marks, id, func(mark store.Mark, id []byte) int {
		return strings.Compare(string(mark.ID), string(id))
	})
}

// Compares says whether Repeated compares anything for the mark at i of Marks: it is not fresh, and a mark of
// its id has a sum.
func (m *Marking) Compares(i int) bool {
	has := func(k int) bool { return m.call[k].Sum != store.Sum{} }
	return !m.IsFresh(i) && slices.ContainsFunc(m.group(i), has)
}

// group are the marks of the call that have the id of the one at i of Marks.
func (m *Marking) group(i int) []int {
	end := len(m.order)
	if i+1 < len(m.begin) {
		end = m.begin[i+1]
	}
	return m.order[m.begin[i]:end]
}

// Repeated compares all marks of the call that have the id of the one at i of Marks with the sum that was recorded with
// it; empty: none was. It returns ErrOtherBytes if both are there and differ.
func (m *Marking) Repeated(i int, recorded []byte) error {
	for _, k := range m.group(i) {
		if err := same(m.call[k], recorded); err != nil {
			return err
		}
	}
	return nil
}

// Answer returns what Mark returns: for each mark of the call whether it is new.
func (m *Marking) Answer() []bool { return m.fresh }

// same returns ErrOtherBytes if a mark has another sum than the recorded one.
func same(mark store.Mark, recorded []byte) error {
	var none store.Sum
	if len(recorded) == 0 || mark.Sum == none || bytes.Equal(recorded, none[:]) || bytes.Equal(recorded, mark.Sum[:]) {
		return nil
	}
	return fmt.Errorf("message %s: %w", Printable(string(mark.ID)), store.ErrOtherBytes)
}

// errUnseen: a mark was neither written nor found.
var errUnseen = errors.New("marks were written and not found again; somebody has deleted rows of postbag__once: roll the transaction back and run it again")

// Seen returns an error if of some marks that were to be read so many came.
func Seen(want, came int) error {
	if came == want {
		return nil
	}
	return fmt.Errorf("%d of %d %w", want-came, want, errUnseen)
}

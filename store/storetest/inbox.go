package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/postbag/postbag/store"
)

// inboxCases are about marks of what a consumer applied.
func inboxCases() []scenario {
	return []scenario{
		{name: "A mark is fresh once: not again in its transaction, nor in a later one", run: markTwice},
		{name: "A mark that was rolled back is fresh again", run: markRolledBack},
		{name: "A mark that a savepoint rolled back is fresh again", needs: savepoints, run: markSavepoint},
		{name: "Several calls of Mark in one transaction are committed together", run: markSeveral},
		{name: "Of marks of one call with one id the first is fresh", run: markRepeats},
		{name: "The answers of a call are in the order of its marks, fresh and known mixed", run: markMixed},
		{name: "Ten thousand marks go in one call, and are known in the next", run: markMost},
		{name: "Ids of messages are compared as bytes", run: markIDs},
		{name: "Ids of one byte, and ids as long as they may be, are each their own", run: markLengths},
		{name: "Consumers are apart, and their names are compared as bytes", run: markConsumers},
		{name: "The same sum is a known mark, another sum is ErrOtherBytes", run: markSums},
		{name: "A zero sum compares nothing, on either side", run: markZeroSums},
		{name: "Two sums for one id in one call are ErrOtherBytes", run: markSumsInOneCall},
		{name: "Mark with a context that has ended marks nothing", run: markEnded},
		{name: "Mark keeps nothing of what it was given", run: markKeepsNothing},
	}
}

// consumer is the one that most cases of inboxes work with.
const consumer = "billing"

// needInbox skips the case where there is no inbox.
func (e *env) needInbox() {
	e.Helper()
	if e.Inbox == nil {
		e.Skip("the store is no inbox for the transactions of the harness")
	}
}

// marksOf makes marks without sums.
func marksOf(ids ...store.MessageID) []store.Mark {
	marks := make([]store.Mark, len(ids))
	for i, id := range ids {
		marks[i].ID = id
	}
	return marks
}

// mark marks in tx, and must succeed.
func (e *env) mark(tx any, consumer string, marks ...store.Mark) []bool {
	e.Helper()
	fresh, err := e.Inbox.Mark(e.ctx, tx, consumer, marks)
	e.check(err, "mark")
	if len(fresh) != len(marks) {
		e.Fatalf("%d marks have %d answers", len(marks), len(fresh))
	}
	return fresh
}

// marked marks ids in tx, and holds the answers to what is wanted of all of them.
func (e *env) marked(tx any, want bool, ids ...store.MessageID) {
	e.Helper()
	fresh := e.mark(tx, consumer, marksOf(ids...)...)
	for i, id := range ids {
		if fresh[i] != want {
			e.Errorf("id %.40q is fresh: %v, want %v", id, fresh[i], want)
		}
	}
}

// commitMarks marks ids in a transaction of its own, and commits.
func (e *env) commitMarks(want bool, ids ...store.MessageID) {
	e.Helper()
	tx := e.begin()
	e.marked(tx, want, ids...)
	e.commit(tx)
}

func markTwice(e *env) {
	e.needInbox()
	tx := e.begin()
	e.marked(tx, true, "order-1")
	e.marked(tx, false, "order-1")
	e.commit(tx)
	e.commitMarks(false, "order-1")
	e.commitMarks(false, "order-1")
	e.commitMarks(true, "order-2")
}

func markRolledBack(e *env) {
	e.needInbox()
	for range 2 {
		tx := e.begin()
		e.marked(tx, true, "a", "b")
		e.rollback(tx)
	}
	e.commitMarks(true, "a")
	tx := e.begin()
	e.marked(tx, false, "a")
	e.marked(tx, true, "b")
	e.rollback(tx)
	e.commitMarks(false, "a")
	e.commitMarks(true, "b")
}

func markSavepoint(e *env) {
	e.needInbox()
	tx := e.begin()
	e.marked(tx, true, "before")
	e.check(e.Savepoint(e.ctx, tx, "s"), "savepoint")
	e.marked(tx, true, "after", "twice")
	e.marked(tx, false, "before")
	e.check(e.RollbackTo(e.ctx, tx, "s"), "roll back to the savepoint")
	e.marked(tx, true, "twice")
	e.marked(tx, false, "before")
	e.commit(tx)
	e.commitMarks(false, "before", "twice")
	e.commitMarks(true, "after")
}

func markSeveral(e *env) {
	e.needInbox()
	tx := e.begin()
	for i := range 20 {
		e.marked(tx, true, store.MessageID(fmt.Sprint("m", i)), store.MessageID(fmt.Sprint("n", i)))
	}
	e.commit(tx)
	for i := range 20 {
		e.commitMarks(false, store.MessageID(fmt.Sprint("n", i)), store.MessageID(fmt.Sprint("m", i)))
	}
}

// answers holds the answers for ids to what is wanted of each.
func (e *env) answers(tx any, ids []store.MessageID, want []bool) {
	e.Helper()
	if got := e.mark(tx, consumer, marksOf(ids...)...); !slices.Equal(got, want) {
		e.Errorf("the marks %q are fresh: %v, want %v", ids, got, want)
	}
}

func markRepeats(e *env) {
	e.needInbox()
	tx := e.begin()
	e.answers(tx, []store.MessageID{"b", "a", "b", "a", "c", "b"}, []bool{true, true, false, false, true, false})
	e.answers(tx, []store.MessageID{"d", "d", "a"}, []bool{true, false, false})
	e.commit(tx)
	tx = e.begin()
	e.answers(tx, []store.MessageID{"a", "e", "a", "e"}, []bool{false, true, false, false})
	e.commit(tx)
}

func markMixed(e *env) {
	e.needInbox()
	e.commitMarks(true, "1", "3", "9")
	tx := e.begin()
	e.marked(tx, true, "7")
	e.answers(tx, []store.MessageID{"9", "6", "8", "7", "2", "3", "1"}, []bool{false, true, true, false, true, false, false})
	e.commit(tx)
	e.commitMarks(false, "1", "2", "3", "6", "7", "8", "9")
	e.commitMarks(true, "5")
}

// numbered makes n ids of many lengths.
func numbered(prefix string, n int) []store.MessageID {
	ids := make([]store.MessageID, n)
	for i := range ids {
		id := fmt.Sprintf("%s%06d", prefix, i*7919%n)
		ids[i] = store.MessageID(id + strings.Repeat("x", i%(store.MaxMessageID-len(id)+1)))
	}
	return ids
}

func markMost(e *env) {
	e.needInbox()
	ids := numbered("m", store.MaxMarks)
	e.commitMarks(true, ids...)
	half := append(slices.Clone(ids[:store.MaxMarks/2]), numbered("other", store.MaxMarks/2)...)
	tx := e.begin()
	for i, fresh := range e.mark(tx, consumer, marksOf(half...)...) {
		if fresh != (i >= store.MaxMarks/2) {
			e.Fatalf("mark %d of %d, of which the second half is new, is fresh: %v", i, len(half), fresh)
		}
	}
	e.commit(tx)
	e.commitMarks(false, ids...)
}

// alike are ids that differ only as bytes.
func alike() []store.MessageID {
	return []store.MessageID{
		"a", "A", "a ", " a", "a  ", "a\t", "a\n", "a\x00", "a\x00\x00", "\x00a", "\x00", " ", "\t", "\n", "0", "00", "1", "01", "1.0", "1e0",
		"é", "e\u0301", "E\u0301", "É", "e", "ß", "ss", "SS", "ﬀ", "ff", "ı", "i", "I", "İ", "Å", "A\u030a", "\u212b", "ﾃ", "テ", "て",
		"\u200b", "a\u200b", "\u00ad", "\ufeff", "\ufeffa", "\xff", "\xff\xfe", "\xc3", "\xc3\x28", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\ufffd", "?", "🙂", "🙃",
		"%", "_", "a%", "a_", "'", "''", "\"", "`", "\\", "\\\\", "\\x61", "\\141", "0x61", "x'61'", "a\\0", "NULL", "null", "Null", "{}", "[]", "{a}", "true",
		"abc", "ab\x00c", "ab\x00d", "ab",
	}
}

func markIDs(e *env) {
	e.needInbox()
	ids := alike()
	e.commitMarks(true, ids...)
	e.commitMarks(false, ids...)
	for _, id := range ids {
		e.commitMarks(true, id+"\x00z")
	}
}

func markLengths(e *env) {
	e.needInbox()
	var ids []store.MessageID
	for b := range 256 {
		ids = append(ids, store.MessageID([]byte{byte(b)}))
	}
	long := strings.Repeat("x", store.MaxMessageID-1)
	for _, last := range []string{"", "x", "y", "X", " ", "\x00", "\xff"} {
		ids = append(ids, store.MessageID(long+last))
	}
	ids = append(ids, store.MessageID(strings.Repeat("\xff", store.MaxMessageID)), store.MessageID(strings.Repeat("\x00", store.MaxMessageID)),
		store.MessageID(strings.Repeat("é", store.MaxMessageID/2)), store.MessageID(strings.Repeat(" ", store.MaxMessageID)))
	e.commitMarks(true, ids...)
	e.commitMarks(false, ids...)
}

func markConsumers(e *env) {
	e.needInbox()
	long := strings.Repeat("c", store.MaxConsumer-1)
	names := []string{
		"billing", "Billing", "BILLING", "billing ", " billing", "bílling", "bi\u0301lling", "bıllıng", "billing%", "b_lling", "b'illing", `b\illing`, "б",
		"straße", "strasse", "0", "00", long, long + "c", long + "d", strings.Repeat("é", store.MaxConsumer/2),
	}
	for _, want := range []bool{true, false} {
		for _, name := range names {
			tx := e.begin()
			if fresh := e.mark(tx, name, store.Mark{ID: "m"}); fresh[0] != want {
				e.Errorf("the mark of consumer %q is fresh: %v, want %v", name, fresh[0], want)
			}
			e.commit(tx)
		}
	}
	tx := e.begin()
	first := e.mark(tx, "ab", store.Mark{ID: "c"})
	if second := e.mark(tx, "a", store.Mark{ID: "bc"}); !first[0] || !second[0] {
		e.Error("name and id of a mark run into each other")
	}
	e.rollback(tx)
}

// sumOf is a sum that is not zero.
func sumOf(b byte) store.Sum { return store.Sum{b, 31: b} }

// otherBytes marks, and must get ErrOtherBytes, which names consumer and id.
func (e *env) otherBytes(what string, id store.MessageID, marks ...store.Mark) {
	e.Helper()
	tx := e.begin()
	_, err := e.Inbox.Mark(e.ctx, tx, consumer, marks)
	_ = e.Rollback(e.ctx, tx) // a database may have done it
	switch {
	case !errors.Is(err, store.ErrOtherBytes):
		e.Errorf("%s: %v, not ErrOtherBytes", what, err)
	case !strings.Contains(err.Error(), consumer) || !strings.Contains(err.Error(), string(id)):
		e.Errorf("%s: the error does not name consumer and id: %v", what, err)
	}
}

func markSums(e *env) {
	e.needInbox()
	tx := e.begin()
	e.mark(tx, consumer, store.Mark{ID: "order-17", Sum: sumOf(1)}, store.Mark{ID: "order-18", Sum: store.Sum{31: 1}})
	e.commit(tx)
	e.otherBytes("another sum", "order-17", store.Mark{ID: "order-17", Sum: sumOf(2)})
	e.otherBytes("another sum in its last byte", "order-18", store.Mark{ID: "order-18", Sum: store.Sum{31: 2}})
	e.otherBytes("another sum behind a mark of the id that has none", "order-17", store.Mark{ID: "order-17"}, store.Mark{ID: "order-17", Sum: sumOf(2)})
	e.otherBytes("another sum among new ones", "order-17",
		store.Mark{ID: "new", Sum: sumOf(2)}, store.Mark{ID: "order-17", Sum: sumOf(2)}, store.Mark{ID: "order-18", Sum: store.Sum{31: 1}})
	tx = e.begin()
	got := e.mark(tx, consumer, store.Mark{ID: "order-18", Sum: store.Sum{31: 1}}, store.Mark{ID: "new", Sum: sumOf(3)}, store.Mark{ID: "order-17", Sum: sumOf(1)})
	if !slices.Equal(got, []bool{false, true, false}) {
		e.Errorf("with the sums that were recorded, and a new id, the marks are fresh: %v", got)
	}
	if got := e.mark(tx, "shipping", store.Mark{ID: "order-17", Sum: sumOf(2)}); !got[0] {
		e.Error("the sum of another consumer counts")
	}
	e.commit(tx)
}

func markZeroSums(e *env) {
	e.needInbox()
	tx := e.begin()
	e.mark(tx, consumer, store.Mark{ID: "with", Sum: sumOf(1)}, store.Mark{ID: "without"}, store.Mark{ID: "neither"})
	e.commit(tx)
	tx = e.begin()
	got := e.mark(tx, consumer, store.Mark{ID: "with"}, store.Mark{ID: "without", Sum: sumOf(9)}, store.Mark{ID: "neither"})
	if slices.Contains(got, true) {
		e.Errorf("known ids are fresh when sums are missing: %v", got)
	}
	e.commit(tx)
	e.otherBytes("another sum after a mark without one", "with", store.Mark{ID: "with", Sum: sumOf(2)})
}

func markSumsInOneCall(e *env) {
	e.needInbox()
	e.otherBytes("two sums in a call", "order-7", store.Mark{ID: "order-7", Sum: sumOf(1)}, store.Mark{ID: "b"}, store.Mark{ID: "order-7", Sum: sumOf(2)})
	tx := e.begin()
	got := e.mark(tx, consumer, store.Mark{ID: "order-7", Sum: sumOf(1)}, store.Mark{ID: "order-7", Sum: sumOf(1)}, store.Mark{ID: "order-7"})
	if !slices.Equal(got, []bool{true, false, false}) {
		e.Errorf("three marks of one id and one sum are fresh: %v", got)
	}
	e.rollback(tx)
}

func markEnded(e *env) {
	e.needInbox()
	tx := e.begin()
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	if _, err := e.Inbox.Mark(ctx, tx, consumer, marksOf("a")); !errors.Is(err, ctx.Err()) {
		e.Errorf("mark with a context that has ended: %v, not %v", err, ctx.Err())
	}
	_ = e.Rollback(e.ctx, tx) // a driver may have done it
	e.commitMarks(true, "a")
}

func markKeepsNothing(e *env) {
	e.needInbox()
	marks := []store.Mark{{ID: "b", Sum: sumOf(2)}, {ID: "a", Sum: sumOf(1)}}
	given := slices.Clone(marks)
	tx := e.begin()
	fresh := e.mark(tx, consumer, marks...)
	if !slices.Equal(marks, given) {
		e.Errorf("Mark changed the marks it was given: %v", marks)
	}
	marks[0], marks[1] = store.Mark{ID: "x"}, store.Mark{ID: "y"}
	clear(fresh)
	e.commit(tx)
	e.commitMarks(false, "a", "b")
	e.commitMarks(true, "x", "y")
}

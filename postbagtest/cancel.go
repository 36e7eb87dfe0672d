package postbagtest

import (
	"context"
	"slices"
	"time"

	"github.com/postbag/postbag"
)

// Cancel implements postbag.Appender: it forgets a message of box whose
// NotBefore is still to come, when the InTx around it commits, or at once
// outside of one.
func (r *Recorder[Tx]) Cancel(ctx context.Context, _ Tx, box string, id postbag.ID) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.scope(ctx)
	if s != nil && s.ended {
		return false, errEnded
	}
	wanted := func(rec Record) bool { return rec.Box == box && rec.ID == id && rec.NotBefore.After(time.Now()) }
	if s == nil {
		return remove(&r.records, wanted), nil
	}
	if remove(&s.added, wanted) {
		return true, nil
	}
	at := slices.IndexFunc(r.records, wanted)
	if at < 0 || slices.ContainsFunc(s.canceled, r.records[at].same) {
		return false, nil
	}
	s.canceled = append(s.canceled, r.records[at])
	return true, nil
}

// remove takes what is wanted out of list and says whether it was there.
func remove(list *[]Record, wanted func(Record) bool) bool {
	before := len(*list)
	*list = slices.DeleteFunc(*list, wanted)
	return len(*list) < before
}

func (rec Record) same(other Record) bool { return rec.Box == other.Box && rec.ID == other.ID }

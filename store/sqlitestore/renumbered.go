package sqlitestore

import (
	"context"
	"fmt"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
)

// sameLogs returns ErrMoved if a log is not the one that the positions of the
// requests were read in. It looks after the pages were read: what was read of a log
// that was emptied and filled again before is thrown away.
func (s *Store) sameLogs(ctx context.Context, requests []store.Request) error {
	highest := make(map[string]place, 1)
	for i := range requests {
		for _, p := range []store.Position{requests[i].From, requests[i].Until} { // what is to end in the log that was has no end
			at, err := placeOf(p)
			if err == nil && at.seq > highest[requests[i].Box].seq { // else it is the batch's fault
				highest[requests[i].Box] = at
			}
		}
	}
	for box, at := range highest {
		same, err := sameLog(s.querier(ctx), box, at)
		if err == nil && !same {
			err = fmt.Errorf("the log of box %s was emptied and its numbering begun again since the position %d was read: %w",
				box, at.seq, store.ErrMoved)
		}
		if err != nil {
			return translateError("read box "+box, err)
		}
	}
	return nil
}

// sameLog says whether the log of a box can be the one in which a place was. A log
// is numbered without holes, so that one that was emptied and numbered again either
// has not come that far, or has another row there. A row that is missing was
// deleted, by retention or by hand, and says nothing.
func sameLog(query sqlkit.Querier, box string, at place) (bool, error) {
	last, err := lastSeq(query, box)
	if err != nil || last < at.seq {
		return false, err
	}
	if at.mark == 0 {
		return true, nil
	}
	now, err := placeAt(query, box, at.seq)
	return now.mark == 0 || now.mark == at.mark, err
}

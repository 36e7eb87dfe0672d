package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/proof/history"
)

// A producer that is killed leaves transactions of which it did not write down what became of them: it may have been killed before
// their COMMIT, after it, or while the answer was on its way. A journal names each transaction before it begins. The process that
// takes the place reads the journals and histories of those before it, asks the database for what they left open, and writes that
// down as its own finding.

// undertaking is a line of a journal.
type undertaking struct {
	Name    string        `json:"name"`
	Cancels *postbag.ID   `json:"cancels,omitempty"` // the scheduled message that it takes back
	Begin   time.Duration `json:"begin"`
}

// journal is the file in which a producer names its transactions.
type journal struct{ file *os.File }

func newJournal(job *Job) (*journal, error) {
	f, err := os.OpenFile(journalOf(job.History), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	return &journal{file: f}, err
}

// journalOf is the journal that belongs to a history.
func journalOf(history string) string { return strings.TrimSuffix(history, ".events") + ".journal" }

// begin names a transaction, in one write: what has returned outlives the process.
func (j *journal) begin(u undertaking) error {
	line, err := json.Marshal(u)
	if err != nil {
		return err
	}
	_, err = j.file.Write(append(line, '\n'))
	return err
}

func (j *journal) close() error { return j.file.Close() }

// readJournal reads one to its last whole line. None is empty: its process ended before it could begin anything.
func readJournal(name string) (all []undertaking, err error) {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	for lines := bufio.NewReader(f); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return all, nil // its end, or a line that is torn
		}
		var u undertaking
		if err := json.Unmarshal(line, &u); err != nil {
			return nil, fmt.Errorf("chaos: %s: %w", name, err)
		}
		all = append(all, u)
	}
}

// inheritance is what those before left open.
func (p *producer) inheritance() (open []undertaking, err error) {
	known := newTally()
	var begun []undertaking
	before := *p.job
	for before.Life = range p.job.Life {
		name := historyOf(filepath.Dir(p.job.History), &before)
		if _, err := history.ReadFile(name, known); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		some, err := readJournal(journalOf(name))
		if err != nil {
			return nil, err
		}
		begun = append(begun, some...)
	}
	for _, u := range begun {
		if known.fates[txOf(u.Name)].Fate == history.Unknown {
			open = append(open, u)
		}
	}
	return open, nil
}

// inherit finds out what became of what those before left open. It goes on when the run ends, for a while.
func (p *producer) inherit(ctx context.Context) error {
	open, err := p.inheritance()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 40*time.Second)
	defer cancel()
	for _, u := range open {
		fate := p.find(ctx, u.Name)
		end := p.events.clock.Now()
		p.events.End(history.Outcome{Tx: txOf(u.Name), Fate: fate, Begin: u.Begin, End: end})
		if u.Cancels != nil && fate != history.RolledBack {
			// Whether it could take the message back, only the one that was killed had heard.
			p.events.Order(history.Command{ID: history.ID(*u.Cancels), What: history.Cancel, Unknown: true, Begin: u.Begin, End: end})
		}
	}
	return nil
}

// find asks the database what became of a transaction until it answers or ctx ends.
func (p *producer) find(ctx context.Context, name string) history.Fate {
	for {
		stands, err := p.out.Stands(ctx, name)
		switch {
		case err == nil && stands:
			return history.Committed
		case err == nil:
			return history.RolledBack
		case Pause(ctx, 50*time.Millisecond) != nil:
			return history.Unknown
		}
	}
}

package pgstore

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"strings"
	"sync"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit/snapshots"
	"github.com/postbag/postbag/store/storekit"
)

// page collects the rows of one read. Texts and payloads lie in one piece of
// memory each, so that a message costs no allocation of its own but its headers.
type page struct {
	*scratch
	payload []byte
	bytes   int // of all that the rows have
	most    int // ends the page when reached
	facts   facts
	// crossed: the row that crossed most is in. omitted: a row came without its
	// payload, since that or its headers were too large, and it and what follows are not in.
	crossed, omitted bool
	// foreign is set when a row's stored slot is not its key's, in a box by hash: byNumber says
	// that it is by number.
	foreign, byNumber bool
}

// scratch is what a page needs only while it is read.
type scratch struct {
	rows []pageRow
	text []byte
}

var scratches = sync.Pool{New: func() any { return &scratch{} }}

// pageRow is a row whose texts and payload are where the ends say.
type pageRow struct {
	seq, at                           int64
	hash                              uint64
	id                                [16]byte
	topic, key, shardKey, typ, header int // ends in text
	payload                           int // end in the payloads
	slot                              int16
	keep                              bool
	large                             []byte // a payload that has memory of its own
}

// largePayload is how many bytes deserve an allocation of their own.
const largePayload = 64 << 10

func newPage(most, payload int) *page {
	sc := scratches.Get().(*scratch) //nolint:errcheck,forcetypeassert // nothing else is put there
	sc.rows, sc.text = sc.rows[:0], sc.text[:0]
	return &page{scratch: sc, most: most, payload: make([]byte, 0, payload)}
}

// reset empties the page.
func (p *page) reset() {
	p.rows, p.text, p.payload = p.rows[:0], p.text[:0], p.payload[:0]
	p.bytes, p.facts, p.crossed, p.omitted = 0, facts{}, false, false
}

// take reads a row: a message, or the facts.
func (p *page) take(r row) error {
	if len(r) != 11 {
		return errShortColumn
	}
	if r[0] == nil {
		return p.facts.read(r[10])
	}
	if p.crossed || p.omitted {
		return nil
	}
	if len(r[0]) != 8 || len(r[2]) != 16 || len(r[3]) != 8 || len(r[4]) != 1 {
		return errShortColumn
	}
	keep := r[4][0] != 0
	if keep && r[10] == nil {
		p.omitted = true
		return nil
	}
	w := pageRow{seq: int64(binary.BigEndian.Uint64(r[0])), at: int64(binary.BigEndian.Uint64(r[3])), id: [16]byte(r[2]), keep: keep}
	p.place(&w, r)
	p.text = append(p.text, r[5]...)
	w.topic = len(p.text)
	p.text = append(p.text, r[6]...)
	w.key = len(p.text)
	p.text = append(p.text, r[7]...)
	w.shardKey = len(p.text)
	p.text = append(p.text, r[8]...)
	w.typ = len(p.text)
	p.text = append(p.text, r[9]...)
	w.header = len(p.text)
	if len(r[10]) >= largePayload {
		w.large = append([]byte(nil), r[10]...)
	} else {
		p.payload = append(p.payload, r[10]...)
	}
	w.payload = len(p.payload)
	for _, column := range r[5:11] {
		p.bytes += len(column)
	}
	p.crossed = p.bytes >= p.most
	p.rows = append(p.rows, w)
	return nil
}

// place finds a row's slot and hash. One sum serves for both, as a rule.
func (p *page) place(w *pageRow, r row) {
	stored := -1
	if len(r[1]) == 2 {
		stored = int(int16(binary.BigEndian.Uint16(r[1]))) - 1
	}
	key, shardKey := r[6], r[7]
	if !w.keep { // its key did not come
		w.slot = int16(max(stored, 0))
		return
	}
	var sum [32]byte
	switch {
	case len(key) > 0:
		sum = sha256.Sum256(key)
		w.hash = max(binary.BigEndian.Uint64(sum[:]), 1)
	case stored < 0 && len(shardKey) == 0:
		sum = sha256.Sum256(w.id[:])
	}
	if len(shardKey) > 0 && stored < 0 {
		sum = sha256.Sum256(shardKey)
	}
	slot := int(sum[0])<<4 | int(sum[1])>>4
	if !p.byNumber && stored >= 0 && len(key) > 0 && len(shardKey) == 0 && stored != slot {
		p.foreign = true
	}
	if stored >= 0 {
		slot = stored
	}
	w.slot = int16(slot)
}

// records turns the rows into what their readers get, as the filter lets them, and gives the scratch back.
func (p *page) records(box string, f *storekit.Filter) []store.Record {
	defer p.release()
	if len(p.rows) == 0 {
		return nil
	}
	text := string(p.text)
	out := make([]store.Record, len(p.rows))
	textFrom, payloadFrom, kept := 0, 0, 0
	for i := range p.rows {
		w := &p.rows[i]
		m := &out[i]
		m.Seq, m.Slot, m.Hash, m.At = w.seq, int(w.slot), w.hash, instant(w.at)
		m.ID = postbag.ID(w.id)
		m.Filtered = !w.keep
		if w.keep {
			p.fill(m, w, box, text, textFrom, payloadFrom)
			f.Judge(m)
		}
		if !m.Filtered {
			kept += w.header - textFrom + w.payload - payloadFrom
		}
		textFrom, payloadFrom = w.header, w.payload
	}
	if f.Narrows() && 2*kept < len(text)+len(p.payload) {
		p.part(out)
	}
	return out
}

// part gives what is taken memory of its own, so that it does not keep that of the whole page
// while it waits: most of that is of what was refused.
func (p *page) part(records []store.Record) {
	for i := range records {
		m := &records[i]
		if m.Filtered {
			continue
		}
		if p.rows[i].large == nil {
			m.Payload = bytes.Clone(m.Payload)
		}
		m.Topic, m.Key, m.ShardKey, m.Type = strings.Clone(m.Topic), strings.Clone(m.Key), strings.Clone(m.ShardKey), strings.Clone(m.Type)
		if m.Headers == nil {
			continue
		}
		headers := make(map[string]string, len(m.Headers))
		for name, value := range m.Headers {
			headers[strings.Clone(name)] = strings.Clone(value)
		}
		m.Headers = headers
	}
}

// fill gives a record what its row has in the page's texts and payloads, from where the row before ended.
func (p *page) fill(m *store.Record, w *pageRow, box, text string, textFrom, payloadFrom int) {
	m.Topic = text[textFrom:w.topic]
	m.Key = text[w.topic:w.key]
	m.ShardKey = text[w.key:w.shardKey]
	m.Type = text[w.shardKey:w.typ]
	m.Payload = p.payload[payloadFrom:w.payload:w.payload]
	if m.Topic == "" {
		m.Topic = box
	}
	if w.large != nil {
		m.Payload = w.large
	}
	if w.header > w.typ {
		m.HeaderBytes = w.header - w.typ
		m.Headers, m.Err = readHeaders(text[w.typ:w.header])
	}
}

// readHeaders reads what a row has as headers. What its error says is stored with the message, and names no value of it.
func readHeaders(text string) (map[string]string, error) {
	headers, err := storekit.ParseHeaders(text)
	if err != nil {
		return nil, errHeaders
	}
	return headers, store.HeaderFault(headers)
}

var errHeaders = errors.New("its headers are no JSON object that can be read, or lie too deep; correct the row, or discard the message")

func (p *page) release() {
	for i := range p.rows {
		p.rows[i].large = nil
	}
	if cap(p.text) <= 8<<20 {
		scratches.Put(p.scratch)
	}
}

// facts is what every turn brings besides messages; query/read.sql says how.
type facts struct {
	last, first   int64
	numbering     int64
	below, missed witness // what lies up to the position's bound, and up to where a poll begins
	life, started int64
	epoch         int64
	due           int64 // microseconds; negative: none
	commands      bool
	recovering    bool
	snapshot      snapshots.Snapshot
	come          bool
}

// read takes the facts apart. Those that are asked for without a box begin at
// the life.
func (f *facts) read(b []byte) error {
	if len(b) < boxSize+stateSize {
		return errShortColumn
	}
	at := func(i int) int64 { return int64(binary.BigEndian.Uint64(b[8*i:])) }
	f.last, f.numbering, f.first = at(0), at(1), at(6)
	f.below, f.missed = witness{at(2), uint64(at(3))}, witness{at(4), uint64(at(5))}
	if err := f.readState(b[boxSize:]); err != nil {
		return err
	}
	var err error
	f.snapshot, err = snapshots.Parse(b[boxSize+stateSize:])
	return err
}

// boxSize is how many bytes the facts have that are of a box.
const boxSize = 7 * 8

// stateSize is how many bytes the facts have that are no box's.
const stateSize = 4*8 + 2

func (f *facts) readState(b []byte) error {
	if len(b) < stateSize {
		return errShortColumn
	}
	at := func(i int) int64 { return int64(binary.BigEndian.Uint64(b[8*i:])) }
	f.life, f.started, f.epoch, f.due = at(0), at(1), at(2), at(3)
	f.commands, f.recovering = b[32] != 0, b[33] != 0
	f.come = true
	return nil
}

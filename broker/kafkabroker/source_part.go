package kafkabroker

import (
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/source"
)

// part is a partition that this member has. The source's lock guards it.
type part struct {
	name   source.Partition
	topic  string
	number int32
	log    string // Place.Source

	epoch   uint64 // of the assignment, by the tracker
	told    bool   // a Fetch has returned a message of this assignment
	reached int64  // no offset before it is delivered any more

	queue []*kgo.Record // what was read and not returned
	bytes int

	paused bool      // by the consumer
	hold   time.Time // until when it was released
	broken *fault    // it cannot be read
	full   bool      // its window was full when Fetch came for more
	rests  bool      // the client was told to read nothing of it
	seek   bool      // the client must be moved to position first; what it reads is of before
	target int64

	position int64   // that was taken of the tracker last, -1 for not known
	stamps   []stamp // of what was delivered from position on
	leader   int32   // epoch of the message before position, -1 for not known
}

// stamp is what is remembered of a message that was delivered.
type stamp struct {
	offset int64
	milli  int64
	leader int32
}

// resting says whether nothing of the partition is to be read or returned now.
func (p *part) resting(now time.Time, room int) bool {
	return p.paused || p.broken != nil || p.hold.After(now) || room <= 0
}

// drop forgets what was read and not returned.
func (p *part) drop() {
	clear(p.queue)
	p.queue, p.bytes = nil, 0
}

// pop takes the first record of the queue.
func (p *part) pop() {
	p.bytes -= recordBytes(p.queue[0])
	p.queue[0] = nil
	if p.queue = p.queue[1:]; len(p.queue) == 0 {
		p.queue = nil
	}
}

// moveTo has the client go on at an offset.
func (p *part) moveTo(offset int64) {
	p.drop()
	p.seek, p.target, p.reached = true, offset, offset
}

// delivered notes that a record was handed out, or passed.
func (p *part) delivered(r *kgo.Record) {
	p.reached = r.Offset + 1
	p.stamps = append(p.stamps, stamp{offset: r.Offset, milli: r.Timestamp.UnixMilli(), leader: r.LeaderEpoch})
}

// reachedPosition notes the position, and forgets what is before it.
func (p *part) reachedPosition(next int64) {
	i, _ := slices.BinarySearchFunc(p.stamps, next, func(s stamp, next int64) int { return int(s.offset - next) })
	if i > 0 {
		p.leader = p.stamps[i-1].leader
		p.stamps = slices.Delete(p.stamps, 0, i)
	}
	p.position = next
}

// lag is how far it is behind.
func (p *part) lag(start, end int64, now time.Time) source.Lag {
	position := max(p.position, start)
	l := source.Lag{Partition: p.name, Messages: max(end-position, 0), Age: -1}
	switch {
	case l.Messages == 0:
		l.Age = 0
	case len(p.stamps) > 0:
		l.Age = max(now.Sub(time.UnixMilli(p.stamps[0].milli)), 0)
	case len(p.queue) > 0:
		l.Age = max(now.Sub(p.queue[0].Timestamp), 0)
	}
	return l
}

// names are those of the partitions, sorted. The caller holds the lock.
func (s *Source) names() []source.Partition { return slices.Sorted(maps.Keys(s.parts)) }

// begin begins an assignment at an offset, which is negative if the first message decides.
// It ends the one before. The caller holds the lock.
func (s *Source) begin(topic string, number int32, at int64, leader int32) *part {
	name := partitionName(topic, number)
	s.lose(name)
	p := &part{name: name, topic: topic, number: number, log: topic, position: at, leader: leader, reached: max(at, 0)}
	p.epoch = s.tracker.Assign(name, uint64(max(at, 0)))
	s.parts[name] = p
	return p
}

// lose ends an assignment. The caller holds the lock.
func (s *Source) lose(name source.Partition) {
	p := s.parts[name]
	if p == nil {
		return
	}
	s.tracker.Lose(name)
	s.tell(p)
	delete(s.parts, name)
}

// tell has the next Fetch say that the assignment is over. The caller holds the lock.
func (s *Source) tell(p *part) {
	if p.told {
		p.told = false
		s.lost = append(s.lost, p.name)
	}
}

// restart begins another assignment of a partition at an offset, where the client does not
// read yet. The caller holds the lock.
func (s *Source) restart(p *part, at int64) {
	s.tell(p)
	p.epoch = s.tracker.Assign(p.name, uint64(at))
	p.position, p.leader, p.stamps, p.paused, p.broken = at, -1, nil, false, nil
	p.moveTo(at)
}

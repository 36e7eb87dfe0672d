package login

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"
)

const (
	// mostSessions are there at a time, and mostOfOne of one user. Then the one that was used longest ago ends.
	mostSessions, mostOfOne = 10_000, 10
)

// session is somebody who logged in.
type session struct {
	name string
	// hash is that of their password; empty: a provider vouched for them, with groups.
	hash        string
	groups      []string
	began, used time.Time
}

// sessions are those of a console, in memory. They end with it.
type sessions struct {
	idle, absolute time.Duration

	mu   sync.Mutex
	open map[[32]byte]*session // by the hash of the id, so that no memory image opens one
}

func newSessions(idle, absolute time.Duration) *sessions {
	return &sessions{idle: idle, absolute: absolute, open: make(map[[32]byte]*session)}
}

// begin keeps a session, and returns its new id.
func (s *sessions) begin(one session) (id string) {
	id = rand.Text() + rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	one.began = time.Now()
	one.used = one.began
	s.makeRoom(&one)
	s.open[sha256.Sum256([]byte(id))] = &one
	return id
}

// makeRoom ends what is over, and the oldest if there are too many.
func (s *sessions) makeRoom(next *session) {
	own := 0
	var oldest, oldestOwn [32]byte
	for id, one := range s.open {
		if s.over(one) {
			delete(s.open, id)
			continue
		}
		if o := s.open[oldest]; o == nil || one.used.Before(o.used) {
			oldest = id
		}
		if one.name == next.name {
			own++
			if o := s.open[oldestOwn]; o == nil || one.used.Before(o.used) {
				oldestOwn = id
			}
		}
	}
	if own >= mostOfOne {
		delete(s.open, oldestOwn)
	} else if len(s.open) >= mostSessions {
		delete(s.open, oldest)
	}
}

func (s *sessions) over(one *session) bool {
	return time.Since(one.used) >= s.idle || time.Since(one.began) >= s.absolute
}

// of returns the session of an id, and notes that it is used.
func (s *sessions) of(id string) (session, bool) { return s.find(id, true) }

// peek returns the session of an id. An open page does not keep it from ending.
func (s *sessions) peek(id string) (session, bool) { return s.find(id, false) }

func (s *sessions) find(id string, uses bool) (session, bool) {
	key := sha256.Sum256([]byte(id))
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.open[key]
	if one == nil {
		return session{}, false
	}
	if s.over(one) {
		delete(s.open, key)
		return session{}, false
	}
	if uses {
		one.used = time.Now()
	}
	return *one, true
}

func (s *sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, sha256.Sum256([]byte(id)))
}

package login

import (
	"context"
	"crypto/rand"
	"net/url"
	"sync"
	"time"
)

// Provider is one that people log in at, such as that of package oidc. It may be called concurrently.
type Provider interface {
	// Address is where a browser goes to log in.
	Address(ctx context.Context, a Attempt) (string, error)
	// Finish checks what the browser brings back, and says who it is. An error is for the log: those who log in see another one.
	Finish(ctx context.Context, a Attempt, answer url.Values) (Identity, error)
}

// Attempt is a login at a provider that is under way. Each value is random, and of this attempt alone.
type Attempt struct {
	State, Nonce, Verifier string
}

// Identity is who a provider vouches for.
type Identity struct {
	// Name is that of a user of the access file, such as an email address.
	Name string
	// Groups are groups of the access file. Others are ignored.
	Groups []string
}

const (
	// mostAttempts are under way at a time. Then the oldest one ends.
	mostAttempts = 1000
	// attemptTime is how long one takes at most.
	attemptTime = 10 * time.Minute
)

// attempt is one of a browser, and where it then goes.
type attempt struct {
	Attempt

	to    string
	began time.Time
}

// attempts are those under way, by an id that a cookie of the browser holds.
type attempts struct {
	mu   sync.Mutex
	open map[string]attempt
}

func (a *attempts) begin(to string) (id string, one attempt) {
	one = attempt{Attempt{rand.Text(), rand.Text(), rand.Text() + rand.Text()}, to, time.Now()}
	id = rand.Text()
	a.mu.Lock()
	defer a.mu.Unlock()
	oldest := ""
	for other, o := range a.open {
		if time.Since(o.began) >= attemptTime {
			delete(a.open, other)
		} else if oldest == "" || o.began.Before(a.open[oldest].began) {
			oldest = other
		}
	}
	if len(a.open) >= mostAttempts {
		delete(a.open, oldest)
	}
	a.open[id] = one
	return id, one
}

// take ends an attempt, and returns it: nothing finishes it twice.
func (a *attempts) take(id string) (attempt, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one, there := a.open[id]
	delete(a.open, id)
	return one, there && time.Since(one.began) < attemptTime
}

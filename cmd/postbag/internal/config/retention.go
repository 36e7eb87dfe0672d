package config

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/duration"
	"github.com/postbag/postbag/store"
)

// never is how people say store.Forever.
const never = "never"

// Dead reads how long dead messages stay: a duration, or never. Empty says nothing.
func Dead(text string) (time.Duration, error) {
	switch text {
	case "":
		return 0, nil
	case never:
		return store.Forever, nil
	}
	d, err := duration.Parse(text)
	if err != nil || d == 0 {
		return 0, errors.New("is no duration; write " + duration.Forms + ", or never")
	}
	if err := (store.Lifetimes{Dead: d}).Validate(store.LeastLifetime); err != nil {
		return 0, fmt.Errorf("is %v; choose between %v and 876000h0m0s, or write never", d, store.LeastLifetime)
	}
	return d, nil
}

// Lifetimes returns what the settings say, which were checked.
func (r *Retention) Lifetimes() store.Lifetimes {
	dead, _ := Dead(r.Dead)
	return store.Lifetimes{Delivered: r.Delivered, Discarded: r.Discarded, Dead: dead}
}

// check adds every mistake. keep is the delivered of a retention that does not say it.
func (r *Retention) check(p *problems, where string, keep time.Duration) {
	checkFields(p, where, reflect.ValueOf(r).Elem())
	if _, err := Dead(r.Dead); err != nil && !p.isLater(where+".dead") {
		p.atf(where+".dead", "%v", err)
	}
	delivered, name := r.Delivered, where+".delivered"
	if delivered == 0 {
		delivered, name = keep, "keep"
	}
	if r.Discarded != 0 && r.Discarded < delivered && !p.isLater(name) {
		p.atf(where+".discarded", "is %v, less than %s, %v: discarded messages lie among delivered ones; the least is %v", r.Discarded, name, delivered, delivered)
	}
}

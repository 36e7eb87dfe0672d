package config

import (
	"cmp"
	"fmt"
	"net"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// check fills in the defaults, and adds every mistake that can be seen without asking
// a component.
func (f *File) check(k Kinds) {
	p := f.problems
	f.fill()
	f.addRoutes()
	f.addLetters()
	f.checkStores(k)
	f.checkDestinations()
	f.checkSubscriptions()
	f.checkBoxes()
	f.checkSources()
	f.checkEchoes()
	if f.Admin.Listen != "" && f.Admin.Listen != "off" {
		listen, mistake := ListenAddress(f.Admin.Listen)
		if mistake != "" {
			p.atf("admin.listen", "%s", mistake)
		}
		f.Admin.Listen = listen
	} else {
		f.Admin.Listen = ""
	}
	f.checkConsole()
	f.checkAdminConsole()
	checkFields(p, "", reflect.ValueOf(f).Elem())
}

// AllStores returns the stores by name. One that is set as "store" has no name.
func (f *File) AllStores() map[string]Store {
	if len(f.Stores) == 0 {
		only := f.Store
		only.at, only.slots = "store", f.slotRules("")
		return map[string]Store{"": only}
	}
	all := make(map[string]Store, len(f.Stores))
	for name, s := range f.Stores {
		s.at, s.slots = below("stores", name), f.slotRules(name)
		all[name] = s
	}
	return all
}

// Place says what names the DSN, for errors: the flag and the variable or file, or the setting.
func (s *Store) Place() string {
	flag, setting, value := "--store", ".dsn", ""
	switch {
	case s.DSNEnv != "":
		flag, setting = "--store-env", ".dsn_env"
		if environmentName.MatchString(s.DSNEnv) {
			value = " " + s.DSNEnv
		}
	case s.DSNFile != "":
		flag, setting = "--store-file", ".dsn_file"
		if !Confided(s.DSNFile) {
			value = " " + s.DSNFile
		}
	}
	if s.at != "" {
		flag = s.at + setting
	}
	return flag + value
}

// ReplicaPlace says what names the DSN of the replica, for errors.
func (s *Store) ReplicaPlace() string {
	r := Store{DSN: s.Replica.DSN, DSNEnv: s.Replica.DSNEnv, DSNFile: s.Replica.DSNFile, at: below(s.at, "replica")}
	return r.Place()
}

func (f *File) checkStores(k Kinds) {
	switch {
	case f.Stores == nil:
		f.Store.check(f.problems, "store", k)
	case f.Store != Store{}:
		f.problems.atf("store", "stands beside stores; give it a name among them, or take them out")
	case len(f.Stores) == 0:
		f.problems.atf("stores", "is empty; name one, such as {main: {dsn_env: DATABASE_URL}}, or use store")
	}
	for name, s := range f.Stores {
		where := below("stores", name)
		if !componentName.MatchString(name) {
			f.problems.atf(where, "is no name; use letters, digits, - and _, at most 63")
		}
		s.check(f.problems, where, k)
	}
}

func (s *Store) check(p *problems, where string, k Kinds) {
	switch given := count(s.DSN, s.DSNEnv, s.DSNFile); given {
	case 1:
	case 0:
		p.atf(where, "names no place for the DSN; give one of dsn, dsn_env and dsn_file")
	default:
		p.atf(where, "names %d places for the DSN; give one of dsn, dsn_env and dsn_file", given)
	}
	if HasPassword(s.DSN) {
		p.shownf(where+".dsn", "holds a password; put the DSN into the environment (dsn_env) or a file (dsn_file)")
	}
	checkFields(p, where, reflect.ValueOf(s).Elem())
	if (s.Kind != "" || s.DSN != "") && !p.isLater(where+".dsn") {
		kind, mistake := k.StoreKind(s.Kind, s.DSN)
		later := p.isLater(where + ".kind")
		switch {
		case mistake != "":
			p.atf(below(where, kindOr(s.Kind, "dsn")), "%s", mistake)
		case s.Partition != 0 && !k.Partitions(kind) && !later:
			p.atf(where+".partition", "is not for %s; leave it out", kind)
		case s.Replica.Given() && !k.Replicas(kind) && !later:
			p.atf(where+".replica", "is not for %s; leave it out", kind)
		}
	}
	s.Replica.check(p, where+".replica")
	if err := (store.SQLComments{Application: s.SQLComments.Application}).Validate(); err != nil {
		p.atf(where+".sql_comments.application", "%s", strings.TrimPrefix(err.Error(), "SQLComments.Application "))
	}
	if s.Partition < 0 || s.Partition%time.Second != 0 {
		p.atf(where+".partition", "is %s; give whole seconds, such as 24h, or leave it out", s.Partition)
	}
}

// Given says that there is a replica.
func (r *Replica) Given() bool { return count(r.DSN, r.DSNEnv, r.DSNFile) > 0 }

func (r *Replica) check(p *problems, where string) {
	given := count(r.DSN, r.DSNEnv, r.DSNFile)
	switch {
	case given > 1:
		p.atf(where, "names %d places for the DSN; give one of dsn, dsn_env and dsn_file", given)
	case given == 0 && p.given(where):
		p.atf(where, "names no place for the DSN; give one of dsn, dsn_env and dsn_file")
	}
	if HasPassword(r.DSN) {
		p.shownf(where+".dsn", "holds a password; put the DSN into the environment (dsn_env) or a file (dsn_file)")
	}
}

func kindOr(kind, place string) string {
	if kind != "" {
		return "kind"
	}
	return place
}

func (f *File) checkDestinations() {
	if len(f.Destinations) == 0 && (len(f.Sources) == 0 || len(f.Subscriptions) > 0) && !f.boxesOnly() {
		f.problems.atf("destinations", "is missing or empty; name at least one, such as {main: {nats: {url: nats://127.0.0.1:4222}}}")
	}
	for name, d := range f.Destinations {
		where := below("destinations", name)
		if !componentName.MatchString(name) {
			f.problems.atf(where, "is no name; use letters, digits, - and _, at most 63")
		}
		d.check(f.problems, where)
	}
}

func (f *File) checkSubscriptions() {
	if f.Subscriptions != nil && len(f.Subscriptions) == 0 && !f.boxesOnly() {
		f.problems.atf("subscriptions", "is empty; name one, or leave the list out")
	}
	seen := make(map[string]bool)
	for i := range f.Subscriptions {
		s := &f.Subscriptions[i]
		where := cmp.Or(s.at, fmt.Sprintf("subscriptions[%d]", i))
		s.check(f.problems, where, f)
		id := s.Box + "/" + s.Name
		if s.Store != "" {
			id = s.Store + ": " + id
		}
		if seen[id] {
			f.problems.atf(where, "is the second subscription %s; give it a name of its own", id)
		}
		seen[id] = true
	}
	f.checkLetters()
	f.checkLetterTopics()
}

// ListenAddress completes an address to listen on: a bare port means loopback.
// The mistake is empty when there is none.
func ListenAddress(s string) (address, mistake string) {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		host, port = "", strings.TrimPrefix(s, ":")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return "", "is no address to listen on; write a port, or host:port, such as 127.0.0.1:9090"
	}
	return net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port), ""
}

func (r *Retry) check(p *problems, where string) {
	checkWaits(p, where, r.Min, r.Max, r.Pauses)
	if len(r.Rules) > mostRules {
		p.atf(where+".rules", "has %d entries; write %d at most", len(r.Rules), mostRules)
	}
	for i := range r.Rules {
		rule, at := &r.Rules[i], fmt.Sprintf("%s.rules[%d]", where, i)
		checkFields(p, at, reflect.ValueOf(rule).Elem())
		checkTypes(p, at+".types", rule.Types)
		checkWaits(p, at, rule.Min, rule.Max, rule.Pauses)
		if slices.Contains(rule.Errors, "") {
			p.atf(at+".errors", "has an empty text, which every error contains; leave errors out, or write a text")
		}
		if len(rule.Types) == 0 && len(rule.Errors) == 0 && i < len(r.Rules)-1 {
			p.atf(at, "is for all types and errors, so the rules behind it have no effect; put it last, or say types or errors")
		}
	}
}

// The longest lists of rules and of pauses, as package relay has them.
const (
	mostRules  = 100
	mostPauses = 100
)

// checkWaits checks the waits of a retry, or of a rule of it.
func checkWaits(p *problems, where string, least, most time.Duration, pauses []time.Duration) {
	if most > 0 && least > most && !p.isLater(where+".max") {
		p.atf(where+".min", "is %v, more than max, %v; change one of them", least, most)
	}
	if len(pauses) == 0 {
		return
	}
	for _, name := range []string{"min", "max", "factor"} {
		if p.given(below(where, name)) {
			p.atf(below(where, name), "has no effect beside pauses; leave one of the two out")
		}
	}
	if len(pauses) > mostPauses {
		p.atf(where+".pauses", "has %d entries; write %d at most, of which the last is repeated", len(pauses), mostPauses)
	}
	for i, pause := range pauses {
		if pause < 0 || pause > longestPause {
			p.atf(where+".pauses", "entry %d is %v; choose between 0s and 720h", i+1, pause)
		}
	}
}

// longestPause is the longest entry of pauses.
const longestPause = 720 * time.Hour

func (r *Rate) check(p *problems, where string) {
	messages := r.Messages != 0 || p.isLater(where+".messages")
	bytes := r.Bytes != 0 || p.isLater(where+".bytes")
	if r.Burst > 0 && !messages {
		p.atf(where+".burst", "bounds nothing without messages; write messages too, or leave it out")
	}
	if r.BurstBytes > 0 && !bytes {
		p.atf(where+".burst_bytes", "bounds nothing without bytes; write bytes too, or leave it out")
	}
	if r.Shared && !messages && !bytes {
		p.atf(where+".shared", "shares nothing; write messages or bytes too, or leave it out")
	}
}

// count is how many of the texts are given.
func count(texts ...string) (given int) {
	for _, t := range texts {
		if t != "" {
			given++
		}
	}
	return given
}

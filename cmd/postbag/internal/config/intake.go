package config

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"reflect"
	"regexp"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// Intake is a source and the box that gets what it takes in.
type Intake struct {
	// Its name. Messages are marked under it: with another name, what comes again is
	// stored again.
	Name string `yaml:"name" otherwise:"the box"`
	// Where messages come from: a kind, and its settings below that. Required.
	From Origin `yaml:"from"`
	// The name of its store, of those in stores.
	Store string `yaml:"store" otherwise:"the only one"`
	// The box that gets the messages.
	Box string `yaml:"box" default:"inbox"`
	// Headers that hold the id of a message, tried in this sequence before the usual ones.
	IDHeaders []string `yaml:"id_headers" otherwise:"none"`
	// Know a message without an id by a hash of its topic, key and payload. Two that are
	// equal in these are then one. With false a message without an id is a fault.
	HashIDs bool `yaml:"hash_ids" default:"false"`
	// The header that holds the key of a message, tried before the usual ones.
	KeyHeader string `yaml:"key_header" otherwise:"none"`
	// Mark each id with a hash of the payload, and take an id that comes with another
	// payload for a fault.
	Sums *bool `yaml:"sums" default:"true"`
	// What becomes of a message that no box can hold: park stores what fits of it with the
	// reason, stop ends the process.
	Faults string `yaml:"faults" oneof:"park stop" default:"park"`
	// What becomes of a message whose payload is larger than max_size, or than the store takes:
	// stop ends the process, head stores its first 4 KiB with its size and its SHA-256.
	TooLarge string `yaml:"too_large" oneof:"stop head" default:"stop"`
	// The largest payload. A larger one is too large. A number of bytes, or with a unit.
	MaxSize Size `yaml:"max_size" range:"1..16777216" default:"16MiB"`
	// Most messages in a batch, which is one transaction.
	Batch int `yaml:"batch" range:"1..10000" default:"500"`
	// Most bytes in a batch. One message is always taken.
	BatchBytes Size `yaml:"batch_bytes" range:"1..1073741824" default:"4MiB"`
}

// Origin says where messages come from. It has the form of a Destination.
type Origin Destination

// headerName is the name of a header.
var headerName = regexp.MustCompile(`^[!-~]{1,255}$`)

// checkSources adds the mistakes of all sources.
func (f *File) checkSources() {
	seen := make(map[string]bool)
	for i := range f.Sources {
		s := &f.Sources[i]
		where := fmt.Sprintf("sources[%d]", i)
		s.check(f.problems, where, f)
		if seen[s.Name] {
			f.problems.atf(where, "is the second source %.40q; give each a name of its own, as in name: orders", s.Name)
		}
		seen[s.Name] = true
	}
	f.checkListeners()
}

// Listening is implemented by settings of a kind of source that listens at an address.
type Listening interface{ ListensAt() string }

// checkListeners adds a mistake for each source whose address something else in the file has.
func (f *File) checkListeners() {
	type listener struct{ who, address string }
	known := []listener{{"admin.listen", f.Admin.Listen}}
	for i := range f.Sources {
		from := (*Destination)(&f.Sources[i].From)
		listens, can := from.Settings.(Listening)
		if !can {
			continue
		}
		where := below(from.where(fmt.Sprintf("sources[%d].from", i)), "listen")
		for _, other := range known {
			if sameListener(other.address, listens.ListensAt()) {
				f.problems.atf(where, "is the address of %s, too; give each one of its own", other.who)
				break
			}
		}
		known = append(known, listener{where, listens.ListensAt()})
	}
}

// checkEchoes adds a mistake for each subscription that sends the messages of a source back to it.
func (f *File) checkEchoes() {
	for i := range f.Subscriptions {
		s := &f.Subscriptions[i]
		for _, j := range f.Echoes(s.Store, s.Box, s.To) {
			f.problems.atf(cmp.Or(s.at, fmt.Sprintf("subscriptions[%d]", i))+".to", "sends what comes from sources[%d] back to where it comes from, and it comes again; "+
				"send it to another server or name, as with a prefix, or take another box", j)
		}
	}
}

// Echoes returns which sources fill a box of a store with what a destination would send back to them. An empty store is the
// only one.
func (f *File) Echoes(in, box, destination string) (sources []int) {
	to, can := f.Destinations[destination].Settings.(Echoing)
	if !can {
		return nil
	}
	for i := range f.Sources {
		from := &f.Sources[i]
		if (in == "" || from.Store == in) && from.Box == box && from.From.Settings != nil && to.Echoes(from.From.Settings) {
			sources = append(sources, i)
		}
	}
	return sources
}

// sameListener says whether two addresses cannot be listened at side by side. What is no address
// is told elsewhere, and port 0 is any that is free.
func sameListener(a, b string) bool {
	a, wrong := ListenAddress(a)
	b, alsoWrong := ListenAddress(b)
	if wrong != "" || alsoWrong != "" {
		return false
	}
	hostA, portA, _ := net.SplitHostPort(a) // ListenAddress has joined them
	hostB, portB, _ := net.SplitHostPort(b)
	every := func(host string) bool {
		ip, err := netip.ParseAddr(host)
		return err == nil && ip.IsUnspecified()
	}
	return portA == portB && portA != "0" && (hostA == hostB || every(hostA) || every(hostB))
}

func (s *Intake) check(p *problems, where string, f *File) {
	if err := postbag.ValidBox(s.Box); err != nil {
		p.atf(where+".box", "is wrong: %v", err)
	} else if err := store.ValidConsumer(s.Name); err != nil {
		p.atf(where+".name", "is wrong: %v", err)
	}
	named(p, where+".store", &s.Store, f.Stores, "stores")
	from := below(where, "from")
	if _, given := p.places[from]; s.From.Settings == nil && !given {
		p.atf(where, "has no from; say where messages come from, as in from: {nats: {url: nats://127.0.0.1:4222, stream: ORDERS, consumer: billing}}")
	}
	(*Destination)(&s.From).check(p, from)
	for i, name := range s.IDHeaders {
		if !headerName.MatchString(name) {
			p.atf(where+".id_headers", "entry %d is no name of a header; write one without spaces", i+1)
		}
	}
	if s.KeyHeader != "" && !headerName.MatchString(s.KeyHeader) {
		p.atf(where+".key_header", "is no name of a header; write one without spaces")
	}
	checkFields(p, where, reflect.ValueOf(s).Elem())
}

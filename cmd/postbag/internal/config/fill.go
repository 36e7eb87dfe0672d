package config

import (
	"cmp"
	"fmt"
	"reflect"
)

// With exactly_once a call is a transaction, so that more messages share one.
const (
	transactionBatch    = 1000
	transactionInFlight = 1000
	callBatch           = 500
	callInFlight        = 1000
)

// defaultInbox is the box of a source that names none: what the tag says.
const defaultInbox = "inbox"

// fill gives every setting that is left out the value of its tag default. A second time it changes nothing.
func (f *File) fill() {
	for i := range f.Sources {
		f.Sources[i].Box = cmp.Or(f.Sources[i].Box, defaultInbox)
		f.Sources[i].Name = cmp.Or(f.Sources[i].Name, f.Sources[i].Box)
	}
	if f.Subscriptions == nil && (len(f.Destinations) > 0 || len(f.Sources) == 0) {
		f.Subscriptions = []Subscription{{}}
	}
	for i := range f.Subscriptions {
		f.Subscriptions[i].fillSizes()
	}
	fill(reflect.ValueOf(f).Elem())
}

// fillSizes fills what depends on other settings.
func (s *Subscription) fillSizes() {
	batch, inFlight := callBatch, callInFlight
	if s.ExactlyOnce {
		batch = cmp.Or(s.Batch, transactionBatch)
		inFlight = max(batch, transactionInFlight)
	}
	s.Batch, s.InFlight = cmp.Or(s.Batch, batch), cmp.Or(s.InFlight, inFlight)
}

// Filled returns s with its defaults, for one that flags describe.
func (s *Store) Filled() Store {
	filled := *s
	fill(reflect.ValueOf(&filled).Elem())
	return filled
}

// fill fills the settings of a struct, and of all below it that is there.
func fill(v reflect.Value) {
	if f, ok := reflect.TypeAssert[*File](v.Addr()); ok && f.Stores != nil && f.Store == (Store{}) {
		defer func() { f.Store = Store{} }() // it is not set, and must not look so
	}
	format, isFormat := reflect.TypeAssert[*Format](v.Addr())
	for f := range fieldsOf(v) {
		if isFormat && !format.takes(f.name) {
			continue
		}
		if text, ok := f.Tag.Lookup("default"); ok && f.value.IsZero() {
			fillOne(f.value, f.Name, text)
		}
		fillBelow(f.value)
	}
}

// fillOne sets a setting to the text of its tag. A tag that cannot be read is a mistake in this program.
func fillOne(v reflect.Value, name, text string) {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if text == "0" {
		return // as it is
	}
	if fix := setScalar(v, text, true); fix != "" {
		panic(fmt.Sprintf("config: %s has the default %q, which %s", name, text, fix))
	}
}

func fillBelow(v reflect.Value) {
	d, ok := reflect.TypeAssert[*Destination](v.Addr())
	if from, is := reflect.TypeAssert[*Origin](v.Addr()); is {
		d, ok = (*Destination)(from), true
	}
	if ok {
		if d.Settings != nil {
			fill(reflect.ValueOf(d.Settings).Elem())
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		fill(v)
	case reflect.Pointer:
		if !v.IsNil() {
			fillBelow(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			fillBelow(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			one := reflect.New(v.Type().Elem()).Elem()
			one.Set(v.MapIndex(key))
			fillBelow(one)
			v.SetMapIndex(key, one)
		}
	default:
	}
}

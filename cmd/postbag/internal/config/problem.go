package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// problems collects mistakes with their places.
type problems struct {
	path   string           // of the file that is read
	file   int              // its number: the first has 0
	places map[string]place // of each setting that was read, by its path
	later  map[string]bool  // the settings whose values are known on another machine alone, by their paths
	all    []problem
}

// place is a line of a file.
type place struct {
	path string
	file int
	line int
}

type problem struct {
	place

	text string
}

// atf adds a mistake in a setting, such as "subscriptions[0].to"; its line is that
// of the setting, or of the nearest one above it. Of a setting whose value is not known here
// nothing is said.
func (p *problems) atf(where, format string, args ...any) {
	if !p.isLater(where) {
		p.shownf(where, format, args...)
	}
}

// isLater says whether the value of a setting, or of a member of a list, is known on another
// machine alone.
func (p *problems) isLater(where string) bool {
	for open := range p.later {
		if open == where || trimIndex(open) == where {
			return true
		}
	}
	return false
}

// laterBelow says whether that holds for anything in a setting.
func (p *problems) laterBelow(where string) bool {
	for open := range p.later {
		if strings.HasPrefix(open, where+".") {
			return true
		}
	}
	return false
}

// shownf adds a mistake that the text of a setting shows, whatever the values of its variables
// are.
func (p *problems) shownf(where, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if where != "" {
		text = where + " " + text
	}
	p.all = append(p.all, problem{p.placeOf(where), text})
}

// line adds a mistake in a line of the file that is read.
func (p *problems) line(line int, text string) {
	p.all = append(p.all, problem{place{p.path, p.file, line}, text})
}

// given says whether a setting is in a file.
func (p *problems) given(where string) bool {
	_, is := p.places[where]
	return is
}

// mark notes where a setting stands: in the last file that has it.
func (p *problems) mark(where string, line int) { p.places[where] = place{p.path, p.file, line} }

// placeOf is where a setting stands, or the nearest one above it.
func (p *problems) placeOf(where string) place {
	for where != "" {
		if found, ok := p.places[where]; ok && found.line > 0 {
			return found
		}
		where = where[:max(strings.LastIndexAny(where, ".["), 0)]
	}
	return place{path: p.path, file: p.file}
}

// err returns all mistakes in the order of their files and lines, or nil.
func (p *problems) err() error {
	slices.SortStableFunc(p.all, func(a, b problem) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	errs := make([]error, len(p.all))
	for i, one := range p.all {
		errs[i] = &MistakeError{Path: one.path, Line: one.line, Text: one.text}
	}
	return errors.Join(errs...)
}

// MistakeError is one mistake in a configuration file.
type MistakeError struct {
	// Path is the file, or what else the configuration was made of.
	Path string
	// Line is where it is; zero: nowhere in particular.
	Line int
	// Text says what is wrong and what to do.
	Text string
}

// Error returns the place and the text.
func (m *MistakeError) Error() string {
	if m.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", m.Path, m.Line, m.Text)
	}
	return m.Path + ": " + m.Text
}

// Mistakes returns those that an error of Read, Check or Err holds. An error that is
// none of a file's text, such as that of a file that is missing, is one without a
// place.
func Mistakes(err error) []MistakeError {
	if err == nil {
		return nil
	}
	if one, ok := err.(*MistakeError); ok { //nolint:errorlint // it walks the tree itself
		return []MistakeError{*one}
	}
	var out []MistakeError
	switch e := err.(type) { //nolint:errorlint // it walks the tree itself
	case interface{ Unwrap() []error }:
		for _, below := range e.Unwrap() {
			out = append(out, Mistakes(below)...)
		}
	case interface{ Unwrap() error }:
		if _, ok := errors.AsType[*MistakeError](err); ok {
			return Mistakes(e.Unwrap())
		}
	}
	if len(out) == 0 {
		return []MistakeError{{Text: err.Error()}}
	}
	return out
}

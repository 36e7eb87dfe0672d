package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// problems collects mistakes with their lines.
type problems struct {
	path  string
	lines map[string]int // of each setting that was read, by its path
	all   []problem
}

type problem struct {
	line int
	text string
}

// atf adds a mistake in a setting, such as "subscriptions[0].to"; its line is that
// of the setting, or of the nearest one above it.
func (p *problems) atf(where, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if where != "" {
		text = where + " " + text
	}
	p.line(p.lineOf(where), text)
}

func (p *problems) line(line int, text string) { p.all = append(p.all, problem{line, text}) }

func (p *problems) lineOf(where string) int {
	for where != "" {
		if line := p.lines[where]; line > 0 {
			return line
		}
		where = where[:max(strings.LastIndexAny(where, ".["), 0)]
	}
	return 0
}

// err returns all mistakes in the order of their lines, or nil.
func (p *problems) err() error {
	slices.SortStableFunc(p.all, func(a, b problem) int { return cmp.Compare(a.line, b.line) })
	errs := make([]error, len(p.all))
	for i, one := range p.all {
		errs[i] = &MistakeError{Path: p.path, Line: one.line, Text: one.text}
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

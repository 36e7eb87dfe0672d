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
		place := p.path
		if one.line > 0 {
			place = fmt.Sprintf("%s:%d", p.path, one.line)
		}
		errs[i] = fmt.Errorf("%s: %s", place, one.text)
	}
	return errors.Join(errs...)
}

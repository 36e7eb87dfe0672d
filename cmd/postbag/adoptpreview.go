package main

import (
	"context"
	"errors"
	"strconv"

	"github.com/postbag/postbag/cmd/postbag/internal/adopt"
	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/console"
)

// adoptable is what an adoption would do, in JSON.
type adoptable struct {
	From    string                `json:"from"`
	Table   string                `json:"table"`
	Box     string                `json:"box"`
	Mode    adopt.Mode            `json:"mode"`
	Mapping map[adopt.Role]string `json:"mapping"`

	adopt.Preview
}

func (f *adoptFlags) preview(ctx context.Context, c *console.Console, s *component.Store, p *adopt.Plan) error {
	v, err := adopt.Look(ctx, s.Adopt, p)
	if err != nil {
		return err
	}
	if v.Faults == nil {
		v.Faults = []adopt.Fault{}
	}
	out := adoptable{p.From, p.Table.String(), p.Box, p.Mode, p.Mapping(), v}
	if c.JSON {
		return c.Emit(out)
	}
	rows := [][]string{{"from", p.From}, {"table", out.Table}, {"box", out.Box}, {"mode", string(p.Mode)}}
	for _, role := range adopt.Roles() {
		source := out.Mapping[role]
		if source == "" {
			source = "-"
		}
		rows = append(rows, []string{string(role), source})
	}
	for _, count := range []struct {
		what string
		n    int
	}{
		{"undelivered", v.Undelivered},
		{"would be imported", v.Convertible},
		{"cannot be converted", len(v.Faults)},
		{"would wait behind them", v.Undelivered - v.Convertible - len(v.Faults)},
		{"in the box already", v.Known},
		{"other rows", v.Other},
	} {
		rows = append(rows, []string{count.what, strconv.Itoa(count.n)})
	}
	if v.Mode == adopt.Trigger || v.Mode == adopt.View {
		rows = append(rows, []string{"fed by", "a " + string(v.Mode)})
	}
	err = c.Table(nil, rows)
	for _, fault := range named(v.Faults) {
		c.Sayf("%v", fault)
	}
	return errors.Join(err)
}

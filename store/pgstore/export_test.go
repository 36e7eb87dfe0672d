package pgstore

import (
	"context"
	"maps"
	"slices"
)

// TrustLast makes the store believe that the last seq given out bounds what all
// transactions write from now on, without a transaction having got its id since.
// It is the mistake that loses rows, for the test that shows it.
func (s *Store) TrustLast(ctx context.Context, box string) error {
	v, err := s.on(ctx)
	if err != nil {
		return err
	}
	var last int64
	if err := s.run(ctx, s.last(box, &last)); err != nil {
		return err
	}
	v.of(box).Add(1, last)
	return nil
}

// Statements returns the names of all statements in query/*.sql, and of the parts that some are put together from.
func (s *Store) Statements() []string { return slices.Sorted(maps.Keys(s.catalog.templates)) }

// Statement returns the text of a statement for a box.
func (s *Store) Statement(name, box string) string { return s.catalog.get(name, box).sql }

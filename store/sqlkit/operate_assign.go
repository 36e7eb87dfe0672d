package sqlkit

import (
	"context"
	"database/sql"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Assigned returns the subscriptions that operators have given a destination; see [store.Assigner].
func (s *Base) Assigned(ctx context.Context) ([]store.Assignment, error) {
	var out []store.Assignment
	err := s.hooks.Query(ctx)(SQLAssigned, nil, func(rows *sql.Rows) error {
		var a store.Assignment
		var settings string
		if err := rows.Scan(&a.Box, &a.Subscription, &settings); err != nil {
			return err
		}
		if a.Destination, a.Who = store.DestinationOf(storekit.ParseSettings(settings)); a.Destination != "" {
			out = append(out, a)
		}
		return nil
	})
	return out, s.dialect.Translate("read which destinations operators have given", err)
}

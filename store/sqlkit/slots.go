package sqlkit

import (
	"context"
	"fmt"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// SlotRule returns the rule for the slots of a box; see [store.SlotMigrator].
func (s *Base) SlotRule(ctx context.Context, box string) (store.SlotRule, error) {
	by, found, err := RuleOf(s.hooks.Query(ctx), box)
	if err == nil && !found {
		err = fmt.Errorf("%q: %w", box, store.ErrNoBox)
	}
	return by, s.dialect.Translate("look at the slots of a box", err)
}

// RuleOf returns the rule for the slots of a box, and whether the box is there.
func (t *Tx) RuleOf(box string) (by store.SlotRule, found bool, err error) {
	return RuleOf(t.Query, box)
}

// RuleOf is the same outside a transaction.
func RuleOf(query Querier, box string) (by store.SlotRule, found bool, err error) {
	number := 0
	found, err = Row(query, sqlRuleOf, []any{box}, &number)
	return storekit.RuleOf(number), found, err
}

package mysqlstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// noNumberSlot is the slot of a row whose key is no number, in a box by number. Its table
// refuses it.
const noNumberSlot = 65534

// slotByHash is the rule of a box's column slot, behind that of tombstones.
const slotByHash = "ELSE CONV(LEFT(SHA2(CASE WHEN shard_key <> '' THEN shard_key WHEN `key` <> '' THEN `key` ELSE id END, 256), 3), 16, 10)"

// shardingKey is what decides the slot.
const shardingKey = "CASE WHEN shard_key <> '' THEN shard_key ELSE `key` END"

// slotRule returns what is left open in schema/box.sql: how slots are made, and the
// constraint of a box by number. The last twelve digits of a number decide, since 4096
// divides ten to the power of twelve. There is no regular expression: those of the two
// servers differ.
func slotRule(by store.SlotRule) (rule, number string) {
	if by != store.SlotsByNumber {
		return slotByHash, ""
	}
	rest := shardingKey
	for digit := range 10 {
		rest = fmt.Sprintf("REPLACE(%s, '%d', '')", rest, digit)
	}
	last := fmt.Sprintf("MOD(CAST(REPLACE(RIGHT(%s, 12), '-', '') AS SIGNED), %d)", shardingKey, store.SlotCount)
	rule = fmt.Sprintf(`WHEN shard_key = '' AND %[5]s = '' THEN CONV(LEFT(SHA2(id, 256), 3), 16, 10)
		WHEN %[1]s = '' THEN %[3]s
		WHEN %[1]s = '-' AND LEFT(%[2]s, 1) = '-' AND LENGTH(%[2]s) > 1 THEN MOD(%[6]d - %[3]s, %[6]d)
		ELSE %[4]d`, rest, shardingKey, last, noNumberSlot, "`key`", store.SlotCount)
	return rule, fmt.Sprintf("CONSTRAINT postbag_$box__number CHECK (slot <> %d),", noNumberSlot)
}

// SlotRule returns the rule for the slots of a box; see [store.SlotMigrator].
func (s *Store) SlotRule(ctx context.Context, box string) (store.SlotRule, error) {
	return s.base.SlotRule(ctx, box)
}

// rules remembers which boxes are by number.
type rules struct{ of sync.Map }

// fit refuses scheduled messages that their box would refuse when they are due. The rule of
// a box is asked for when a key that is no number comes, and never again. An account that
// may not read it goes without the check: housekeeping then sets the message aside.
func (r *rules) fit(ctx context.Context, tx postbag.SQLTx, box string, msgs []postbag.Message) error {
	for i := range msgs {
		if _, ok := store.SlotsByNumber.SlotOf(&msgs[i]); ok || msgs[i].NotBefore.IsZero() {
			continue
		}
		by, known := r.of.Load(box)
		if !known {
			number := 0
			err := ask(ctx, tx, fmt.Sprintf(sqlRuleOf, box), &number)
			if code := codeOf(err); err != nil && code != codeDenied && code != codeColumnDenied {
				return err
			}
			by = storekit.RuleOf(number)
			r.of.Store(box, by)
		}
		if by == store.SlotsByNumber {
			return store.ErrNoNumber
		}
	}
	return nil
}

// ask scans the one value of a statement in an application's transaction, if there is one.
func ask(ctx context.Context, tx postbag.SQLTx, text string, dest any) (err error) {
	rows, err := tx.QueryContext(ctx, text)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := rows.Scan(dest); err != nil {
			return err
		}
	}
	return rows.Err()
}

// noNumber says whether a box by number refused a key.
func noNumber(err error) bool {
	code := codeOf(err)
	return (code == codeCheckMySQL || code == codeCheckMariaDB) && strings.Contains(err.Error(), "__number")
}

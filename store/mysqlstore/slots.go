package mysqlstore

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/go-sql-driver/mysql"

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

// ruleOfTable returns the rule by which a table makes slots: see slotRule. A table that
// nobody may see has none.
func ruleOfTable(box, text string) store.SlotRule {
	switch {
	case text == "":
		return ""
	case strings.Contains(text, "postbag_"+box+"__number` CHECK"):
		return store.SlotsByNumber
	}
	return store.SlotsByHash
}

// sameTable returns an error if a table makes slots by another rule than its box has. Making
// the table and entering the box are two transactions. Between them a program can crash, or
// another one make the box by its own rule.
func sameTable(box string, by, made store.SlotRule) error {
	if made == "" || made == by {
		return nil
	}
	return fmt.Errorf("box %[1]s has slots by %[2]s, and its table postbag_%[1]s is there and makes them by %[3]s; "+
		"drop the table if it is empty, and make the box again: %[4]w", box, by, made, store.ErrSlotRule)
}

// otherRules names all boxes whose tables make slots by another rule.
func otherRules(all []tableThere) error {
	errs := make([]error, len(all))
	for i, t := range all {
		errs[i] = sameTable(t.box, t.by, ruleOfTable(t.box, t.text))
	}
	return errors.Join(errs...)
}

// rules remembers which boxes are by number.
type rules struct{ of sync.Map }

// fit refuses scheduled messages that their box would refuse when they are due. The rule of
// a box is asked for when a key that is no number comes, and never again once it is known.
// An account that may not read it goes without the check: housekeeping then sets the message
// aside.
func (p *producer) fit(ctx context.Context, tx postbag.SQLTx, box string, msgs []postbag.Message) error {
	for i := range msgs {
		if msgs[i].NotBefore.IsZero() || store.SlotsByNumber.Check(&msgs[i]) == nil {
			continue
		}
		by, err := p.ruleOf(ctx, tx, box)
		if err != nil || by != store.SlotsByNumber {
			return err
		}
		return store.ErrNoNumber
	}
	return nil
}

// ruleOf returns the rule for the slots of a box; "" if there is no such box.
func (p *producer) ruleOf(ctx context.Context, tx postbag.SQLTx, box string) (store.SlotRule, error) {
	kept, _ := p.rules.of.Load(box)
	if by, known := kept.(store.SlotRule); known {
		return by, nil
	}
	number := 0
	found, err := ask(ctx, tx, fmt.Sprintf(sqlRuleOf, box)+p.comments.Publisher, &number)
	code := codeOf(err)
	denied := code == codeDenied || code == codeColumnDenied
	switch {
	case err != nil && !denied:
		return "", err
	case !found && !denied:
		return "", nil
	}
	by := storekit.RuleOf(number)
	p.rules.of.Store(box, by)
	return by, nil
}

// ask scans the one value of a statement in an application's transaction, and says whether
// there is one.
func ask(ctx context.Context, tx postbag.SQLTx, text string, dest any) (found bool, err error) {
	rows, err := tx.QueryContext(ctx, text)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := rows.Scan(dest); err != nil {
			return false, err
		}
		found = true
	}
	return found, rows.Err()
}

// The messages of the two servers begin with the name of the constraint. Behind it MariaDB
// names the table, whose box may be called so.
var (
	numberMySQL   = regexp.MustCompile(`'postbag_\w+__number'`)
	numberMariaDB = regexp.MustCompile("^[^`]*`postbag_\\w+__number`")
)

// noNumber says whether a box by number refused a key.
func noNumber(err error) bool {
	refused, is := errors.AsType[*mysql.MySQLError](err)
	switch {
	case is && refused.Number == codeCheckMySQL:
		return numberMySQL.MatchString(refused.Message)
	case is && refused.Number == codeCheckMariaDB:
		return numberMariaDB.MatchString(refused.Message)
	}
	return false
}

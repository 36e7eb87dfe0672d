package postbag

import (
	"fmt"
	"slices"
	"strings"
)

const (
	maxBoxName          = 40
	maxSubscriptionName = 63
)

// ValidBox returns an error unless name can be the name of a box: a letter a to z, then
// letters, digits and underscores, 40 characters at most.
//
// A box is a table, and other languages write to it with plain SQL. So some names are
// reserved: words of SQL that would need quotes, the names of Postbag's own tables, and
// names that begin with "postbag", "pg_" or "sqlite_". Two underscores in a row are
// reserved too: stores use them to name what belongs to a box.
func ValidBox(name string) error {
	const fix = "a letter a to z, then letters, digits and underscores, at most 40 characters"
	switch {
	case name == "":
		return fmt.Errorf("postbag: box name is empty; use %s", fix)
	case len(name) > maxBoxName:
		return fmt.Errorf("postbag: box name %.20q... has %d bytes; use %s", name, len(name), fix)
	case name[0] < 'a' || name[0] > 'z' || !onlyNameBytes(name, "_"):
		return fmt.Errorf("postbag: box name %q has a character it must not have; use %s", name, fix)
	case reservedBox(name):
		return fmt.Errorf("postbag: box name %q is reserved; choose another, such as %q", name, "outbox")
	}
	return nil
}

// ValidSubscription returns an error unless name can be the name of a subscription: a
// letter a to z or a digit, then letters, digits, '_', '.' and '-', 63 characters at
// most.
func ValidSubscription(name string) error {
	const fix = "a letter a to z or a digit, then letters, digits, '_', '.' and '-', at most 63 characters"
	switch {
	case name == "":
		return fmt.Errorf("postbag: subscription name is empty; use %s", fix)
	case len(name) > maxSubscriptionName:
		return fmt.Errorf("postbag: subscription name %.20q... has %d bytes; use %s", name, len(name), fix)
	case strings.IndexByte("_.-", name[0]) >= 0 || !onlyNameBytes(name, "_.-"):
		return fmt.Errorf("postbag: subscription name %q has a character it must not have; use %s", name, fix)
	}
	return nil
}

func onlyNameBytes(name, others string) bool {
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && strings.IndexByte(others, c) < 0 {
			return false
		}
	}
	return true
}

func reservedBox(name string) bool {
	for _, prefix := range []string{"postbag", "pg_", "sqlite_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return strings.Contains(name, "__") ||
		slices.Contains(strings.Fields(sqlWords), name) ||
		slices.Contains(strings.Fields(ownTables), name)
}

// sqlWords cannot name a table without quotes in PostgreSQL, MySQL or SQLite.
const sqlWords = `
 add all alter analyze and any array as asc between both by call case cast
 check collate column commit constraint create cross current default deferrable
 delete desc describe distinct div do drop else end escape except exists explain false
 fetch for foreign freeze from full grant group groups having if in index initially
 inner insert intersect interval into is isnull join key keys kill lateral leading left
 like limit localtime lock match natural not notnull null of offset on only or
 order outer over overlaps placing primary rank read references release
 rename replace require returning revoke right row rows schema schemas select session_user set
 show similar some symmetric system table then to trailing transaction trigger true union
 unique unlock update usage use user using values variadic verbose view when where
 window with write xor`

// ownTables are names that a store may want for tables of its own.
const ownTables = `
 attempt attempts audit command commands epoch heartbeat heartbeats
 history identity lease leases ledger mark marks meta migration migrations parked
 position positions relay relays scheduled shard shards slot slots subscription
 subscriptions tally tallies version versions`

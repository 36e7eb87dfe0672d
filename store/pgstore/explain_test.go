package pgstore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store/pgstore"
)

// plannable is a server whose statistics are as old as a test leaves them.
var plannable = servertest.SharedPostgres{Options: testserver.PostgresOptions{NoSync: true, Settings: map[string]string{
	"autovacuum": "off", "max_wal_size": "4GB", "shared_buffers": "512MB", "max_connections": "400",
}}}

// planPage is how many messages are asked for wherever the caller says how many.
const planPage = 100

// planPages are the pages of statements that have their own: how many rows one execution is there to handle.
var planPages = map[string]int{
	"promote": 1000, "copy": 1000, "tidy": 1000, "scan": 10_000, "tail": 10_000, "delete_passed": 5000,
	"box_view": 10_000, "sub_view": 4 * 10_000, "find": 10_000, "find_all": 10_000, "list_log": 1000, "list_copies": 1000, "list_parked": 1000,
	"list_parked_key": 1000, "list_discarded_rows": 1000, "list_past_rows": 1000, "list_states_in": 20_000, "list_discarded_in": 20_000, "list_past_in": 20_000, "list_queued_in": 20_000, // a piece of 5000 rows, and the gaps in it
	"forget_marks": 10_000, "list_scheduled": 1000, "list_states": 1000, "list_discarded": 1000, "list_past": 1000, "erase": 1000, "list_queued": 1000, "list_bytes": 1000, "list_later": 1000, "dead": 1000, "expire": 500,
}

// merges are the statements that sort the first pages of several ranges, one a shard or subscription, or a page with what
// belongs to it.
var merges = map[string]bool{"due": true, "dead": true, "list_parked": true, "list_parked_key": true, "list_discarded_rows": true, "list_past_rows": true, "copy": true, "list_bytes": true}

func page(statement string) int {
	if p := planPages[statement]; p > 0 {
		return p
	}
	return planPage
}

// scansLessThanAPage are the statements that may scan a large table while it has fewer rows than a page, and why.
var scansLessThanAPage = map[string]string{
	"list_copies": "people see a table of some hundred rows", "list_past_in": "as above", "list_past_rows": "as above", "list_discarded_in": "as above",
	"list_states_in": "as above", "list_queued_in": "as above", "box_view": "the ten thousand that are counted may be the table",
	"tidy": "one execution is for a thousand copies", "erase": "one execution is for a thousand messages",
}

// unbounded are the statements that may read a large table beyond 10 pages, and why.
var unbounded = map[string]string{
	"blocked":      "all hashes that block, once when a shard is taken: the relay must know them all",
	"held_topics":  "all that is held in a shard, once when it is taken: the relay must know the topics",
	"waiting":      "all keys that rejected messages wait of, once when a shard is taken: the relay must know them all",
	"sub_held":     "all that a subscription holds: for people",
	"end_replay":   "all that a replay had, once when it ends",
	"land":         "all that was in flight in the shards just taken, once a take-over",
	"rehome":       "all that is parked in a subscription, once when its shards change",
	"relead":       "as above",
	"fold":         "all lines of the spans of a partition, once when it is dropped",
	"forget":       "all that is known of a partition's messages, once when it is dropped",
	"find_apart":   "the copies of one box: for people, one message at a time",
	"sub_view":     "a subscription's ledger, one line a span, fate and shard: for people",
	"sweep":        "the parked messages up to the end of a partition: each must have its copy",
	"notices":      "the latest 20,000 lines of the audit log, of which few are notices: for people",
	"commands":     "the commands that operators gave and no relay has carried out",
	"ledger_lines": "a subscription's ledger, where a span has a line a fate and shard",
}

// unplanned are the statements whose plans are not looked at, and why; and the parts of others.
var unplanned = map[string]string{
	"facts": "a part", "state": "a part", "poll_from": "a part", "poll_from_ended": "a part", "page_from": "a part", "first": "a part", "below": "a part", "missed": "a part", "slots": "a part",
	"rows": "a part", "bounded": "a part", "kept": "a part", "keep_types": "a part", "keep_topics": "a part", "poll_where": "a part", "page_where": "a part", "foreign": "a part", "ran": "a part", "ran_none": "a part", "ran_moved": "a part",
	"list_row": "a part", "list_apart": "a part", "list_matching": "a part",
	"detach": "DDL", "finalize": "DDL", "drop_part": "DDL",
	"wait_briefly": "no table", "wait_as_before": "no table", "standby": "no table", "unfiltered": "no table", "walking": "no table", "number": "no table", "notify": "no table",
	"lock_keys": "no table", "last": "a sequence", "stored": "the shards of a subscription, once after a crash", "writers": "the lock table", "settings": "the server's settings", "triggers": "the catalogue", "begin_life": "one row, once after a crash",
	"shard_positions": "after a restore, once a subscription", "free_shards": "as above", "back_flush": "as above",
	"back_ledger": "as above", "back_cut": "as above", "back_commands": "as above", "back_parked": "as above", "back_shards": "as above",
	"begin_parked": "after its numbering was begun again, once a box", "begin_copies": "as above", "begin_discarded": "as above", "begin_past": "as above",
	"begin_floors": "as above", "begin_box": "as above", "begin_audit": "as above", "back_fold": "as above", "leap": "as above",
	"schema": "two small tables, once an Open",
	"mark":   "no table", "guard_replica": "no table", "replica": "two small tables, every other second",
}

// large are the tables that can be: the log's partitions, and what grows with the messages.
var large = regexp.MustCompile(`^((outbox|old)__(p\d+|scheduled)|_(parked|copies|discarded|past|commands|ledger|audit|floors|once|operations|operation_parts))$`)

// few are those of them that have so few rows in most databases that to scan a page of them is no fault.
var few = regexp.MustCompile(`^_operation(s|_parts)$`)

// ways are nodes that the plans of some statements must have.
var ways = map[string]string{"forget_marks": "Tid Range Scan _once", "marked_sums": "Index Scan _once _once_pkey"}

// planNode is a node of a plan that was run.
type planNode struct {
	Type      string     `json:"Node Type"`
	Relation  string     `json:"Relation Name"`
	Index     string     `json:"Index Name"`
	Loops     float64    `json:"Actual Loops"`
	Rows      float64    `json:"Actual Rows"`
	Filtered  float64    `json:"Rows Removed by Filter"`
	Rechecked float64    `json:"Rows Removed by Index Recheck"`
	Plans     []planNode `json:"Plans"`
}

// touched returns how many rows of large tables the plan has looked at, and which large tables.
func (n *planNode) touched() (rows float64, tables []string) {
	if strings.HasSuffix(n.Type, "Scan") && large.MatchString(n.Relation) {
		rows, tables = n.Loops*(n.Rows+n.Filtered+n.Rechecked), []string{n.Relation}
	}
	for i := range n.Plans {
		r, t := n.Plans[i].touched()
		rows, tables = rows+r, append(tables, t...)
	}
	return rows, tables
}

// String draws the plan in one line: each node with the rows that came of it, and those looked at in vain.
func (n *planNode) String() string {
	var inner []string
	for i := range n.Plans {
		if p := &n.Plans[i]; p.Loops > 0 {
			inner = append(inner, p.String())
		}
	}
	out := strings.TrimSpace(n.Type + " " + n.Relation + " " + n.Index)
	if large.MatchString(n.Relation) {
		out += fmt.Sprintf(" %.0f+%.0f", n.Loops*n.Rows, n.Loops*(n.Filtered+n.Rechecked))
	}
	if len(inner) > 0 {
		out += " (" + strings.Join(inner, ", ") + ")"
	}
	return out
}

// faults returns what is wrong with a statement's plan.
func (n *planNode) faults(statement string) (out []string) {
	if rows, tables := n.touched(); rows > float64(10*page(statement)) && unbounded[statement] == "" {
		out = append(out, fmt.Sprintf("%.0f rows of %s looked at for a page of %d", rows, slices.Compact(tables), page(statement)))
	}
	if way := ways[statement]; way != "" && !strings.Contains(n.String(), way) {
		out = append(out, "has no "+way)
	}
	return append(out, n.shape(statement)...)
}

func (n *planNode) shape(statement string) (out []string) {
	switch {
	case unbounded[statement] != "":
		return nil
	case n.Type == "Seq Scan" && large.MatchString(n.Relation):
		rows, _ := n.touched()
		if scansLessThanAPage[statement] != "" && rows <= float64(planPages[statement]) || few.MatchString(n.Relation) && rows <= planPage {
			return nil
		}
		out = append(out, "scans "+n.Relation)
	case strings.HasSuffix(n.Type, "Sort"):
		if rows, tables := n.touched(); rows > float64(page(statement)) && !merges[statement] {
			out = append(out, fmt.Sprintf("sorts %.0f rows of %s", rows, slices.Compact(tables)))
		}
	}
	for i := range n.Plans {
		out = append(out, n.Plans[i].shape(statement)...)
	}
	return out
}

// plans collects the plans of all statements that a store sends, as the server made and ran them (its module
// auto_explain tells), and judges them.
type plans struct {
	tb testing.TB

	mu   sync.Mutex
	mode string // of the plan cache
	when string
	seen map[string]int
	told map[string]bool
}

// planIn returns the plan in a notice of auto_explain. They are so many and so long that a regular expression took most of the
// test's time.
func planIn(notice string) (plan string, is bool) {
	head, plan, found := strings.Cut(notice, " plan:\n")
	return plan, found && strings.HasPrefix(head, "duration: ")
}

// explain has the sessions of a pool tell their plans.
func (p *plans) explain(config *pgxpool.Config, _ *pgstore.Options) {
	config.ConnConfig.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if plan, is := planIn(n.Message); is {
			p.judge(plan)
		}
	}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		p.mu.Lock()
		mode := p.mode
		p.mu.Unlock()
		_, err := conn.Exec(ctx, `LOAD 'auto_explain'; SET auto_explain.log_level = notice; SET auto_explain.log_analyze = on;
			SET auto_explain.log_timing = off; SET auto_explain.log_format = json; SET auto_explain.log_min_duration = 0; SET plan_cache_mode = `+mode)
		return err
	}
}

var tagged = regexp.MustCompile(`^/\* postbag (\w+) \*/`)

func (p *plans) judge(text string) {
	var told struct {
		Query string   `json:"Query Text"`
		Plan  planNode `json:"Plan"`
	}
	if err := json.Unmarshal([]byte(text), &told); err != nil {
		p.tb.Errorf("a plan that cannot be read: %v: %.200s", err, text)
		return
	}
	tag := tagged.FindStringSubmatch(told.Query)
	if tag == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen[tag[1]]++
	for _, fault := range told.Plan.faults(tag[1]) {
		if key := tag[1] + p.when + p.mode; !p.told[key] {
			p.told[key] = true
			p.tb.Errorf("%s, %s, %s: %s: %s", tag[1], p.when, p.mode, fault, &told.Plan)
		}
	}
}

// at runs what a store does, with plans made for any parameters and for those of each call.
func (p *plans) at(when string, pool *pgxpool.Pool, do func()) {
	for _, mode := range []string{"force_generic_plan", "force_custom_plan"} {
		p.mu.Lock()
		p.when, p.mode = when, mode
		p.mu.Unlock()
		pool.Reset()
		do()
	}
}

// missing returns the statements whose plan nobody has seen.
func (p *plans) missing(all []string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name := range maps.Keys(unplanned) {
		if p.seen[name] > 0 && unplanned[name] == "a part" {
			p.tb.Errorf("%s is listed as a part, and is a statement", name)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return p.seen[name] > 0 || unplanned[name] != "" })
}

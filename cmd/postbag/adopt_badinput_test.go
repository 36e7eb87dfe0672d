package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

func TestAdoptRefusesBadInputBeforeItWritesAnything(t *testing.T) {
	t.Parallel()
	x := newAdoption(t, foreigns()["debezium"])
	x.write(0, 3)
	x.exec(foreigns()["watermill"].schema)
	x.exec(`INSERT INTO watermill_offsets_orders VALUES ('billing', 1, '5')`)
	x.exec(`CREATE TABLE numbers (id bytea, aggregatetype bytea, aggregateid jsonb, payload integer, n integer); CREATE SEQUENCE counter;
		CREATE VIEW shown AS TABLE outboxevent; CREATE TABLE watermill_alone AS TABLE watermill_orders`)
	debezium := "--from debezium --table outboxevent --column order=xmin "
	for name, c := range map[string]struct {
		args string
		code exit.Code
		says []string
	}{
		"nothing":          {"", exit.Usage, []string{"--from: it is not said whose table it is", "--table is missing"}},
		"an original":      {"--from kafka --table t", exit.Usage, []string{"choose one of debezium, sbmt-outbox"}},
		"a mode":           {debezium + "--all --mode " + "sideways", exit.Usage, []string{"choose import, trigger or view"}},
		"a fate":           {debezium + "--all --originals burn", exit.Usage, []string{"choose leave, mark or delete"}},
		"a box's name":     {debezium + "--all --box No!", exit.Usage, []string{"box"}},
		"a box":            {debezium + "--all --box nosuch", exit.NotFound, []string{"postbag migrate up --box nosuch"}},
		"a table":          {"--from debezium --table nosuch", exit.Usage, []string{"there is no such table", "correct --table"}},
		"a sequence":       {"--from debezium --table counter", exit.Usage, []string{"neither a table nor a view"}},
		"another's table":  {"--from sbmt-outbox --table outboxevent", exit.Usage, []string{"no column status", "no column uuid", "no column event_key"}},
		"kinds":            {"--from debezium --table numbers --all --column order=n", exit.Usage, []string{"column aggregatetype of public.numbers is of type bytea, which cannot be the topic", "column aggregateid", "of type integer, which cannot be the payload"}},
		"a column":         {debezium + "--all --column key=nosuch", exit.Usage, []string{`no column "nosuch"`}},
		"a member":         {debezium + "--all --column key=type.x", exit.Usage, []string{"column type of public.outboxevent is of type character varying(255), which cannot be the key"}},
		"a member's part":  {debezium + "--all --column payload=payload.x", exit.Usage, []string{"the payload cannot be a member"}},
		"a part":           {debezium + "--all --column colour=type", exit.Usage, []string{`"colour" is no part of a message`}},
		"a --column":       {debezium + "--all --column type", exit.Usage, []string{"write it as part=column"}},
		"no order":         {"--from debezium --table outboxevent --all", exit.Usage, []string{"name one with --column order=NAME"}},
		"no undelivered":   {debezium, exit.Usage, []string{"does not say which of its rows are undelivered; say it with --where CONDITION, or --all"}},
		"all and where":    {debezium + "--all --where true", exit.Usage, []string{"--all and --where"}},
		"a condition":      {debezium + "--where nosuch=1", exit.Usage, []string{"--where is no condition", "nosuch"}},
		"no mark":          {debezium + "--all --originals mark", exit.Usage, []string{"has no column that marks a row"}},
		"no dead":          {debezium + "--all --with-dead", exit.Usage, []string{"does not say which rows were given up"}},
		"a group":          {"--from watermill --table watermill_orders", exit.Usage, []string{`has no consumer group ""`, `--group: "billing"`}},
		"a group's place":  {debezium + "--all --group x", exit.Usage, []string{"--group and --offsets are for watermill"}},
		"offsets":          {"--from watermill --table watermill_alone", exit.Usage, []string{"there is no table public.watermill_offsets_alone"}},
		"two keys":         {debezium + "--all --key a --column key=type", exit.Usage, []string{"--key and --column key"}},
		"a view":           {"--from debezium --table shown --all --column order=id --mode trigger", exit.Usage, []string{"is a view"}},
		"undo of nothing":  {"--from debezium --table outboxevent --undo", exit.Usage, []string{"there is nothing to undo"}},
		"undo in dry run":  {"--from debezium --table outboxevent --undo --dry-run", exit.Usage, []string{"--dry-run and --undo"}},
		"a gob's column":   {"--from go-outbox --table outboxevent --column key=type", exit.Usage, []string{"is inside of its data"}},
		"all of those who": {"--from sbmt-outbox --table outboxevent --all", exit.Usage, []string{"--all is for debezium"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"adopt", x.flag, x.where}, strings.Fields(c.args)...)
			cli(t, args...).ends(c.code, c.says...)
		})
	}
	t.Cleanup(func() {
		if one[bool](x, `SELECT to_regclass('postbag._adoptions') IS NOT NULL`) || len(x.box()) > 0 {
			t.Error("something was written")
		}
	})
}

func TestAdoptRefusesASQLiteStore(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	cli(t, "adopt", at.flag, at.where, "--from", "velmie", "--table", "outbox").ends(exit.Usage, "a store of kind sqlite holds no table of another outbox")
}

// A role is told all that it lacks, before anything is written.
func TestAdoptNamesTheRightsThatAreMissing(t *testing.T) {
	t.Parallel()
	x := newAdoption(t, foreigns()["sbmt-outbox"])
	dsn := dsnOf(t, x.place)
	role := strings.TrimPrefix(dsn.Path, "/") + "_poor"
	if _, err := postgres.Server(t).Exec(t.Context(), strings.TrimPrefix(dsn.Path, "/"), `CREATE ROLE `+role+` LOGIN PASSWORD '`+canary+`';
		GRANT USAGE ON SCHEMA postbag TO `+role+`; GRANT SELECT ON ALL TABLES IN SCHEMA postbag TO `+role+`; GRANT INSERT ON postbag._life TO `+role); err != nil {
		t.Fatal(err)
	}
	dsn.User = url.UserPassword(role, canary)
	x.where = write(t, "dsn", dsn.String())
	lacks := "lacks CREATE on schema postbag, INSERT on postbag.outbox, SELECT on public.order_outbox_items"
	x.adopt().ends(exit.Failed, lacks, "grant it")
	x.adopt("--originals", "mark").ends(exit.Failed, lacks+", UPDATE on public.order_outbox_items")
	x.adopt("--originals", "delete", "--mode", "trigger").ends(exit.Failed, "DELETE on public.order_outbox_items, TRIGGER on")
	x.adopt("--mode", "view").ends(exit.Failed, "membership in the role that owns public.order_outbox_items")
	x.adopt("--dry-run").ends(exit.Failed, lacks)
}

// One table has one box, no matter who asks.
func TestAdoptRefusesASecondBoxForATable(t *testing.T) {
	t.Parallel()
	x := newAdoption(t, foreigns()["velmie"])
	cli(t, "migrate", "up", x.flag, x.where, "--box", "other").ok()
	x.write(0, 2)
	x.adopt().ok()
	x.adopt("--box", "other").ends(exit.Usage, "is adopted into box outbox already; give --box outbox")
}

// A row that the box refuses ends old code's transaction: it is not lost in silence.
func TestAdoptedTableRefusesWhatABoxCannotHold(t *testing.T) {
	t.Parallel()
	x := newAdoption(t, foreigns()["velmie"])
	x.adopt("--mode", "trigger").ok()
	_, err := x.pool.Exec(t.Context(), strings.Replace(x.insert, `{"trace":"t"}`, `["no object"]`, 1), x.give(uuidOf(0), "k", payloadOf(0))...)
	if err == nil || !strings.Contains(err.Error(), "headers") {
		t.Errorf("headers that are no object gave %v", err)
	}
	x.write(1, 2)
	x.holds(1)
}

func TestAdoptNamesKeysThatABoxByNumberRefuses(t *testing.T) {
	t.Parallel()
	x := newAdoption(t, foreigns()["sbmt-outbox"])
	cli(t, "migrate", "up", x.flag, x.where, "--box", "numbers", "--slots", "number").ok()
	x.write(0, 3)
	x.exec(`UPDATE order_outbox_items SET event_key = '7' WHERE id = 2`)
	var v adoptable
	x.adopt("--box", "numbers", "--dry-run", "--json").ok().json(&v)
	if len(v.Faults) != 2 || v.Convertible != 1 {
		t.Errorf("a dry run sees %+v", v.Preview)
	}
	x.adopt("--box", "numbers", "--mode", "trigger").ends(exit.Usage, "box numbers takes slots by number", "with a trigger it would refuse what the old program inserts")
	x.adopt("--box", "numbers", "--mode", "view", "--key", "seven").ends(exit.Usage, "with a view it would refuse")
	x.adopt("--box", "numbers").ends(exit.Failed, "2 rows of public.order_outbox_items cannot be converted", "row 1: its key is no decimal integer such as 42 or -7", "row 3:")
	x.adopt("--box", "numbers", "--skip", "1", "--skip", "3").ok().says("skipped 2 rows")
	if n := one[int](x, `SELECT count(*) FROM postbag.numbers WHERE key = '7' AND place = 8`); n != 1 {
		t.Errorf("the box has the message with a number %d times", n)
	}
	x.exec(`ALTER TABLE order_outbox_items ADD customer bigint DEFAULT 9`)
	x.adopt("--box", "numbers", "--mode", "trigger", "--column", "key=customer").ok().says("the trigger is there")
	x.write(3, 5)
	if n := one[int](x, `SELECT count(*) FROM postbag.numbers WHERE key = '9'`); n != 2 {
		t.Errorf("the trigger brought %d of 2 rows", n)
	}
}

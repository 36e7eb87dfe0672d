package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// rawDrain is the least that a correct drain could do: read a page by seq, and
// write one position, pipelined on one connection, a page after the other. take
// gets the payload column of each row.
func (l *testbed) rawDrain(ctx context.Context, box string, n, page int, take func(rows []rawRow) error) error {
	if _, err := l.pool.Exec(ctx, `create table if not exists bench_position (name text primary key, pos bigint not null)`); err != nil {
		return err
	}
	if _, err := l.pool.Exec(ctx, `insert into bench_position values ($1, 0) on conflict (name) do update set pos = 0`, box); err != nil {
		return err
	}
	c, err := l.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	conn := c.Conn().PgConn()
	table := "postbag." + pgx.Identifier{box}.Sanitize()
	read := `select seq, id, topic, key, type, headers::text, payload, at from ` + table + ` where seq > $1 order by seq limit ` + strconv.Itoa(page)
	if _, err := conn.Prepare(ctx, "raw_read", read, nil); err != nil {
		return err
	}
	if _, err := conn.Prepare(ctx, "raw_settle", `update bench_position set pos = $1 where name = '`+box+`'`, nil); err != nil {
		return err
	}
	defer func() { _, _ = conn.Exec(ctx, "deallocate raw_read; deallocate raw_settle").ReadAll() }()
	r := &rawReader{conn: conn}
	return r.drain(ctx, n, take)
}

// rawRow is what the reference decodes of a row: as little as a sender needs.
type rawRow struct {
	seq     int64
	topic   string
	payload []byte
}

type rawReader struct {
	conn *pgconn.PgConn
	rows []rawRow
}

var binaryFormat = []int16{1}

func int8param(v int64) [][]byte {
	return [][]byte{binary.BigEndian.AppendUint64(nil, uint64(v))}
}

func (r *rawReader) drain(ctx context.Context, n int, take func([]rawRow) error) error {
	after, settled := int64(0), int64(0)
	for got := 0; got < n; {
		p := r.conn.StartPipeline(ctx)
		if settled < after {
			p.SendQueryPrepared("raw_settle", int8param(after), binaryFormat, binaryFormat)
			if err := p.Sync(); err != nil {
				return err
			}
		}
		p.SendQueryPrepared("raw_read", int8param(after), binaryFormat, binaryFormat)
		if err := p.Sync(); err != nil {
			return err
		}
		settled = after
		if err := r.results(p); err != nil {
			return err
		}
		if len(r.rows) == 0 {
			return fmt.Errorf("the reference read %d of %d rows", got, n)
		}
		if err := take(r.rows); err != nil {
			return err
		}
		got += len(r.rows)
		after = r.rows[len(r.rows)-1].seq
	}
	return nil
}

func (r *rawReader) results(p *pgconn.Pipeline) error {
	r.rows = r.rows[:0]
	var arena []byte
	for {
		v, err := p.GetResults()
		if err != nil {
			return err
		}
		if v == nil {
			return p.Close()
		}
		rows, ok := v.(*pgconn.ResultReader)
		if !ok {
			continue
		}
		for rows.NextRow() {
			c := rows.Values()
			from := len(arena)
			arena = append(arena, c[6]...)
			r.rows = append(r.rows, rawRow{
				seq: int64(binary.BigEndian.Uint64(c[0])), topic: string(c[2]), payload: arena[from:len(arena):len(arena)],
			})
		}
		if _, err := rows.Close(); err != nil {
			return err
		}
	}
}

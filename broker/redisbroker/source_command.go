package redisbroker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"
)

// ask is a command of a source, with its answer as the server gave it: the client's own
// types of entries keep neither the sequence of fields nor a name that comes twice. No
// client repeats it: what a lost answer held is looked for where it is, see readHistory.
type ask struct {
	*redis.Cmd
}

// NoRetry implements redis.Cmder.
func (ask) NoRetry() bool { return true }

func newAsk(ctx context.Context, args ...any) ask { return ask{redis.NewCmd(ctx, args...)} }

// asksAtOnce is how many commands go into one pipeline, and ids into one command.
const asksAtOnce = 1000

// do sends commands in pipelines. Their errors are in them: see answer.
func (s *Source) do(ctx context.Context, asks ...ask) (whole error) {
	for some := range slices.Chunk(asks, asksAtOnce) {
		if len(some) == 1 {
			whole = errors.Join(whole, s.client.Process(ctx, some[0]))
			continue
		}
		pipe := s.client.Pipeline()
		for _, a := range some {
			_ = pipe.Process(ctx, a) // it only queues
		}
		if _, err := pipe.Exec(ctx); err != nil {
			whole = errors.Join(whole, err)
		}
	}
	return whole
}

// answer is what the server said. whole is what do returned, the only error where no
// connection was to be had.
func (a ask) answer(whole error) (any, error) {
	switch {
	case a.Err() != nil:
		return nil, a.Err()
	case a.Val() == nil && whole != nil:
		return nil, whole
	}
	return a.Val(), nil
}

// errAnswer: a server said something in a form that no server of Redis 7 has.
var errAnswer = errors.New("redisbroker: the answer has a form that is not known")

// list is an answer that is a list.
func list(v any, atLeast int) ([]any, error) {
	all, ok := v.([]any)
	if !ok || len(all) < atLeast {
		return nil, fmt.Errorf("%w (%T)", errAnswer, v)
	}
	return all, nil
}

// table is an answer of names and values, which protocol 2 sends as a list.
func table(v any) (map[string]any, error) {
	all := map[string]any{}
	if pairs, ok := v.(map[any]any); ok {
		for name, value := range pairs {
			all[fmt.Sprint(name)] = value
		}
		return all, nil
	}
	pairs, err := list(v, 0)
	if err != nil {
		return nil, err
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		all[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return all, nil
}

// number is a value of a table, false if the server does not know it.
func number(v any) (int64, bool) {
	n, ok := v.(int64)
	return n, ok
}

// read is what a server holds under an id. Gone: it was deleted.
type read struct {
	id     string
	fields []string
	gone   bool
}

// readItem reads one entry.
func readItem(v any) (r read, err error) {
	parts, err := list(v, 2)
	if err != nil {
		return r, err
	}
	r.id, _ = parts[0].(string)
	if parts[1] == nil {
		r.gone = true
		return r, nil
	}
	fields, err := list(parts[1], 0)
	if err != nil {
		return r, err
	}
	r.fields = make([]string, len(fields))
	for i, f := range fields {
		r.fields[i], _ = f.(string)
	}
	return r, nil
}

func readItems(v any) ([]read, error) {
	all, err := list(v, 0)
	if err != nil {
		return nil, err
	}
	reads := make([]read, len(all))
	for i, one := range all {
		if reads[i], err = readItem(one); err != nil {
			return nil, err
		}
	}
	return reads, nil
}

// readStreams reads what XREADGROUP answers: entries by the names of streams. No entries
// of any are a nil answer.
func readStreams(v any) (map[string][]read, error) {
	pairs, isMap := v.(map[any]any)
	if !isMap {
		all, err := list(v, 0)
		if err != nil {
			return nil, err
		}
		pairs = map[any]any{}
		for _, one := range all {
			pair, err := list(one, 2)
			if err != nil {
				return nil, err
			}
			pairs[pair[0]] = pair[1]
		}
	}
	found := map[string][]read{}
	for name, entries := range pairs {
		reads, err := readItems(entries)
		if err != nil {
			return nil, err
		}
		found[fmt.Sprint(name)] = reads
	}
	return found, nil
}

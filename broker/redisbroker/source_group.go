package redisbroker

import (
	"context"
	"fmt"
	"slices"

	"github.com/postbag/postbag/source"
)

// attach looks whether every stream has the group, and makes it where it may.
func (s *Source) attach(ctx context.Context) error {
	infos, groups := make([]ask, len(s.streams)), make([]ask, len(s.streams))
	for i, of := range s.streams {
		infos[i] = newAsk(ctx, "xinfo", "stream", of.name)
		groups[i] = newAsk(ctx, "xinfo", "groups", of.name)
	}
	whole := s.do(ctx, slices.Concat(infos, groups)...)
	for i := range s.streams {
		if err := s.attachOne(ctx, i, infos[i], groups[i], whole); err != nil {
			return err
		}
	}
	s.attached, s.opened = true, true
	s.doubt()
	for i := range s.streams {
		s.cursors[i] = firstCursor
	}
	return nil
}

// groupOf reads the facts of the group in an answer of XINFO GROUPS: nil if the stream
// does not have it.
func (s *Source) groupOf(a ask, whole error) (group map[string]any, missing bool, err error) {
	answer, err := a.answer(whole)
	if isNoKey(err) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	all, err := list(answer, 0)
	if err != nil {
		return nil, false, err
	}
	for _, one := range all {
		if group, err = table(one); err != nil {
			return nil, false, err
		}
		if group["name"] == any(s.options.Group) {
			return group, false, nil
		}
	}
	return nil, false, nil
}

// attachOne is attach for one stream.
func (s *Source) attachOne(ctx context.Context, i int, info, groups ask, whole error) error {
	const doing = "open"
	group, missing, err := s.groupOf(groups, whole)
	if err != nil {
		return s.translate(doing, err)
	}
	if group != nil {
		last, _ := group["last-delivered-id"].(string)
		s.delivered(i, last)
		return nil
	}
	if s.opened {
		s.lose(i)
	}
	name := s.streams[i].name
	if missing && s.options.Existing {
		return s.misconfigured(doing, fmt.Sprintf("the stream %.64q does not exist", name), "create it, or unset SourceOptions.Existing")
	}
	if s.opened && !missing {
		fresh, err := s.isAnother(i, info, whole)
		if err != nil {
			return s.translate(doing, err)
		}
		if !fresh {
			return s.misconfigured(doing, fmt.Sprintf("the group was deleted from stream %.64q, and with it the record of what was acked", name),
				"close the source and open it, which makes the group again")
		}
	}
	if err := s.makeGroup(ctx, name); err != nil {
		return s.translate(doing, err)
	}
	if s.opened {
		s.known[i] = firstCursor
		s.options.OnFault(fmt.Errorf("redisbroker: fetch, group %.64q: the stream %.64q was deleted, and with it the group; it was made again and begins with the first message, look at who deletes", s.options.Group, name))
	}
	return nil
}

// isAnother says whether a stream that lost its group holds nothing that the group can have
// got: all of it is newer than what was known. So it is another stream of the same name, or
// was trimmed. A group that begins with its first message then repeats nothing old.
func (s *Source) isAnother(i int, info ask, whole error) (bool, error) {
	answer, err := info.answer(whole)
	if err != nil {
		return false, err
	}
	facts, err := table(answer)
	if err != nil {
		return false, err
	}
	if facts["first-entry"] == nil {
		return true, nil
	}
	oldest, err := readItem(facts["first-entry"])
	return err == nil && below(s.known[i], oldest.id), err
}

// makeGroup makes the group in a stream. That another member was faster is no error.
func (s *Source) makeGroup(ctx context.Context, name string) error {
	start := "0"
	if s.options.NewOnly && !s.opened { // of a stream that was made again, everything is new
		start = "$"
	}
	args := []any{"xgroup", "create", name, s.options.Group, start}
	if !s.options.Existing {
		args = append(args, "mkstream")
	}
	a := newAsk(ctx, args...)
	if _, err := a.answer(s.do(ctx, a)); err != nil && !isCode(err, codeBusyGroup) {
		return err
	}
	return nil
}

// lose ends what is at work of a stream. What waits of it is returned all the same: no
// server has it any more.
func (s *Source) lose(i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	partition := source.Partition(s.streams[i].name)
	if s.work.Lose(func(e spot) bool { return e.stream == i }) && !slices.Contains(s.lost, partition) {
		s.lost = append(s.lost, partition)
	}
}

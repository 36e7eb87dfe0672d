package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/console"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/store"
)

// editFlags are those of commands that change what a box holds.
type editFlags struct {
	store storeFlags
	audit auditFlags
	box   string
}

func (f *editFlags) add(cmd *cobra.Command) {
	f.store.add(cmd)
	f.audit.add(cmd)
	cmd.Flags().StringVar(&f.box, "box", defaultBox, "`name` of the box")
}

// edit opens the store, and has do change it.
func (f *editFlags) edit(ctx context.Context, do func(store.Editor, store.Audit) error) (err error) {
	if err := boxName(f.box); err != nil {
		return err
	}
	audit, err := f.audit.audit()
	if err != nil {
		return err
	}
	s, err := f.store.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if s.Editor == nil {
		return noEditor(s)
	}
	return do(s.Editor, audit)
}

func noEditor(s *component.Store) error {
	return exit.Usagef("a store of kind %s cannot do that yet; nothing was done", s.Kind)
}

// eraseMost is how many messages one command erases.
const eraseMost = 1000

func newEraseCommand(c *console.Console) *cobra.Command {
	var f editFlags
	cmd := &cobra.Command{
		Use:   "erase ID ...",
		Short: "Overwrite payload, headers and key of messages that were delivered",
		Long: `Overwrite payload, headers and key of messages with nothing, as the erasure of personal data asks
for. Ids, topics and types stay, so that the order of the log and the ledger stay whole. A message
that some subscription is still to deliver is not erased: discard it first. Backups, and what was
delivered, are elsewhere. Who erased what and why is written to the audit log.`,
		Example: `  postbag messages erase 01234567-89ab-7cde-8f01-23456789abcd -c postbag.yaml --why "request 4711"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := idsOf(args)
			if err != nil {
				return err
			}
			return f.edit(cmd.Context(), func(e store.Editor, a store.Audit) error {
				return erase(cmd.Context(), c, e, a, f.box, ids)
			})
		},
	}
	f.add(cmd)
	return cmd
}

// idsOf reads the ids that arguments are.
func idsOf(args []string) ([]postbag.ID, error) {
	if len(args) == 0 || len(args) > eraseMost {
		return nil, exit.Usagef("%d messages are named; name 1 to %d ids", len(args), eraseMost)
	}
	var ids []postbag.ID
	for _, text := range args {
		id, err := messageID("an argument", text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func erase(ctx context.Context, c *console.Console, e store.Editor, a store.Audit, box string, ids []postbag.ID) error {
	got, err := e.Erase(ctx, a, box, ids)
	if err != nil {
		return err
	}
	refused := make([]string, len(got.Refused))
	for i, id := range got.Refused {
		refused[i] = id.String()
	}
	missing := len(ids) - got.Messages - len(refused)
	if c.JSON {
		if err := c.Emit(map[string]any{"box": box, "erased": got.Messages, "refused": refused, "missing": missing}); err != nil {
			return err
		}
	} else {
		c.Sayf("erased %s of box %s", console.Count(got.Messages, "message"), box)
	}
	switch {
	case len(refused) > 0:
		return fmt.Errorf("%d of %d are still to be delivered and were not erased; discard them first: %s", len(refused), len(ids), strings.Join(refused, " "))
	case missing > 0:
		return exit.With(exit.NotFound, fmt.Errorf("%d of %d are not in box %s; nothing of them was erased", missing, len(ids), box))
	}
	return nil
}

func newLedgerCommand(c *console.Console) *cobra.Command {
	return group("ledger", "Accept that the ledger and the log differ", newAcceptCommand(c))
}

func newAcceptCommand(c *console.Console) *cobra.Command {
	var f editFlags
	cmd := &cobra.Command{
		Use:   "accept",
		Short: "Have retention go on where the ledger and the log differ",
		Long: `Have retention go on over the parts of a box in which the ledger and the log differ now, as after
somebody deleted rows of the log by hand, and say what was accepted. The relay's log names such parts.
Find out first who else changes the tables: the difference may be a loss. A later difference is not
accepted by this. Notices of postbag status about the box, such as that its log was begun again, end by
it, also where the ledger lacks nothing. Who accepted what and why is written to the audit log.`,
		Example: `  postbag ledger accept -c postbag.yaml --why "two rows were deleted by hand, request 4711"`,
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.edit(cmd.Context(), func(e store.Editor, a store.Audit) error {
				lines, err := e.AcceptLedger(cmd.Context(), a, f.box)
				switch {
				case err != nil:
					return err
				case c.JSON:
					return c.Emit(map[string]any{"box": f.box, "accepted": lines})
				case len(lines) == 0:
					c.Sayf("the ledger of box %s agrees with its log; there is nothing to accept", f.box)
				}
				for _, line := range lines {
					c.Sayf("accepted: %s", line)
				}
				return nil
			})
		},
	}
	f.add(cmd)
	return cmd
}

package main

import (
	"cmp"
	"os"
	"os/user"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/store"
)

// refFlags name a subscription of a box.
type refFlags struct{ box, subscription string }

func (f *refFlags) add(cmd *cobra.Command, subscription string) {
	usage := "`name` of the subscription"
	if subscription == "" {
		usage += "; all when left out"
	}
	cmd.Flags().StringVar(&f.box, "box", defaultBox, "`name` of the box")
	cmd.Flags().StringVar(&f.subscription, "subscription", subscription, usage)
}

// ref checks the names. An empty subscription stands for all.
func (f *refFlags) ref() (store.Ref, error) {
	if err := boxName(f.box); err != nil {
		return store.Ref{}, err
	}
	if f.subscription != "" {
		if err := postbag.ValidSubscription(f.subscription); err != nil {
			return store.Ref{}, exit.With(exit.Usage, err)
		}
	}
	return store.Ref{Box: f.box, Subscription: f.subscription}, nil
}

// ordered returns the subscription that an order is about, and who gives it.
func (f *refFlags) ordered(a *auditFlags) (store.Ref, store.Audit, error) {
	if f.subscription == "" {
		return store.Ref{}, store.Audit{}, exit.Usagef("--subscription is empty; an order is about one subscription, name it")
	}
	ref, err := f.ref()
	if err != nil {
		return ref, store.Audit{}, err
	}
	audit, err := a.audit()
	return ref, audit, err
}

// auditFlags say who orders and why.
type auditFlags struct{ who, why string }

func (f *auditFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.who, "who", "", "`who` orders this; the user of the system when left out")
	cmd.Flags().StringVar(&f.why, "why", "", "`why`, for the audit log; required")
}

// maxAudit bounds who and why, in bytes.
const maxAudit = 1024

func (f *auditFlags) audit() (store.Audit, error) {
	a := store.Audit{Who: strings.TrimSpace(f.who), Why: strings.TrimSpace(f.why)}
	if a.Why == "" {
		return a, exit.Usagef("--why is missing; say why, for the audit log")
	}
	if a.Who == "" {
		a.Who = systemUser()
	}
	for _, text := range []string{a.Who, a.Why} {
		if len(text) > maxAudit || strings.ContainsRune(text, 0) || strings.ToValidUTF8(text, "") != text {
			return a, exit.Usagef("--who or --why is no text of at most %d bytes; shorten it", maxAudit)
		}
	}
	return a, nil
}

// systemUser is user@host, as far as the system knows them.
func systemUser() string {
	name := os.Getenv("USER")
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, _ := os.Hostname() // empty if unknown
	return cmp.Or(name, "unknown") + "@" + cmp.Or(host, "unknown")
}

// Command postbag-release makes a release of every module that users fetch. Without -write it
// is a dry run: it makes everything, and leaves no commit and no tag.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/postbag/postbag/proof/internal/flags"
	"github.com/postbag/postbag/proof/release"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "postbag-release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	f := flag.NewFlagSet("postbag-release", flag.ContinueOnError)
	f.Usage = func() {
		_, _ = fmt.Fprintln(out, "postbag-release [flags] VERSION, such as v0.1.0")
		f.PrintDefaults()
	}
	checkout := f.String("checkout", ".", "the `folder` of the checkout")
	to := f.String("out", "", "an empty `folder` for what is made: a module proxy and the programs")
	write := f.Bool("write", false, "commit the pinned modules beside the branch, and tag them; nothing is pushed")
	if err := flags.ParseFiles(f, args, out); err != nil {
		return err
	}
	if f.NArg() != 1 || *to == "" {
		return errors.New("write -out FOLDER and one version, such as v0.1.0")
	}
	version := f.Arg(0)
	notes, err := release.Changes(ctx, *checkout, version)
	if err != nil {
		return err
	}
	m := &release.Maker{Dir: filepath.Join(*to, "checkout"), Out: filepath.Join(*to, version), Version: version, Log: out}
	done, err := release.Worktree(ctx, *checkout, m.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close(), done()) }()
	if err := notes.Name(m.Dir); err != nil {
		return err
	}
	all, err := m.Modules(ctx)
	if err != nil {
		return err
	}
	if err := m.Programs(ctx, release.Platforms()); err != nil {
		return err
	}
	if !*write {
		_, _ = fmt.Fprintf(out, "a dry run of %s: %d modules and the programs are in %s; -write commits and tags\n", version, len(all), m.Out)
		return nil
	}
	if err := release.Commit(ctx, m.Dir, version, notes, all); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "%s is tagged, %d modules; look at it, then take its changelog onto the branch: git merge --ff-only %s^\nThen push the branch and the tags: git push origin HEAD",
		version, len(all), version)
	for _, one := range all {
		_, _ = fmt.Fprint(out, " ", one.Tag(version))
	}
	_, _ = fmt.Fprintln(out)
	return nil
}

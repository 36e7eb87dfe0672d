package main

import (
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

func TestOperatorsSayHowLongMarksAreKept(t *testing.T) {
	t.Parallel()
	onEachEditor(t, func(t *testing.T, at *place) {
		cli(t, "inbox", "keep", "billing", at.flag, at.where).ends(exit.Usage, "--for", "90m")
		cli(t, "inbox", "keep", "billing", "--for", "1s", at.flag, at.where).ends(exit.Usage, "1m0s or longer")
		cli(t, "inbox", "keep", "a\nb", "--for", "90d", at.flag, at.where).ends(exit.Usage, "control character")
		cli(t, "inbox", "keep", "billing", "--for", "ever", at.flag, at.where).ends(exit.Usage, "--for")
		cli(t, "inbox", "list", at.flag, at.where).ok().says("the marks of all consumers are kept for the default time")
		cli(t, "inbox", "keep", "billing", "--for", "90d", at.flag, at.where).ok().says("the marks of billing are kept for 2160h0m0s")
		cli(t, "inbox", "keep", "billing", "--for", "60d", at.flag, at.where).ok()
		cli(t, "inbox", "list", at.flag, at.where).ok().says("CONSUMER", "KEEP", "billing", "1440h0m0s")
		cli(t, "inbox", "forget", at.flag, at.where).ok().says("looked at 0 marks and removed 0")
	})
}

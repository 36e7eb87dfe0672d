// Command postbag-chaos is the fault harness over the stores and brokers of Postbag. Build it with the tag postbag_failpoints to have
// relays killed at named points too. See docs/reliability.md.
package main

import (
	"os"

	"github.com/postbag/postbag/proof/chaos"
	"github.com/postbag/postbag/proof/chaos/adapters"
)

func main() {
	os.Exit(chaos.Main(os.Args[1:], os.Stdout, os.Stderr, adapters.Stores(), adapters.Brokers()))
}

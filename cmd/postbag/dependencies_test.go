package main

import (
	"os/exec"
	"strings"
	"testing"
)

// What people run beside their databases brings no server along, and nothing that tests alone need: the demo is a program of
// its own.
func TestTheProgramLinksNoServer(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 100 {
		t.Fatalf("it is made of %d packages: the test sees too few", len(packages))
	}
	for _, p := range packages {
		if strings.Contains(p, "nats-server") || strings.Contains(p, "postbag/internal/testserver") || strings.Contains(p, "postbag/proof/") || strings.HasSuffix(p, "/storetest") {
			t.Errorf("it links %s", p)
		}
	}
}

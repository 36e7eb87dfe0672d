package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

func TestConfigCheckSaysWhatAConfigurationDoes(t *testing.T) {
	t.Parallel()
	path := hookConfig(t, &place{yaml: "{dsn: shop.db}"}, "http://127.0.0.1:8080")
	cli(t, "config", "check", "-c", path).ok().says("is right", "outbox/default goes to hook")
	var c checked
	cli(t, "config", "check", "-c", path, "--json").ok().json(&c)
	if len(c.Subscriptions) != 1 || c.Subscriptions[0].To != "hook" {
		t.Errorf("it says %+v", c)
	}
	if _, err := os.Stat("shop.db"); !os.IsNotExist(err) {
		t.Errorf("the check made the store (%v)", err)
	}
}

func TestConfigCheckLooksIntoTheEnvironmentUnlessTold(t *testing.T) {
	t.Parallel()
	text := `
store: {dsn_env: POSTBAG_TEST_NO_SUCH}
destinations:
  hook: {url: "https://example.com/", secrets_env: [POSTBAG_TEST_BAD_SECRET]}
  broker: {url_file: /no/such/file}
  third: {url_env: POSTBAG_TEST_NO_SUCH_URL}
subscriptions: [{to: hook}]
`
	path := write(t, "postbag.yaml", text)
	cli(t, "config", "check", "-c", path).ends(exit.Usage,
		path+":2: store cannot work: the environment variable POSTBAG_TEST_NO_SUCH is not set; export it",
		path+":4: destinations.hook cannot work: webhook: options: secret 1",
		path+":5: destinations.broker cannot work: /no/such/file cannot be read",
		path+":6: destinations.third cannot work: the environment variable POSTBAG_TEST_NO_SUCH_URL")
	cli(t, "config", "check", "-c", path, "--form-only").ok()
}

func TestConfigCheckLooksIntoFilesOfSecrets(t *testing.T) {
	t.Parallel()
	secret := write(t, "secret", os.Getenv(hookSecret)+"\n")
	pem := write(t, "ca.pem", "no certificate")
	path := write(t, "postbag.yaml", fmt.Sprintf(`
store: {dsn: shop.db}
destinations:
  hook: {url: "https://example.com/", secrets_file: [%q], ca_file: %q}
`, secret, pem))
	cli(t, "config", "check", "-c", path).ends(exit.Usage, "ca_file holds no certificate")
}

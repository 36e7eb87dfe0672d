package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// A relay posts webhooks to a source, which stores them. What is not signed is refused, and the log says so once.
func TestASourceOfWebhooksStoresWhatIsSignedAndRefusesTheRest(t *testing.T) {
	t.Parallel()
	out, in := emptyFile(t), emptyFile(t)
	cli(t, "migrate", "up", out.flag, out.where, "--box", "outbox").ok()
	cli(t, "migrate", "up", in.flag, in.where, "--box", "inbox").ok()
	taker := write(t, "taker.yaml", "store: "+in.yaml+"\nsources: [{from: {webhook: {listen: '0', path: /hooks, secrets_env: ["+hookSecret+"]}}}]\nadmin: {listen: '0'}\n")
	cli(t, "config", "check", "-c", taker).ok().says("source inbox (webhook) goes into inbox")
	one := start(t, "consume", "-c", taker)
	await(t, "the source is ready", func() bool { return scrape(t, one, "/readyz") == "ready\n" })
	_, line, _ := strings.Cut(one.err.String(), "takes messages in")
	_, address, _ := strings.Cut(line, "address=")
	address, _, _ = strings.Cut(address, "\n")
	for path, want := range map[string]int{"/hooks": http.StatusBadRequest, "/hooks/": http.StatusNotFound, "/": http.StatusNotFound} {
		for range 2 {
			answer, err := http.Post("http://"+address+path, "application/json", strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("%s without a signature is answered with %d, want %d", path, answer.StatusCode, want)
			}
		}
	}
	http.DefaultClient.CloseIdleConnections()
	if n := strings.Count(one.err.String(), "a request is refused"); n != 1 {
		t.Errorf("the log says %d times that a request is refused", n)
	}
	for i := range 20 {
		cli(t, "publish", out.flag, out.where, "--topic", "orders", "--key", "k", "--payload", fmt.Sprint(i)).ok()
	}
	cli(t, "relay", out.flag, out.where, "--drain", "--to", "http://"+address+"/hooks", "--secret-env", hookSecret, "--allow-private", "127.0.0.0/8").ok()
	text := scrape(t, one, "/metrics")
	for _, want := range []string{`postbag_log_last_seq{box="inbox"} 20`, `postbag_source_stored_total{box="inbox",source="inbox"} 20`} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics have no %s:\n%s", want, text)
		}
	}
	if code := one.end(); code != exit.OK {
		t.Errorf("consume ended with %d", code)
	}
	if again, err := http.Get("http://" + address + "/hooks"); err == nil {
		_ = again.Body.Close()
		t.Error("the address is still served")
	}
}

func TestMistakesInASourceOfWebhooksAreTold(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{
		"secrets_env: [" + hookSecret + "]":                                "sources[0].from.webhook.listen is no address to listen on",
		"listen: '1', path: hooks, secrets_env: [" + hookSecret + "]":      "sources[0].from.webhook.path is no path; begin it with /",
		"listen: '1', cert_file: a.pem, secrets_env: [" + hookSecret + "]": "has only one of cert_file and key_file",
		"listen: '1', memory: 1MiB, secrets_env: [" + hookSecret + "]":     "sources[0].from.webhook.memory is less than max_bytes",
		"listen: '1'": "there is no signing secret; name one with secrets_env or secrets_file",
		"listen: '1', secrets_env: [POSTBAG_TEST_BAD_SECRET]": "sources[0].from.webhook cannot work",
	} {
		file := write(t, "postbag.yaml", "store: {dsn: a.db}\nsources: [{from: {webhook: {"+settings+"}}}]\n")
		cli(t, "config", "check", "-c", file).ends(exit.Usage, want)
	}
}

func TestAnAddressThatSomethingElseInTheFileHasIsAMistake(t *testing.T) {
	t.Parallel()
	source := func(name, listen string) string {
		return "  - {name: " + name + ", from: {webhook: {listen: '" + listen + "', secrets_env: [" + hookSecret + "]}}}\n"
	}
	check := func(one, two, admin string) *outcome {
		return cli(t, "config", "check", "-c", write(t, "postbag.yaml", "store: {dsn: a.db}\nsources:\n"+source("a", one)+source("b", two)+"admin: {listen: '"+admin+"'}\n"))
	}
	check("8080", "0", "0").ok()
	check("8080", "127.0.0.2:8080", "8081").ok()
	check("8080", "8081", "off").ok()
	for _, two := range []string{":8080", "127.0.0.1:8080", "0.0.0.0:8080", "[::]:8080"} {
		check("8080", two, "0").ends(exit.Usage, "sources[1].from.webhook.listen is the address of sources[0].from.webhook.listen, too; give each one of its own")
	}
	check("8080", "0.0.0.0:9090", "9090").ends(exit.Usage, "sources[1].from.webhook.listen is the address of admin.listen, too")
}
